import { refuse, type Reply } from './reply.js';
import type { Route } from './route.js';

export type Found =
  { readonly route: Route; readonly params: Readonly<Record<string, string>> } | { readonly refused: Reply };

interface Pattern {
  readonly route: Route;
  /** Undefined: whatever stands there is the parameter of that name. */
  readonly words: readonly (string | undefined)[];
  readonly names: readonly string[];
}

function patternOf(route: Route): Pattern {
  const segments = route.path.split('/');
  return {
    route,
    words: segments.map((segment) => (segment.startsWith('{') ? undefined : segment)),
    names: segments.map((segment) => segment.slice(1, -1)),
  };
}

function matches({ words }: Pattern, segments: readonly string[]): boolean {
  return words.every((word, at) => (word === undefined ? segments[at] !== '' : word === segments[at]));
}

/** @throws {URIError} for a parameter that is not validly percent-encoded. */
function paramsOf({ words, names }: Pattern, segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, word] of words.entries()) {
    if (word === undefined) params[names[at]!] = decodeURIComponent(segments[at]!);
  }
  return params;
}

/**
 * Finds the route of a path, by its segments: a path that exists with other methods is a 405 that names them.
 *
 * The result throws {URIError} for a parameter that is not validly percent-encoded.
 */
export function routeFinder(routes: readonly Route[]): (method: string, path: string) => Found {
  const byLength = new Map<number, Pattern[]>();
  for (const route of routes) {
    const pattern = patternOf(route);
    byLength.set(pattern.words.length, [...(byLength.get(pattern.words.length) ?? []), pattern]);
  }
  return (method, path) => {
    const segments = path.split('/');
    const onPath = (byLength.get(segments.length) ?? []).filter((pattern) => matches(pattern, segments));
    if (onPath.length === 0) return { refused: refuse('not_found', 'there is no such route') };
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
    const pattern = onPath.find(({ route }) => route.method === wanted);
    if (pattern) return { route: pattern.route, params: paramsOf(pattern, segments) };
    const allow = onPath.map(({ route }) => route.method.toUpperCase()).join(', ');
    return { refused: { ...refuse('method_not_allowed', `this path takes ${allow}`), headers: { allow } } };
  };
}
