import type { IncomingMessage } from 'node:http';
import { quoted } from '../../host/contract/index.ts';
import { kindOfPath, pathProblem } from '../../host/common/accounts/account-path.ts';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import { parseTimestamp } from '../../host/common/timestamps.ts';

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** Without NUL: no stored text holds one, and some stores fail when they are asked for it. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

/** Query parameters of one request, each checked when it is asked for: first value wins, an empty one is absent. See docs/reference/admin.md#query-parameters. */
export class Query {
  readonly #given: URLSearchParams;

  constructor({ url = '' }: Pick<IncomingMessage, 'url'>) {
    const at = url.indexOf('?');
    this.#given = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  }

  /** As it was sent; empty when it is absent. */
  text(name: string): string {
    return this.#given.get(name) ?? '';
  }

  /** What a column is compared with; `undefined` when it is absent. */
  filter(name: string): string | undefined {
    return storable(this.text(name)) || undefined;
  }

  /** The path of an account. */
  account(): string | undefined {
    const path = this.filter('account');
    if (path === undefined) return undefined;
    const problem = kindOfPath(path) === 'tag' ? 'a path begins with /' : pathProblem(path);
    if (problem !== undefined) throw invalidRequest(`account is ${quoted(path)}: ${problem}`);
    return path;
  }

  /** An integer from 1; a larger one than `max` counts as that. */
  limit(otherwise: number, max: number): number {
    return Math.min(this.integer('limit', 1) ?? otherwise, max);
  }

  offset(): number {
    return Math.min(this.integer('offset', 0) ?? 0, Number.MAX_SAFE_INTEGER);
  }

  /** The version below which a page of versions ends. */
  beforeVersion(): number | undefined {
    const version = this.integer('before', 1);
    return version === undefined ? undefined : Math.min(version, 2 ** 31 - 1); // the column holds no larger one
  }

  /** Parts of a series; 0 is none. */
  buckets(max: number): number {
    return Math.min(this.integer('buckets', 0) ?? 0, max);
  }

  /** Words between commas, each once; one that is not known is refused. */
  words<T extends string>(name: string, known: readonly T[]): readonly T[] {
    const words = new Set(this.list(name, 100) ?? []);
    for (const word of words)
      if (!known.some((one) => one === word))
        throw invalidRequest(`${name} has ${quoted(word)}, which is none of ${known.join(', ')}`);
    return known.filter((one) => words.has(one));
  }

  /** Texts between commas, without blanks around them; `undefined` when it is absent. */
  list(name: string, most: number): readonly string[] | undefined {
    const items = this.filter(name)
      ?.split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    if (items && items.length > most) throw invalidRequest(`${name} has ${items.length} entries, the limit is ${most}`);
    return items;
  }

  oneOf<T extends string>(name: string, words: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    const word = words.find((each) => each === text);
    if (word === undefined) throw invalidRequest(`${name} is ${quoted(text)}; use ${words.join(' or ')}`);
    return word;
  }

  flag(name: string): boolean | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    if (TRUE.has(text)) return true;
    if (FALSE.has(text)) return false;
    throw invalidRequest(`${name} is ${quoted(text)}; use true or false`);
  }

  /** Unix milliseconds. */
  moment(name: string): number | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    const at = parseTimestamp(text);
    if (at === undefined)
      throw invalidRequest(
        `${name} is ${quoted(text)}; use an RFC 3339 timestamp such as 2026-01-31T12:00:00Z, with a plus sign written as %2B`,
      );
    return at;
  }

  /** A number from 0, with or without a fraction; `undefined` when it is absent. */
  amount(name: string): number | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    if (!/^\d{1,15}(?:\.\d{1,15})?$/.test(text))
      throw invalidRequest(`${name} is ${quoted(text)}; use a number of 0 or more, such as 1500 or 0.05`);
    return Number(text);
  }

  /** What follows a beginning of names, with the first value of each; an empty value is absent. */
  named(beginning: string, most: number): readonly (readonly [name: string, value: string])[] {
    const names = new Set(this.#given.keys().filter((name) => name.startsWith(beginning)));
    const found = [...names].map((name) => [name.slice(beginning.length), this.filter(name)] as const);
    const sent = found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    if (sent.some(([name]) => name === '')) throw invalidRequest(`${beginning} lacks a name behind it`);
    if (sent.length > most) throw invalidRequest(`${beginning} stands ${sent.length} times, the limit is ${most}`);
    return sent;
  }

  /** A number of `least` or more, however large; `undefined` when it is absent. */
  integer(name: string, least: number): number | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    if (!/^\d+$/.test(text) || Number(text) < least)
      throw invalidRequest(`${name} is ${quoted(text)}; use an integer of ${least} or more`);
    return Number(text);
  }
}
