import type { KeyLimits } from '../contract/index.ts';

/** Whether a key may ask for a model, by its name after aliases or by an alias of it. Without a list it may ask for any. */
export function mayAsk({ models }: KeyLimits, model: string, aliases: Readonly<Record<string, string>> = {}): boolean {
  return models === undefined || models.includes(model) || models.some((name) => Object.hasOwn(aliases, name) && aliases[name] === model);
}

/** Whether a target may serve a key. Without a list any may. */
export function mayServe({ providers }: KeyLimits, virtualKey: string): boolean {
  return providers === undefined || providers.includes(virtualKey);
}
