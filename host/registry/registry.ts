import { isFields, type PluginModule, type ProviderModule, type StrategyModule } from '../contract/index.ts';
import type { Problem } from '../config/problems.ts';

export type GatewayModule = ProviderModule | StrategyModule | PluginModule;
export type ModuleKind = GatewayModule['kind'];

/** Where a module came from: `shipped`, or the file or package that holds it. */
export type Origin = string;
export const SHIPPED: Origin = 'shipped';

export interface RegisteredModule {
  readonly module: GatewayModule;
  readonly origin: Origin;
}

/** A module in front of the `checkModule` rules; `value` may be anything a file exported. */
export interface ModuleCheck {
  readonly value: Readonly<Record<string, unknown>>;
  readonly kind: ModuleKind;
  /** The file or folder name, which the module's own name must equal. */
  readonly expectedName: string | undefined;
  readonly origin: Origin;
  readonly report: (rule: string, message: string, fix: string) => void;
}

export interface Candidate {
  readonly value: unknown;
  readonly kind: ModuleKind;
  readonly expectedName?: string;
  readonly origin: Origin;
}

/** The host's hooks that modules pass on their way in. */
export interface RegistryHooks {
  readonly registered: { call(module: RegisteredModule): void };
  readonly checkModule: { call(check: ModuleCheck): void };
}

export interface Registry {
  readonly providers: ReadonlyMap<string, ProviderModule>;
  readonly strategies: ReadonlyMap<string, StrategyModule>;
  readonly plugins: ReadonlyMap<string, PluginModule>;
  originOf(kind: ModuleKind, name: string): Origin | undefined;
  /** Checks and takes a module; what is wrong with it comes back, and a module with a problem is not taken. */
  add(candidate: Candidate): readonly Problem[];
  /** From here on nothing can be added. */
  seal(): void;
}

/** The modules this process knows, by kind and name. Shipped ones come first and cannot be shadowed. */
export function createRegistry(hooks: RegistryHooks): Registry {
  const byKind = { provider: new Map<string, ProviderModule>(), strategy: new Map<string, StrategyModule>(), plugin: new Map<string, PluginModule>() };
  const origins = new Map<string, Origin>();
  let isSealed = false;

  const add = (candidate: Candidate): readonly Problem[] => {
    if (isSealed) throw new Error(`the registry is sealed: ${candidate.origin} comes too late`);
    const problems = checkCandidate(hooks, candidate);
    if (problems.length > 0) return problems;
    const module = candidate.value as GatewayModule;
    const key = `${module.kind} ${module.name}`;
    const taken = origins.get(key);
    if (taken !== undefined) return [collision(module, candidate.origin, taken)];
    origins.set(key, candidate.origin);
    (byKind[module.kind] as Map<string, GatewayModule>).set(module.name, module);
    hooks.registered.call({ module, origin: candidate.origin });
    return [];
  };

  return {
    providers: byKind.provider,
    strategies: byKind.strategy,
    plugins: byKind.plugin,
    originOf: (kind, name) => origins.get(`${kind} ${name}`),
    add,
    seal: () => { isSealed = true; },
  };
}

function checkCandidate(hooks: RegistryHooks, { value, kind, expectedName, origin }: Candidate): Problem[] {
  const problems: Problem[] = [];
  const report: ModuleCheck['report'] = (rule, message, fix) => problems.push({ path: origin, rule, message, fix });
  if (!isFields(value)) {
    report('MV01', `it has no default export of a ${kind}`, `export default define${kind[0]?.toUpperCase()}${kind.slice(1)}({ … })`);
    return problems;
  }
  hooks.checkModule.call({ value, kind, expectedName, origin, report });
  return problems;
}

function collision(module: GatewayModule, origin: Origin, taken: Origin): Problem {
  const message = `the ${module.kind} "${module.name}" already exists, from ${taken}`;
  return { path: origin, rule: 'MV09', message, fix: taken === SHIPPED ? 'rename it; shipped modules cannot be replaced' : 'remove or rename one of the two' };
}
