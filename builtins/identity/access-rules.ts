import { pathProblem } from '../../host/common/accounts/account-path.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import type { IdentityConfig } from '../../host/config/identity/identity-place.ts';
import { hasStar, patternsOf } from '../../host/config/rules/identity-access-rules.ts';
import type { Scope } from '../../host/contract/index.ts';
import { claimOf, type Claims, isMailChecked, MAIL, textsOf } from './claims.ts';

export type AccessConfig = NonNullable<IdentityConfig['issuers']>[number]['access'];

/** What a rule gives. */
export interface Grant {
  /** Its place in the list, from 1 on. */
  readonly rule: number;
  /** None: models alone. */
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits | undefined;
}

interface AccessRule {
  readonly when: readonly (readonly [claim: string, patterns: readonly string[]])[];
  readonly grant: Grant;
}

/** What stands in an account for the text behind the beginning that a star matched. */
const STAR_TEXT = '$1';

/** The rules of one issuer. The first that matches counts, whatever others would give: a second group never widens what the first one gave. */
export class AccessRules {
  /** Claims that rules look at. */
  readonly claims: readonly string[];
  readonly #rules: readonly AccessRule[];

  constructor(access: AccessConfig = []) {
    this.#rules = access.map(({ when = {}, scopes = [], account, limits = {} }, at) => {
      const all: KeyLimits = { ...limits, ...(account !== undefined && { account }) };
      return {
        when: Object.entries(when).map(([claim, value]) => [claim, patternsOf(value) ?? []] as const),
        grant: {
          rule: at + 1,
          scopes: Object.freeze([...scopes]) as readonly Scope[],
          limits: Object.keys(all).length > 0 ? Object.freeze(all) : undefined,
        },
      };
    });
    this.claims = [...new Set(this.#rules.flatMap(({ when }) => when.map(([claim]) => claim)))];
  }

  /** `undefined`: no access. */
  grantOf(claims: Claims): Grant | undefined {
    for (const rule of this.#rules) {
      const grant = granted(rule, claims);
      if (grant) return grant;
    }
    return undefined;
  }
}

function granted({ when, grant }: AccessRule, claims: Claims): Grant | undefined {
  let stood: string | undefined;
  for (const [claim, patterns] of when) {
    if (claim === MAIL && !isMailChecked(claims)) return undefined;
    const found = matchIn(textsOf(claimOf(claims, claim)), patterns);
    if (!found) return undefined;
    stood = found.behindStar ?? stood;
  }
  return withAccount(grant, stood);
}

interface Match {
  /** What the star of the pattern stood for. */
  readonly behindStar: string | undefined;
}

/** The first text that some pattern matches. */
function matchIn(texts: readonly string[], patterns: readonly string[]): Match | undefined {
  for (const text of texts) {
    for (const pattern of patterns) {
      if (text === pattern && !hasStar(pattern)) return { behindStar: undefined };
      const begin = pattern.slice(0, -1);
      if (hasStar(pattern) && text.startsWith(begin)) return { behindStar: text.slice(begin.length) };
    }
  }
  return undefined;
}

/** What stands behind a star becomes a part of a path, or the rule does not match: an issuer's texts choose no other account. */
function withAccount(grant: Grant, stood: string | undefined): Grant | undefined {
  const { limits } = grant;
  if (!limits?.account?.includes(STAR_TEXT)) return grant;
  if (stood === undefined || stood.includes('/')) return undefined;
  const account = limits.account.replaceAll(STAR_TEXT, () => stood);
  return pathProblem(account) === undefined ? { ...grant, limits: { ...limits, account } } : undefined;
}
