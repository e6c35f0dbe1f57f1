import * as Menu from '@radix-ui/react-dropdown-menu';
import { visible } from '@undolog/client/visible-text';
import { reasonOf } from '../parts/failure';
import { signOut, type SignIn } from '../server/sign-in';
import { useTell } from './notices';
import { THEMES, usePreferences, ZONES, type Theme, type Zone } from './preferences';

interface ReaderMenuProps {
  readonly signIn: SignIn;
  readonly signInChanged: () => void;
  readonly showKeys: () => void;
}

const THEME_NAMES: Readonly<Record<Theme, string>> = { system: 'As the system', light: 'Light', dark: 'Dark' };
const ZONE_NAMES: Readonly<Record<Zone, string>> = { local: 'Local time', utc: 'UTC' };

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly names: Readonly<Record<T, string>>;
  readonly choices: readonly T[];
  readonly chosen: T;
  readonly choose: (choice: T) => void;
}

function Choice<T extends string>({ label, names, choices, chosen, choose }: ChoiceProps<T>) {
  return (
    <Menu.RadioGroup value={chosen} onValueChange={(value) => choose(value as T)}>
      <Menu.Label>{label}</Menu.Label>
      {choices.map((choice) => (
        <Menu.RadioItem key={choice} value={choice} onSelect={(event) => event.preventDefault()}>
          <Menu.ItemIndicator className="chosen">✓</Menu.ItemIndicator>
          {names[choice]}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}

/** Who is signed in, how they like to read, and the way out. */
export function ReaderMenu({ signIn, signInChanged, showKeys }: ReaderMenuProps) {
  const { theme, setTheme, zone, setZone } = usePreferences();
  const tell = useTell();
  const leave = (): void =>
    void signOut(signIn).then(signInChanged, (error: Error) =>
      tell('bad', `You are still signed in: ${reasonOf(error)}`),
    );
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="quiet reader">{visible(signIn.name ?? signIn.role)}</Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="end" sideOffset={6}>
          <Menu.Label>
            {signIn.name === null ? 'A key without a name' : visible(signIn.name)}, {signIn.role}
          </Menu.Label>
          <Menu.Separator />
          <Choice label="Times" names={ZONE_NAMES} choices={ZONES} chosen={zone} choose={setZone} />
          <Menu.Separator />
          <Choice label="Colours" names={THEME_NAMES} choices={THEMES} chosen={theme} choose={setTheme} />
          <Menu.Separator />
          <Menu.Item onSelect={showKeys}>Keys (?)</Menu.Item>
          <Menu.Item onSelect={leave}>Sign out</Menu.Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
