import type { GatewayConfig } from '../../config/document.ts';
import { credentialsOf } from '../../upstream/instances/instance-variables.ts';
import type { GenerationDeps } from '../generation-deps.ts';
import type { ProviderWarning } from './instance-warnings.ts';

type Deps = Pick<GenerationDeps, 'registry'>;

/** What of groups and instances leaves responses where they are not looked for, or reasoning where it cannot be read. */
export function responsesWarnings(deps: Deps, config: GatewayConfig): readonly ProviderWarning[] {
  const { providers, models = [], targets, strategy, responses_target: stored } = config;
  const forwarding = new Set(
    targets.map(({ virtual_key: name }) => name).filter((name) => forwardsResponses(name, deps, config)),
  );
  const ofGroups = models.flatMap(({ name, routes, strategy: { affinity } }, index) => {
    const used = routes.map(({ target }) => target).filter((target) => forwarding.has(target));
    const [first] = used;
    const isElsewhere = stored !== undefined && first !== undefined && first !== stored;
    return [
      ...(isElsewhere ? [storedElsewhere(index, name, { first, stored })] : []),
      ...(affinity !== 'session' && hasSeveralAccounts(used, config)
        ? [unreadableReasoning(`models[${index}]`, `the group "${name}"`)]
        : []),
    ];
  });
  // Outside groups, a request goes to the first target that owns its model, and there to any of its accounts.
  const spread =
    providers && strategy.affinity !== 'session'
      ? [...forwarding].filter((name) => hasSeveralAccounts([name], config))
      : [];
  return [...ofGroups, ...spread.map((name) => unreadableReasoning('strategy', `the target "${name}"`))];
}

/** Whether requests of the Responses API go on to a target as they are. */
function forwardsResponses(
  name: string,
  { registry }: Deps,
  { providers = {}, targets, responses }: GatewayConfig,
): boolean {
  const kind = Object.hasOwn(providers, name) ? providers[name]?.kind : name;
  const able = registry.providers.get(kind ?? name)?.responses;
  const mode = targets.find(({ virtual_key: each }) => each === name)?.responses;
  if (able !== true && able !== 'native') return false;
  if (mode !== undefined) return mode !== 'translate';
  return able === 'native' || responses.translate !== 'auto';
}

/** Whether some targets have several vendor accounts between them. The environment's provider is an account of its own. */
function hasSeveralAccounts(names: readonly string[], { providers = {} }: GatewayConfig): boolean {
  const accounts = new Set(
    names.flatMap((name) => {
      const block = Object.hasOwn(providers, name) ? providers[name] : undefined;
      if (!block) return [`environment ${name}`];
      return credentialsOf(block).map((credential) => {
        const label = 'vendor_account' in credential ? credential.vendor_account : undefined;
        return label === undefined ? `own ${name}/${credential.name}` : `${block.kind} ${label}`;
      });
    }),
  );
  return accounts.size > 1;
}

function storedElsewhere(
  index: number,
  name: string,
  { first, stored }: { readonly first: string; readonly stored: string },
): ProviderWarning {
  return {
    path: `models[${index}].routes`,
    rule: 'WN25',
    message: `responses of the group "${name}" are stored at ${first}, and looked for at responses_target, ${stored}`,
    fix: 'put a route to responses_target first',
    line: 'responses of a group are stored at another target than responses_target',
    attributes: { group: name, target: first, responses_target: stored },
  };
}

function unreadableReasoning(place: string, what: string): ProviderWarning {
  return {
    path: place === 'strategy' ? 'strategy.affinity' : `${place}.strategy.affinity`,
    rule: 'WN26',
    message: `${what} has several vendor accounts, and the encrypted reasoning of a response is read by the one that made it only`,
    fix: 'set affinity: session, or give credentials of one organisation the same vendor_account',
    line: 'encrypted reasoning may come to a vendor account that cannot read it',
    attributes: { path: place },
  };
}
