import { kindKeys } from '../../common/kinds/kind-keys.ts';
import { baseUrlVariable } from '../../common/kinds/base-url-variable.ts';
import type { GatewayConfig, ProviderConfig } from '../../config/document.ts';
import { isPublicHost } from '../../config/hosts/host-kinds.ts';
import type { Problem } from '../../config/problems.ts';
import { parseHeaderReference } from '../../config/references.ts';
import type { ProviderModule } from '../../contract/index.ts';
import type { Attributes } from '../../contract/services.ts';
import type { ConnectedProvider } from '../../upstream/connect.ts';
import { valueOf, variablesOf } from '../../upstream/credential-values.ts';
import { credentialsOf, secretTexts } from '../../upstream/instances/instance-variables.ts';
import type { GenerationDeps } from '../generation-deps.ts';

/** A finding, and the log line that says it. */
export interface ProviderWarning extends Omit<Problem, 'line'> {
  readonly line: string;
  readonly attributes: Attributes;
}

interface InstanceWarnings {
  readonly warnings: readonly ProviderWarning[];
  /** Providers of the environment that are not asked for their models. */
  readonly unasked: ReadonlySet<string>;
}

/** What `providers` and the environment say together that an operator may not have meant. Nothing here keeps anything from serving. */
export function instanceWarnings(
  { registry, variables }: Pick<GenerationDeps, 'registry' | 'variables'>,
  config: GatewayConfig,
  environment: ReadonlyMap<string, ConnectedProvider>,
): InstanceWarnings {
  const { providers = {} } = config;
  const targets = new Set(config.targets.map(({ virtual_key: name }) => name));
  const referred = variablesIn(config);
  const isSet = (name: string): boolean => valueOf(name, variables) !== '';
  const untargeted = Object.keys(providers).filter((name) => !targets.has(name));
  const unreferred = Object.entries(providers).flatMap(([name, { kind }]) => {
    const module = kind === name ? registry.providers.get(kind) : undefined;
    const unused = module ? ownVariables(module).filter((variable) => isSet(variable) && !referred.has(variable)) : [];
    return unused.length > 0 ? [replaced(name, unused)] : [];
  });
  const inClear = Object.entries(providers).flatMap(([name, block]) =>
    sendsInClear(block) ? [sentInClear(name, block.base_url)] : [],
  );
  const inProviders = variablesIn(providers);
  const unasked = [...environment].flatMap(([name, { module }]) => {
    const secrets = [...kindKeys(module).secrets.values()].filter(isSet);
    const isMeantElsewhere = secrets.length > 0 && secrets.every((secret) => inProviders.has(secret));
    return isMeantElsewhere && !targets.has(name) ? [[name, secrets] as const] : [];
  });
  return {
    warnings: [
      ...untargeted.map(withoutTarget),
      ...unreferred,
      ...inClear,
      ...unasked.map(([name, secrets]) => meantElsewhere(name, secrets)),
    ],
    unasked: new Set(unasked.map(([name]) => name)),
  };
}

/** What is answered of a finding. */
export const problemOf = ({ path, rule, message, fix }: ProviderWarning): Problem => ({ path, rule, message, fix });

/** Names of the variables that a document refers to. */
function variablesIn(document: object): ReadonlySet<string> {
  return new Set([...JSON.stringify(document).matchAll(/\$\{([A-Za-z_]\w*)\}/g)].map(([, name = '']) => name));
}

const ownVariables = (module: ProviderModule): readonly string[] => [
  ...new Set([...variablesOf(module), baseUrlVariable(module)]),
];

function withoutTarget(name: string): ProviderWarning {
  return {
    path: `providers.${name}`,
    rule: 'WN19',
    message: `no target names the provider "${name}", so it serves nothing`,
    fix: `list it in targets: { virtual_key: ${name} }`,
    line: 'a provider has no target',
    attributes: { provider: name },
  };
}

/** Whether a credential leaves over plain http for a host beyond the own networks. A proxy on the way changes nothing of that. */
function sendsInClear(block: ProviderConfig): boolean {
  const url = URL.parse(block.base_url ?? '');
  const hasSecret = credentialsOf(block).some((credential) => Object.keys(secretTexts(credential)).length > 0);
  const hasHeader = Object.values(block.headers ?? {}).some((text) => parseHeaderReference(text) !== undefined);
  return url?.protocol === 'http:' && isPublicHost(url.hostname) && (hasSecret || hasHeader);
}

function sentInClear(name: string, address = ''): ProviderWarning {
  return {
    path: `providers.${name}.base_url`,
    rule: 'WN24',
    message: `the provider "${name}" sends its credential over plain http to ${address}`,
    fix: 'write an https address',
    line: 'a credential is sent over plain http',
    attributes: { provider: name, base_url: address },
  };
}

function replaced(name: string, variables: readonly string[]): ProviderWarning {
  return {
    path: `providers.${name}`,
    rule: 'WN23',
    message: `the provider "${name}" of the configuration takes the place of the environment's, and these variables are not read: ${variables.join(', ')}`,
    fix: 'unset what is not needed, or refer to it: ${NAME}',
    line: 'variables of a provider are not read: the configuration has one of its name',
    attributes: { provider: name, variables: variables.join(', ') },
  };
}

function meantElsewhere(name: string, secrets: readonly string[]): ProviderWarning {
  return {
    path: 'providers',
    rule: 'WN27',
    message: `the provider "${name}" of the environment is not asked for its models: the configuration uses its key, ${secrets.join(', ')}, for another`,
    fix: 'give the variables other names, or list the provider in targets',
    line: 'a provider is not asked for its models: the configuration uses its key for another',
    attributes: { provider: name, variables: secrets.join(', ') },
  };
}

/** Nothing else names a model of it, so it has none until it answers. */
export function unansweredWarning(name: string): ProviderWarning {
  return {
    path: `providers.${name}`,
    rule: 'WN20',
    message: `the provider "${name}" did not list its models, and nothing else names one`,
    fix: 'look after its address, or write its models',
    line: 'a provider did not list its models, and nothing else names one',
    attributes: { provider: name },
  };
}

export function logWarning(
  { services: { log } }: Pick<GenerationDeps, 'services'>,
  { rule, line, attributes }: ProviderWarning,
): void {
  log.warn(line, { rule, ...attributes });
}
