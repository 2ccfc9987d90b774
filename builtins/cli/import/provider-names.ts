import { memberOf } from '../../../host/contract/json/members.ts';

export interface Found {
  readonly provider: string;
  /** The model as that provider calls it. */
  readonly upstream: string;
}

interface Naming {
  /** Stated beside the model, which then has no prefix that counts. */
  readonly stated?: string | undefined;
  /** Names of the format that are others here. */
  readonly names: Readonly<Record<string, string>>;
  /** Whose models go by their name alone. */
  readonly bare: string;
  readonly knows: (provider: string) => boolean;
}

/** Makers whose models are recognised without a prefix. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^claude/, 'anthropic'],
  [/^gemini/, 'gemini'],
  [/^mistral|^codestral/, 'mistral'],
  [/^command/, 'cohere'],
  [/^deepseek/, 'deepseek'],
  [/^grok/, 'xai'],
];

/** The provider's name here, where there is such a one. */
export function nameHere(name: string, { names, knows }: Pick<Naming, 'names' | 'knows'>): string | undefined {
  const lower = name.toLowerCase();
  return [memberOf(names, lower), lower, lower.replaceAll('_', '-')].find((one) => one !== undefined && knows(one));
}

/** Reads `provider/model`, where the model may hold further slashes, or a model alone. */
export function providerOf(model: string | undefined, naming: Naming): Found | undefined {
  if (model === undefined) return undefined;
  const [prefix = '', ...rest] = model.split('/');
  const named = nameHere(prefix, naming);
  if (naming.stated !== undefined) {
    const provider = nameHere(naming.stated, naming);
    return provider === undefined
      ? undefined
      : { provider, upstream: named === provider && rest.length > 0 ? rest.join('/') : model };
  }
  if (rest.length > 0) return named === undefined ? undefined : { provider: named, upstream: rest.join('/') };
  const provider = FAMILIES.find(([family]) => family.test(model))?.[1] ?? naming.bare;
  return naming.knows(provider) ? { provider, upstream: model } : undefined;
}
