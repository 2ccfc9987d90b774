import type { GatewayError } from '../contract/index.ts';
import { allowsName } from '../common/accounts/name-rules.ts';
import type { KeyLimits } from '../common/host-principal.ts';
import type { Redactor } from '../log/redact.ts';
import type { NamedModel } from './named-models.ts';
import { modelNotFound } from './shown.ts';

type Aliases = Readonly<Record<string, string>>;

/** Whether a key, or an account or a tag that binds it, has a list of models. */
export const listsModels = ({ models, levels }: KeyLimits): boolean =>
  models !== undefined || levels?.some((level) => level.models !== undefined) === true;

/** Whether a key, or an account or a tag that binds it, has a list of targets. */
export const listsProviders = ({ providers, levels }: KeyLimits): boolean =>
  providers !== undefined || levels?.some((level) => level.providers !== undefined) === true;

/** Whether a key may ask for a model, by its name after aliases or by an alias of it. Without a list it may ask for any. */
export function mayAsk({ models, levels }: KeyLimits, model: string, aliases: Aliases = {}): boolean {
  if (levels?.every((level) => level.models === undefined || allowsName(level.models, model)) === false) return false;
  return (
    models === undefined ||
    models.includes(model) ||
    models.some((name) => Object.hasOwn(aliases, name) && aliases[name] === model)
  );
}

/**
 * What is named that the key may not ask for, as if no target served it; `undefined` where there is nothing. These names leave as they are, so
 * that one is not on the list because it is an alias of one that is: a vendor may have a model of that name.
 */
export function notListed(
  limits: KeyLimits,
  named: readonly NamedModel[],
  aliases: Aliases,
  redactor: Redactor,
): GatewayError | undefined {
  const outside = named.find((meanings) => !meanings.some((model) => mayAsk(limits, model, aliases)));
  return outside && modelNotFound(outside[0] ?? '', redactor);
}

/** Whether a target may serve a key. Without a list any may. */
export function mayServe({ providers, levels }: KeyLimits, virtualKey: string): boolean {
  if (levels?.every((level) => level.providers === undefined || allowsName(level.providers, virtualKey)) === false)
    return false;
  return providers === undefined || providers.includes(virtualKey);
}

/** Whose list leaves a target out for a model, as explanations say it. */
export function whyLeftOut(limits: KeyLimits, model: string, virtualKey: string, aliases: Aliases = {}): string {
  const { levels, ...own } = limits;
  if (!mayAsk(own, model, aliases) || !mayServe(own, virtualKey)) return 'not allowed to the key';
  const level = levels?.find((each) => !mayAsk({ levels: [each] }, model) || !mayServe({ levels: [each] }, virtualKey));
  return `not allowed to the ${level?.kind ?? 'key'}`;
}
