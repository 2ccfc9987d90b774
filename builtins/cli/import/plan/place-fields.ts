import { baseUrlVariable } from '../../../../host/common/kinds/base-url-variable.ts';
import { kindKeys } from '../../../../host/common/kinds/kind-keys.ts';
import { memberOf } from '../../../../host/contract/json/members.ts';
import type { ProviderModule } from '../../../../host/contract/index.ts';
import type { Entry } from '../reading.ts';
import type { Placed } from './planned.ts';

export interface PlaceFields {
  readonly address: Placed | undefined;
  readonly settings: ReadonlyMap<string, Placed>;
  readonly secrets: ReadonlyMap<string, Placed>;
}

interface Where {
  readonly module: ProviderModule;
  readonly format: string;
  /** Finds a setting of the document by the names it may have; the first that is there. */
  readonly at: (names: readonly string[]) => Entry;
}

/** What a module says that a format has of its settings, by the keys of `providers`. Anything else of the document is another reader's. */
export function placeFields({ module, format, at }: Where): PlaceFields {
  const keys = kindKeys(module);
  const settingKeys = new Map([...keys.settings].map(([key, { variable }]) => [variable, key]));
  const secretKeys = new Map([...keys.secrets].map(([key, variable]) => [variable, key]));
  const settings = new Map<string, Placed>();
  const secrets = new Map<string, Placed>();
  let address: Placed | undefined;
  for (const { variable, from, as } of (module.elsewhere && memberOf(module.elsewhere, format)?.settings) ?? []) {
    const entry = at(from);
    if (!entry.isThere || entry.value === '') continue;
    const placed: Placed = { entry, as };
    const [setting, secret] = [settingKeys.get(variable), secretKeys.get(variable)];
    if (variable === baseUrlVariable(module)) address ??= placed;
    else if (setting !== undefined) settings.set(setting, settings.get(setting) ?? placed);
    else if (secret !== undefined) secrets.set(secret, secrets.get(secret) ?? placed);
  }
  return { address, settings, secrets };
}

/** The key under which the usual single secret of a kind stands. */
export const mainSecretOf = (module: ProviderModule): string | undefined => {
  const { secrets } = kindKeys(module);
  return secrets.has('api_key') ? 'api_key' : undefined;
};

/** The variable of the environment that stands for a key of `settings` or for a secret. */
export const variableOf = (module: ProviderModule, key: string): string | undefined => {
  const { settings, secrets } = kindKeys(module);
  return secrets.get(key) ?? settings.get(key)?.variable;
};
