import type { ProviderModule } from '../../../host/contract/index.ts';
import { memberOf, setMember } from '../../../host/contract/json/members.ts';

export interface Found {
  readonly provider: string;
  /** The model as that provider calls it. */
  readonly upstream: string;
}

/** How a format names the providers of this gateway. */
export interface Naming {
  /** Names of the format that are others here. */
  readonly names: Readonly<Record<string, string>>;
  /** Beginnings of models that stand there without a provider, the longest first. */
  readonly families: readonly (readonly [beginning: string, provider: string])[];
  readonly knows: (provider: string) => boolean;
}

/** What the modules say of a format. Where two claim one name, the first has it: shipped ones come first. */
export function namingOf(format: string, modules: ReadonlyMap<string, ProviderModule>): Naming {
  const names: Record<string, string> = {};
  const families: [string, string][] = [];
  for (const { name, elsewhere } of modules.values()) {
    const there = elsewhere && memberOf(elsewhere, format);
    for (const other of there?.names ?? []) if (memberOf(names, other) === undefined) setMember(names, other, name);
    for (const beginning of there?.models ?? []) families.push([beginning, name]);
  }
  return {
    names,
    families: families.toSorted(([a], [b]) => b.length - a.length),
    knows: (provider) => modules.has(provider),
  };
}

/** The provider's name here, where there is such a one. */
export function nameHere(name: string, { names, knows }: Pick<Naming, 'names' | 'knows'>): string | undefined {
  const lower = name.toLowerCase();
  return [memberOf(names, lower), lower, lower.replaceAll('_', '-')].find((one) => one !== undefined && knows(one));
}

/** Reads `provider/model`, where the model may hold further slashes, or a model alone. Of a provider that is stated beside it, the prefix does not count. */
export function providerOf(model: string | undefined, stated: string | undefined, naming: Naming): Found | undefined {
  if (model === undefined) return undefined;
  const [prefix = '', ...rest] = model.split('/');
  const named = nameHere(prefix, naming);
  if (stated !== undefined) {
    const provider = nameHere(stated, naming);
    return provider === undefined
      ? undefined
      : { provider, upstream: named === provider && rest.length > 0 ? rest.join('/') : model };
  }
  if (rest.length > 0) return named === undefined ? undefined : { provider: named, upstream: rest.join('/') };
  const provider = naming.families.find(([beginning]) => model.startsWith(beginning))?.[1];
  return provider === undefined ? undefined : { provider, upstream: model };
}
