/** One step of a JSON pointer (RFC 6901), slash and escapes included. */
export function pointerStep(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
