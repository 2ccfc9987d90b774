import type { Router } from 'express';
import { createRouter, routesOf } from '../../../host/http/router.ts';
import type { Host } from '../../../host/host.ts';
import type { Dice } from '../../kit/index.ts';

/** Paths of a gateway's own routes below `/v1` and `/v1beta`, with a model where they have a parameter. */
export function routedPaths(host: Host): readonly string[] {
  const router: Router = createRouter({ caseSensitive: true, strict: true });
  host.hooks.mount.call(router, host);
  return routesOf(router)
    .map(({ path }) => path.replace(/\*\w+/, 'm').replaceAll('\\', ''))
    .filter((path) => path.startsWith('/v1'));
}

const hex = (code: number): string => `%${code.toString(16).padStart(2, '0')}`;
const escapeOf = (char: string): string => Array.from(Buffer.from(char, 'utf8'), hex).join('');
/** A place of the path behind the version that matches, if any does. */
function placeOf(path: string, pattern: RegExp, dice: Dice): number | undefined {
  const places = Array.from(path.matchAll(pattern), ({ index }) => index).filter((index) => index > 2);
  return places.length > 0 ? dice.pick(places) : undefined;
}
const replaced = (path: string, at: number | undefined, text: (char: string) => string): string =>
  at === undefined ? path : path.slice(0, at) + text(path[at] ?? '') + path.slice(at + 1);
const atLetter = (path: string, dice: Dice, text: (char: string) => string): string =>
  replaced(path, placeOf(path, /[a-z]/gi, dice), text);
const atSlash = (path: string, dice: Dice, text: (char: string) => string): string =>
  replaced(path, placeOf(path, /\//g, dice), text);

/** Ways to write a path so that some server reads it as the same one. */
export const WAYS: Readonly<Record<string, (path: string, dice: Dice) => string>> = {
  escape: (path, dice) => atLetter(path, dice, escapeOf),
  'escape in capitals': (path, dice) => atLetter(path, dice, (char) => escapeOf(char).toUpperCase()),
  'escape all': (path) => `/v1${path.slice(3).replace(/[a-z]/gi, escapeOf)}`,
  'escape a percent sign': (path, dice) => replaced(path, placeOf(path, /%(?=[\da-f]{2})/gi, dice), () => '%25'),
  'escape twice': (path, dice) => atLetter(path, dice, (char) => escapeOf(char).replaceAll('%', '%25')),
  'escape many times': (path, dice) =>
    atLetter(path, dice, (char) => escapeOf(char).replaceAll('%', `%${'25'.repeat(1 + dice.below(9))}`)),
  'encode a slash': (path, dice) => atSlash(path, dice, () => dice.pick(['%2f', '%2F', '%252F'])),
  'encode a backslash': (path, dice) => atSlash(path, dice, () => dice.pick(['%5c', '%5C', '%255c'])),
  backslash: (path, dice) => atSlash(path, dice, () => '\\'),
  slashes: (path, dice) => atSlash(path, dice, () => '/'.repeat(2 + dice.below(3))),
  'slashes in front': (path, dice) => '/'.repeat(1 + dice.below(3)) + path,
  'slash at the end': (path, dice) => path + dice.pick(['/', '//', '%2F', '%5C', '%252f']),
  'case of a letter': (path, dice) => atLetter(path, dice, (char) => char.toUpperCase()),
  'case of all': (path) =>
    `/v1${path.slice(3).replace(/(%[\da-f]{2})|([a-z])/gi, (_all, code: string | undefined, char: string) => code ?? char.toUpperCase())}`,
  parameters: (path, dice) => atSlash(path, dice, () => dice.pick([';x=1/', ';/', '%3Bv=2/', ';a,b/'])),
  'parameters at the end': (path, dice) => path + dice.pick([';v=2', ';', '%3bx', ';x=%2F']),
  'the version again': (path, dice) => `${dice.pick(['/v1', '/V1', '/v1/v1'])}${path}`.replace(/^\/V/, '/v'),
  'a dot': (path, dice) => atSlash(path, dice, () => dice.pick(['/./', '/%2e/', '/%252e/'])),
  'two dots': (path, dice) => atSlash(path, dice, () => dice.pick(['/x/../', '/x/%2e%2e/', '/x/.%2e/', '/x%2f..%2f'])),
  'a blank at the end': (path, dice) => path + dice.pick(['%20', '%09', '%c2%a0', '+', '%2520']),
  'a query that is encoded': (path, dice) => path + dice.pick(['%3Fx', '%3fx=1/y', '%23x', '%253Fx']),
  'a dot at the end': (path) => `${path}.`,
  'too many bytes': (path, dice) =>
    atLetter(
      path,
      dice,
      (char) =>
        `%${(0xc0 | (char.charCodeAt(0) >> 6)).toString(16)}%${(0x80 | (char.charCodeAt(0) & 0x3f)).toString(16)}`,
    ),
  'the form of Microsoft': (path, dice) =>
    atLetter(path, dice, (char) => `%u00${char.charCodeAt(0).toString(16).padStart(2, '0')}`),
  'a wide letter': (path, dice) =>
    atLetter(path, dice, (char) => escapeOf(String.fromCharCode(char.charCodeAt(0) + 0xfee0))),
  'what has no width': (path, dice) =>
    atLetter(path, dice, (char) => char + dice.pick(['%e2%80%8b', '%c2%ad', '%ef%bb%bf', '%ff'])),
};

export interface Spelling {
  readonly target: string;
  readonly route: string;
  readonly ways: readonly string[];
}

/** These routes, written in one other way or in several. Each is its route to a server that decodes, folds and cuts as it goes. */
export function spellingsOf(routes: readonly string[], count: number, dice: Dice): readonly Spelling[] {
  const names = Object.keys(WAYS);
  return Array.from({ length: count }, (_each, at) => {
    const route = routes[at % routes.length] ?? '';
    const ways = [
      names[Math.floor(at / routes.length) % names.length] ?? '',
      ...Array.from({ length: dice.below(3) }, () => dice.pick(names)),
    ];
    return { route, ways, target: ways.reduce((path, way) => WAYS[way]?.(path, dice) ?? path, route) };
  });
}
