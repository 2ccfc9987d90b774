import type { ModuleRef } from '../boundary/module-fault.ts';
import { type ClosingServices, disposeModule } from '../boundary/dispose.ts';
import { createTrace, type RequestTrace, withOwnLog } from '../boundary/module-log.ts';
import type { Authorize, Credentials, HttpSend, Log, ProviderModule } from '../contract/index.ts';
import { baseUrlVariable } from '../common/kinds/base-url-variable.ts';
import { ownVariables } from '../common/kinds/kind-keys.ts';
import type { Variables } from '../environment/variables.ts';
import { resolveRoot } from './base-url.ts';
import type { Egress } from './egress/egress.ts';
import { valueOf, variablesOf } from './credential-values.ts';

/** A provider whose credentials were found: everything a call needs, resolved once at start. */
export interface ConnectedProvider {
  readonly module: ProviderModule;
  readonly ref: ModuleRef;
  /** Present where what the provider opened writes log lines: `authorize` runs under it. */
  readonly trace: RequestTrace | undefined;
  readonly credentials: Credentials;
  /** API root without a trailing slash, userinfo removed. */
  readonly root: string;
  /** `Basic …` from the userinfo of the configured root; sent when the provider sets no authorization of its own. */
  readonly basicAuthorization: string | undefined;
  readonly authorize: Authorize;
  /** How its calls leave; `undefined` for a provider that the environment registers. */
  readonly egress: Egress | undefined;
  readonly configuredModels: readonly string[];
  dispose(): Promise<void>;
}

/** Whether the environment holds what registers a provider. Empty counts as absent. */
export function hasCredentials({ connection }: ProviderModule, variables: Variables): boolean {
  return connection.onlyDeclared !== true && connection.env.every((need) => isMet(need, variables));
}

const isMet = (need: string | readonly string[], variables: Variables): boolean =>
  (typeof need === 'string' ? [need] : need).some((name) => valueOf(name, variables) !== '');

/** Variables that would have to be set, for messages. */
export function missingVariables({ connection }: ProviderModule, variables: Variables): string[] {
  return connection.env
    .filter((need) => !isMet(need, variables))
    .map((need) => (typeof need === 'string' ? need : need.join(' or ')));
}

const noAuthorization: Authorize = () => ({});

/** What connecting may use. Without `send` no token can be fetched. */
export interface ConnectDeps {
  readonly log: Log;
  readonly now: () => number;
  readonly send?: HttpSend;
  /** True for a provider that will not be called: it opens nothing, and so fetches no token. */
  readonly isOffline?: boolean;
  /** What runs of third-party modules; one of its own unless given. */
  readonly trace?: RequestTrace;
  /** An instance of the configuration: what its kind has without a variable counts too. Without a key, no header carries one. */
  readonly declared?: { readonly isKeyless: boolean; readonly hasSecrets: boolean };
  /** The file that a third-party provider was imported from. */
  readonly file?: string | undefined;
  /** How the calls of a declared instance leave. `send` must use it too. */
  readonly egress?: Egress | undefined;
}

const noSend: HttpSend = () => Promise.reject(new Error('there is no network here'));

/** Resolves what calls need, once. Throws when the variables make no sense: a bad address, half a credential. */
export async function connectProvider(
  module: ProviderModule,
  variables: Variables,
  deps: ConnectDeps,
): Promise<ConnectedProvider> {
  const { connection } = module;
  const credentials = readCredentials(module, variables, deps.declared !== undefined);
  const defaultRoot = typeof connection.baseUrl === 'string' ? connection.baseUrl : connection.baseUrl(credentials);
  const { root, basicAuthorization } = resolveRoot(
    variables[baseUrlVariable(module)],
    defaultRoot,
    connection.root ?? connection.rootStyle ?? 'api-root',
  );
  const ref: ModuleRef = { kind: 'provider', name: module.name, file: deps.file };
  const { trace = createTrace() } = deps;
  const mayLookFurther = deps.declared?.hasSecrets !== true;
  const given = { log: deps.log, now: deps.now, send: deps.send ?? noSend, root, mayLookFurther };
  const own = withOwnLog(given, ref, trace);
  const opened = deps.isOffline
    ? undefined
    : await trace.run({ module: ref, exchangeId: undefined }, () => connection.open?.(credentials, own));
  const authorize = opened?.authorize ?? connection.authorize ?? noAuthorization;
  return {
    module,
    ref,
    trace: opened && deps.file !== undefined ? trace : undefined,
    credentials,
    root,
    basicAuthorization,
    authorize: deps.declared?.isKeyless ? withoutKey(authorize) : authorize,
    egress: deps.egress,
    configuredModels:
      connection.models?.(credentials, (message) => deps.log.warn(message, { rule: 'WN07', provider: module.name })) ??
      [],
    dispose: async () => {
      await opened?.dispose?.();
    },
  };
}

/** Closes what a provider opened, within the time that there is. One that fails is logged, and keeps nothing else from being closed. */
export async function disposeProvider(provider: ConnectedProvider, services: ClosingServices): Promise<void> {
  await disposeModule(provider.ref, () => provider.dispose(), services);
}

/** Headers that carry a credential, in the kinds there are. */
const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']);

type Headers = Readonly<Record<string, string>>;

/** What `authorize` adds beside the credential: there is none, and an empty one would be refused. */
function withoutKey(authorize: Authorize): Authorize {
  const others = (headers: Headers): Headers =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !KEY_HEADERS.has(name.toLowerCase())));
  return (request, credentials) => {
    const made = authorize(request, credentials);
    return made instanceof Promise ? made.then(others) : others(made);
  };
}

function readCredentials(module: ProviderModule, variables: Variables, isDeclared: boolean): Credentials {
  const names = [...variablesOf(module), ...(isDeclared ? ownVariables(module) : [])];
  const all = names.map((name) => [name, valueOf(name, variables)] as const);
  return Object.fromEntries(all.filter(([, value]) => value !== ''));
}
