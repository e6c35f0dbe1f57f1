import type { Command } from 'commander';
import type { Work } from '../context.js';
import { CommandFailed, EXIT } from '../exit-codes.js';

type Run = (work: Work) => Promise<void>;

/** `path` → what may follow it. */
function wordsOf(command: Command, path = '', found: [string, string[]][] = []): [string, string[]][] {
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  found.push([path, [...command.commands.map((sub) => sub.name()), ...options]]);
  for (const sub of command.commands) wordsOf(sub, `${path} ${sub.name()}`.trim(), found);
  return found;
}

function bash(program: Command): string {
  const cases = wordsOf(program).map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`);
  return `_undolog() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _undolog undolog
`;
}

export function addCompletion(program: Command, run: Run): void {
  program
    .command('completion <shell>')
    .description('words for bash or zsh: source <(undolog completion bash)')
    .action((shell: string) =>
      run(async ({ output }) => {
        await Promise.resolve();
        if (shell !== 'bash' && shell !== 'zsh') throw new CommandFailed('bash or zsh', EXIT.usage);
        const head = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
        for (const line of `${head}${bash(program)}`.trimEnd().split('\n')) output.line(line);
      }),
    );
}
