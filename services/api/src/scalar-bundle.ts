/**
 * Scalar's script for the browser. Of its packages with few dependencies only the Fastify plugin carries the script, so
 * the plugin is registered with a stand-in for Fastify that remembers its routes, and the one with the script is asked.
 */

interface PluginReply {
  header(name: string, value: string): PluginReply;
  send(text: string): string;
}

interface PluginRoute {
  readonly url: string;
  handler(request: object, reply: PluginReply): string;
}

let bundle: Promise<string> | undefined;

/** Four megabytes of text, loaded when the first reader comes. */
export function readScalarBundle(): Promise<string> {
  return (bundle ??= load());
}

async function load(): Promise<string> {
  const { default: plugin } = (await import('@scalar/fastify-api-reference')) as { default: unknown };
  const routes: PluginRoute[] = [];
  const fastify = { route: (route: PluginRoute) => void routes.push(route), log: { warn: () => undefined } };
  const register = plugin as (fastify: object, options: object, next: () => void) => void;
  register(fastify, { routePrefix: '/docs', configuration: { url: '/openapi.json' } }, () => undefined);
  const script = routes.find((route) => route.url.endsWith('.js'));
  if (!script) throw new Error('the documentation package no longer carries its script');
  const reply: PluginReply = { header: () => reply, send: (text) => text };
  return script.handler({}, reply);
}
