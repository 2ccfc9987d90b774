import { errorMessage } from '../common/error-message.ts';
import {
  isFields,
  type KeyShape,
  type PluginModule,
  type ProviderModule,
  type StrategyModule,
} from '../contract/index.ts';
import type { Problem } from '../config/problems.ts';

export type GatewayModule = ProviderModule | StrategyModule | PluginModule;
export type ModuleKind = GatewayModule['kind'];

/** What credentials of these modules look like. */
export const keyShapesOf = (modules: readonly GatewayModule[]): readonly KeyShape[] =>
  modules.flatMap((module) => (module.kind === 'provider' ? (module.connection.keyShapes ?? []) : []));

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
  /** The file it was imported from. */
  readonly file?: string;
  /** Where its problems are reported, when that is not its file: the item of `modules` that names it. */
  readonly place?: Pick<Problem, 'path' | 'line'>;
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
  /** The file of a third-party module. */
  fileOf(kind: ModuleKind, name: string): string | undefined;
  /** Items of `modules` that were loaded, as they are written. */
  readonly listed: ReadonlySet<string>;
  /** Remembers that an item of `modules` was loaded. */
  list(item: string): void;
  /** Remembers a module that is there and was refused; of a package that cannot be imported, without kind and name. */
  refuse(refused: { readonly kind?: ModuleKind; readonly name?: string }): void;
  /** Whether a module of this name may be one that was refused. */
  isRefused(kind: ModuleKind, name: string): boolean;
  /** Checks and takes a module; what is wrong with it comes back, and a module with a problem is not taken. */
  add(candidate: Candidate): readonly Problem[];
  /** From here on nothing can be added. */
  seal(): void;
}

/** The modules this process knows, by kind and name. Shipped ones come first and cannot be shadowed. */
export function createRegistry(hooks: RegistryHooks): Registry {
  const byKind = {
    provider: new Map<string, ProviderModule>(),
    strategy: new Map<string, StrategyModule>(),
    plugin: new Map<string, PluginModule>(),
  };
  const origins = new Map<string, Origin>();
  const files = new Map<string, string>();
  const listed = new Set<string>();
  const refused = new Set<string>();
  let isSealed = false;

  const refuse: Registry['refuse'] = ({ kind, name }) => {
    refused.add(name === undefined ? ANY : `${kind} ${name}`);
  };

  const add = (candidate: Candidate): readonly Problem[] => {
    if (isSealed) throw new Error(`the registry is sealed: ${candidate.origin} comes too late`);
    const problems = checkCandidate(hooks, candidate);
    const collisions = collisionsOf(candidate, origins);
    if (problems.length > 0) {
      for (const name of [candidate.expectedName, ownName(candidate.value)])
        if (name !== undefined) refuse({ kind: candidate.kind, name });
      return [...problems, ...collisions];
    }
    if (collisions.length > 0) return collisions;
    const module = candidate.value as GatewayModule;
    const key = `${module.kind} ${module.name}`;
    origins.set(key, candidate.origin);
    if (candidate.file !== undefined) files.set(key, candidate.file);
    (byKind[module.kind] as Map<string, GatewayModule>).set(module.name, module);
    hooks.registered.call({ module, origin: candidate.origin });
    return [];
  };

  return {
    providers: byKind.provider,
    strategies: byKind.strategy,
    plugins: byKind.plugin,
    originOf: (kind, name) => origins.get(`${kind} ${name}`),
    fileOf: (kind, name) => files.get(`${kind} ${name}`),
    listed,
    list: (item) => {
      listed.add(item);
    },
    refuse,
    isRefused: (kind, name) => refused.has(ANY) || refused.has(`${kind} ${name}`),
    add,
    seal: () => {
      isSealed = true;
    },
  };
}

/** Stands for every module of a package that could not be imported. */
const ANY = '*';

function checkCandidate(hooks: RegistryHooks, candidate: Candidate): Problem[] {
  const { value, kind, expectedName, origin } = candidate;
  const problems: Problem[] = [];
  const report: ModuleCheck['report'] = (rule, message, fix) =>
    problems.push({ ...placeOf(candidate), rule, message: `${titleOf(candidate)}${message}`, fix });
  try {
    if (isFields(value) && isKind(value['kind'])) hooks.checkModule.call({ value, kind, expectedName, origin, report });
    else report('MV01', `it has no default export of a ${kind}`, `export default ${helperOf(kind)}({ … })`);
  } catch (error) {
    const { rule, message, fix } = unreadable(error);
    report(rule, message, fix);
  }
  return problems;
}

/** The helper of the contract that makes a module of this kind. */
export const helperOf = (kind: ModuleKind): string => `define${kind[0]?.toUpperCase()}${kind.slice(1)}`;

/** What is wrong with a module whose members throw when they are read. */
export function unreadable(error: unknown): { readonly rule: string; readonly message: string; readonly fix: string } {
  return {
    rule: 'MV04',
    message: `it cannot be looked at: ${errorMessage(error)}`,
    fix: 'export plain data: no getters that throw, no proxies',
  };
}

export const isKind = (value: unknown): boolean => value === 'provider' || value === 'strategy' || value === 'plugin';

const placeOf = ({ origin, place }: Candidate): Pick<Problem, 'path' | 'line'> => place ?? { path: origin };

/** A package may hold several modules, and all their problems are reported at one place. */
function titleOf({ value, kind, origin, place }: Candidate): string {
  if (!place) return '';
  const name = ownName(value);
  return name === undefined ? `${origin}: ` : `${origin}: the ${kind} "${name}": `;
}

function ownName(value: unknown): string | undefined {
  try {
    const name = isFields(value) ? value['name'] : undefined;
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}

/** That its name is taken; nothing of a name that it must change anyway. */
function collisionsOf(candidate: Candidate, origins: ReadonlyMap<string, Origin>): readonly Problem[] {
  const { kind, value, expectedName, place, origin } = candidate;
  const name = ownName(value);
  const taken = origins.get(`${kind} ${name}`);
  if (taken === undefined || (expectedName !== undefined && expectedName !== name)) return [];
  const message = `${place ? `${origin}: ` : ''}the ${kind} "${name}" already exists, from ${taken}`;
  return [
    {
      ...placeOf(candidate),
      rule: 'MV09',
      message,
      fix: taken === SHIPPED ? 'rename it; shipped modules cannot be replaced' : 'remove or rename one of the two',
    },
  ];
}
