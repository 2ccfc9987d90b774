import { kindKeys } from '../../common/kinds/kind-keys.ts';
import { settingVariables } from '../../common/kinds/setting-values.ts';
import { isSecretKey } from '../../common/kinds/secret-keys.ts';
import { baseUrlVariable } from '../../common/kinds/base-url-variable.ts';
import type { CredentialConfig, ProviderConfig } from '../../config/document.ts';
import type { ProviderModule } from '../../contract/index.ts';
import type { Variables } from '../../environment/variables.ts';

/** What one credential of an instance connects with. */
export interface InstanceParts {
  readonly block: ProviderConfig;
  readonly credential: CredentialConfig;
  /** What its references stand for, by the key of the secret. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Secrets that stand in an instance, or in a credential, by key: references, once the rules have passed. */
export function secretTexts(block: ProviderConfig | CredentialConfig): Readonly<Record<string, string>> {
  const entries = Object.entries(block).filter(
    (entry): entry is [string, string] => isSecretKey(entry[0]) && typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}

/** The credentials of an instance: those it lists, or the one named `default` of its own secrets, without any too. */
export function credentialsOf(block: ProviderConfig): readonly CredentialConfig[] {
  return block.credentials ?? [{ name: 'default', ...secretTexts(block) }];
}

/** Whether calls with a credential carry none, although those of its kind do: its service is another than the vendor's. */
export function isKeyless(module: ProviderModule, credential: CredentialConfig): boolean {
  const hasSecrets = Object.keys(secretTexts(credential)).length > 0;
  return !hasSecrets && kindKeys(module).sets.every(({ needs }) => needs.length > 0);
}

/**
 * The variables that an instance is connected with: its settings, its address and one credential under the names that
 * the kind reads. Nothing comes from the environment. What has no variable stands under its own key in lower case.
 */
export function instanceVariables(
  module: ProviderModule,
  { block, credential, secrets: values }: InstanceParts,
): Variables {
  const { settings, secrets } = kindKeys(module);
  const { organization, project } = credential;
  const own: Readonly<Record<string, unknown>> = {
    ...block.settings,
    ...(organization !== undefined && { organization }),
    ...(project !== undefined && { project }),
  };
  const known = [...secrets].flatMap(([key, variable]) =>
    Object.hasOwn(values, key) ? [[variable, values[key]] as const] : [],
  );
  const address = block.base_url === undefined ? [] : [[baseUrlVariable(module), block.base_url] as const];
  return { ...settingVariables(settings, own), ...Object.fromEntries([...address, ...known]) };
}
