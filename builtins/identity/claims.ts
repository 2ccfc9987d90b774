import { isFields, memberOf } from '../../host/contract/index.ts';

/** What a token says, by the names of its claims. */
export type Claims = Readonly<Record<string, unknown>>;

const DEEPEST = 8;
/** Elements of a list that a rule looks at; groups of one person are a few hundred. */
const MOST_ELEMENTS = 2000;

/** A claim by its whole name, then by its dots: `realm_access.roles`. Own members alone. */
export function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  const parts = name.split('.');
  if (parts.length < 2 || parts.length > DEEPEST) return undefined;
  return parts.reduce<unknown>(
    (found, part) => (isFields(found) && Object.hasOwn(found, part) ? memberOf(found, part) : undefined),
    claims,
  );
}

/** What of a claim may match, as texts: a text, a whole number or a boolean, or texts and whole numbers of a list. */
export function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((each) => typeof each !== 'boolean').flatMap(textOf);
  return textOf(value);
}

function textOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Number.isSafeInteger(value) || typeof value === 'boolean' ? [String(value)] : [];
}

/** Whether a claim is so long that nothing is looked for in it. */
export const isTooLong = (value: unknown): boolean => Array.isArray(value) && value.length > MOST_ELEMENTS;

/** The claim whose word counts only where the issuer has checked it. */
export const MAIL = 'email';
const IS_CHECKED = 'email_verified';

export const isMailChecked = (claims: Claims): boolean => {
  const checked = Object.hasOwn(claims, IS_CHECKED) ? claims[IS_CHECKED] : undefined;
  return checked === true || checked === 'true';
};

/** Those that rules name, and what these need: all that is kept of a token. */
export function claimsNamed(claims: Claims, names: readonly string[]): Claims {
  return Object.fromEntries(
    [...new Set([...names, ...(names.includes(MAIL) ? [IS_CHECKED] : [])])].flatMap((name) => {
      const value = claimOf(claims, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
