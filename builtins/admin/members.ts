import { isRawNumber, quoted } from '../../host/contract/index.ts';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';

/** Members of a JSON body by their types. `null` is as good as absent; a wrong type is 400 and names the member. */
export class Members {
  readonly #body: JsonObject;

  constructor(body: JsonObject) {
    this.#body = body;
  }

  text(name: string): string | undefined {
    const value = this.#given(name);
    return value === undefined ? undefined : storable(value, name);
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.#given(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw wrongType(name, 'a list of texts', value);
    return value.map((item: unknown) => storable(item, `an entry of ${name}`));
  }

  flag(name: string): boolean {
    const value = this.#given(name);
    if (value === undefined) return false;
    if (typeof value !== 'boolean') throw wrongType(name, 'true or false', value);
    return value;
  }

  integer(name: string, least: number, most: number): number | undefined {
    const value = this.#given(name);
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value);
    throw wrongType(name, `an integer from ${least} to ${most}`, value);
  }

  /** From 0. */
  amount(name: string): number | undefined {
    const value = this.#given(name);
    if (value === undefined) return undefined;
    const number = isRawNumber(value) ? Number(JSON.stringify(value)) : value; // integers beyond 2^53 are kept as they were written
    if (typeof number === 'number' && number >= 0 && Number.isFinite(number)) return number;
    throw wrongType(name, 'a number from 0', value);
  }

  /** By a reader of its own, which throws. */
  read<T>(name: string, reader: (value: unknown) => T): T | undefined {
    const value = this.#given(name);
    return value === undefined ? undefined : reader(value);
  }

  /** Whether the body mentions it, be it to take it away. */
  has(name: string): boolean {
    return Object.hasOwn(this.#body, name);
  }

  #given(name: string): unknown {
    return this.has(name) ? (this.#body[name] ?? undefined) : undefined;
  }
}

/** What every store can keep: a NUL or half a surrogate pair is refused by some and changed by others. */
function storable(value: unknown, name: string): string {
  if (typeof value !== 'string') throw wrongType(name, 'a text', value);
  if (value.includes('\0') || !value.isWellFormed())
    throw invalidRequest(`${name} holds a character that cannot be stored: NUL, or half a surrogate pair`);
  return value;
}

function wrongType(name: string, wanted: string, value: unknown): Error {
  return invalidRequest(`${name} must be ${wanted}, not ${quoted(value)}`);
}
