import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parse } from 'node:url';
import { createRouter } from '../../../host/http/router.ts';
import { rawClient, startNginx } from '../../kit/index.ts';

/** Whether a server comes to a route by each of these targets. None of them was written here. */
export type Decoder = (
  targets: readonly string[],
  routes: readonly string[],
) => Promise<readonly boolean[]> | readonly boolean[];

const SCRIPT = fileURLToPath(new URL('read.py', import.meta.url));

const plain = (path: string): string =>
  path
    .toLowerCase()
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '');

function isRoute(path: string, routes: readonly string[]): boolean {
  const asked = plain(path);
  return routes.some((route) => plain(route) === asked);
}

function decodedBy(decode: (text: string) => string, text: string): readonly string[] {
  try {
    return [text, decode(text), decode(decode(text))];
  } catch {
    return [text];
  }
}

/** Node's two parsers of addresses, and its decoder. */
export const node: Decoder = (targets, routes) =>
  targets.map((target) => {
    const paths = [
      new URL(target.replace(/^\/+/, '/'), 'http://h').pathname,
      parse(`http://h${target}`).pathname ?? '',
      target,
    ];
    return paths.flatMap((path) => decodedBy(decodeURIComponent, path)).some((path) => isRoute(path, routes));
  });

/** Express with its own defaults, with and without something in front that has decoded the path. */
export const express: Decoder = (targets, routes) => {
  let isFound = false;
  const router = createRouter({});
  for (const route of routes)
    router.all(route.replaceAll(':', '\\:').replace(/\bm(?=$|\\:)/, ':model'), () => {
      isFound = true;
    });
  return targets.map((target) => {
    isFound = false;
    for (const url of decodedBy(decodeURI, target)) router({ method: 'POST', url } as never, {} as never, () => {});
    return isFound;
  });
};

/** What Python's library makes of addresses. */
export const python =
  (program: string): Decoder =>
  (targets, routes) => {
    const read = JSON.parse(
      execFileSync(program, [SCRIPT], { input: JSON.stringify(targets), encoding: 'utf8', maxBuffer: 1 << 28 }),
    ) as readonly (readonly string[])[];
    return read.map((paths) => paths.some((path) => isRoute(path, routes)));
  };

/** nginx with its own defaults. */
export const nginx =
  (program: string): Decoder =>
  async (targets, routes) => {
    const locations = routes
      .map((route) => `location ~* "^${route.replace(/[.*]/g, '\\$&')}/?$" { return 200 route; }`)
      .join('\n');
    const url = await startNginx(program, ['127.0.0.1:9'], `${locations}\nlocation / { return 404; }`);
    const found: boolean[] = [];
    for (const target of targets) {
      const client = await rawClient(url);
      client.send(`GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
      found.push((await client.closed()).startsWith('HTTP/1.1 200 '));
    }
    return found;
  };
