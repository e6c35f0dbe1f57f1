/**
 * Node's arguments for a TypeScript file of the bench, run like this very process. A flag with its value goes along, but
 * for what would make a child write into the profile of its parent.
 */
export function nodeArgsFor(file: string): string[] {
  return [...process.execArgv.filter((arg) => !arg.startsWith('--cpu-prof')), file];
}
