import { canonicalJson } from '../../../host/config/canonical.ts';
import { type Fields, isFields, setMember } from '../../../host/contract/index.ts';
import { holdsMarker } from './patch-body.ts';

/** How everything begins that stands for a withheld value while a patch is applied. No document holds it: JSON texts of clients are searched for it. */
const TOKEN = '\u0000withheld ';
/** Exactly one reference, which is shown. */
const REFERENCE = /^\$\{[^{}]+\}$/;

/** What is withheld of a document, each literal by a token: equal ones by the same. So a patch is applied without a secret in its hands, and what of them is left afterwards is known. */
export class WithheldValues {
  readonly #tokens = new Map<string, string>();
  readonly #literals = new Map<string, unknown>();

  /** `plain` with a token in the place of each literal that `shown` withholds. */
  tokenized(plain: unknown, shown: unknown): unknown {
    if (shown === undefined) return this.#all(plain); // below a map whose names are withheld
    if (Array.isArray(plain) && Array.isArray(shown)) return plain.map((each, at) => this.tokenized(each, shown[at]));
    if (isFields(plain) && isFields(shown)) {
      const hasNames = Object.keys(plain).every((name) => Object.hasOwn(shown, name));
      return mapped(plain, (member, name) =>
        hasNames || Object.hasOwn(shown, name) ? this.tokenized(member, shown[name]) : this.#all(member),
      );
    }
    return canonicalJson(plain) === canonicalJson(shown) ? plain : this.#all(plain);
  }

  /** With what the tokens stand for. */
  restored(value: unknown): unknown {
    if (isToken(value)) return this.#literals.get(value);
    if (Array.isArray(value)) return value.map((each) => this.restored(each));
    return isFields(value) ? mapped(value, (member) => this.restored(member)) : value;
  }

  #all(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#all(each));
    if (isFields(value)) return mapped(value, (member) => this.#all(member));
    if (value === null || (typeof value === 'string' && (value === '' || REFERENCE.test(value)))) return value;
    const key = canonicalJson(value);
    const token = this.#tokens.get(key) ?? `${TOKEN}${this.#tokens.size}`;
    this.#tokens.set(key, token);
    this.#literals.set(token, value);
    return token;
  }
}

export const isToken = (value: unknown): value is string => typeof value === 'string' && value.startsWith(TOKEN);

/** All tokens in a value. */
export function tokensIn(value: unknown): readonly string[] {
  if (isToken(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(tokensIn);
  return isFields(value) ? Object.values(value).flatMap(tokensIn) : [];
}

/** Whether something of a value is withheld where it stands: a token, or a map whose names are. */
export const isWithheld = (plain: unknown, shown: unknown): boolean => tokensIn(plain).length > 0 || holdsMarker(shown);

function mapped(fields: Fields, change: (member: unknown, name: string) => unknown): Fields {
  const copy: Fields = {};
  for (const [name, member] of Object.entries(fields)) setMember(copy, name, change(member, name));
  return copy;
}
