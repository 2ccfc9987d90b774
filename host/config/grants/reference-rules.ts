import { canonicalJson } from '../canonical.ts';
import type { GatewayConfig } from '../document.ts';
import { isOwnSecret, refersToOwnSecret } from '../own-secrets.ts';
import { pathText, type Problem } from '../problems.ts';
import type { FoundReference } from '../references.ts';
import type { Allowances } from './allowances.ts';
import { isOrigin } from './destinations.ts';
import type { KnownGrants } from './known-grants.ts';
import { type PlaceModules, type ReferencePlace, referencePlaces } from './reference-places.ts';

const placeText = ({ path: [kind = ''], whole }: ReferencePlace): string => `${kind} ${canonicalJson(whole)}`;

/** What an admin write is held against. */
export interface ReferenceFacts {
  readonly running: GatewayConfig | undefined;
  readonly modules: PlaceModules;
  /** Where references may be sent; `undefined`: what was accepted once is written again, and only the gateway's own secrets are looked for. */
  readonly grants: KnownGrants | undefined;
  readonly allowances: Allowances;
}

/**
 * References that an admin write may not send where it would: secrets of the gateway itself anywhere (BV30), every other one where nothing sends it already
 * (BV31). A place that runs already exactly as it is may be sent once more. See docs/decisions/0111-own-secrets-stay.md and 0096-references-go-where-they-went.md.
 */
export function refusedReferences(config: GatewayConfig, facts: ReferenceFacts): readonly Problem[] {
  const { running, modules } = facts;
  let known: ReadonlySet<string> | undefined; // seldom asked
  const isRunning = (each: ReferencePlace): boolean =>
    (known ??= new Set(running ? referencePlaces(running, modules).map(placeText) : [])).has(placeText(each));
  return referencePlaces(config, modules).flatMap((each) =>
    each.references.length === 0 || isRunning(each) ? [] : problemsOf(each, facts),
  );
}

function problemsOf(each: ReferencePlace, { grants, allowances }: ReferenceFacts): readonly Problem[] {
  const isProvider = each.path[0] === 'providers';
  let destinations: readonly string[] | undefined;
  return each.references.flatMap((reference): Problem[] => {
    const { name } = reference;
    if (isProvider && isOwnSecret(name)) return []; // CV49 says so
    if (refersToOwnSecret(name)) return [ownSecret(reference)];
    if (!grants) return [];
    destinations ??= each.destinations();
    if (allowances.allow(name, destinations) || grants.hold(name, each.kind, destinations)) return [];
    return [elsewhere(reference, destinations, grants.destinationsOf(name, each.kind))];
  });
}

/** Where a configuration of a file refers to secrets of the gateway itself: it may, and is warned of. */
export function ownSecretsIn(config: GatewayConfig, modules: PlaceModules): readonly string[] {
  return referencePlaces(config, modules).flatMap(({ references }) =>
    references.filter(({ name }) => refersToOwnSecret(name)).map(({ path }) => pathText(path)),
  );
}

const ownSecret = ({ path, name }: FoundReference): Problem => ({
  path: pathText(path),
  rule: 'BV30',
  message: `\${${name}} is a secret of the gateway itself, and no configuration that the admin API writes may use it`,
  fix: 'use a variable of its own, or write it into the configuration file',
});

/** What is said does not depend on whether the variable is set. */
function elsewhere({ path, name }: FoundReference, destinations: readonly string[], known: readonly string[]): Problem {
  const fix = `write it into the configuration file, or list ${name} in GW_CONFIG_ENV`;
  if (known.length === 0)
    return {
      path: pathText(path),
      rule: 'BV31',
      message: `\${${name}} is not a variable that a configuration written by the admin API may use`,
      fix,
    };
  const there = new Set(known);
  const to = destinations.find((destination) => !there.has(destination) && isOrigin(destination)) ?? 'another place';
  const kept = known.find(isOrigin);
  return {
    path: pathText(path),
    rule: 'BV31',
    message: `\${${name}} may not be sent to ${shownOrigin(to)} by a configuration that the admin API writes`,
    fix: kept === undefined ? fix : `keep it at ${shownOrigin(kept)}, ${fix}`,
  };
}

/** Without the port that its scheme has anyway. */
const shownOrigin = (origin: string): string => (URL.canParse(origin) ? new URL(origin).origin : origin);
