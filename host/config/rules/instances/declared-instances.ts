import { isSecretKey } from '../../../common/kinds/secret-keys.ts';
import type { CredentialConfig, GatewayConfig, ProviderConfig } from '../../document.ts';

/** An entry of `providers`, and where it stands. */
export interface Declared {
  readonly name: string;
  readonly block: ProviderConfig;
  readonly path: string;
}

export const declaredIn = ({ providers = {} }: GatewayConfig): readonly Declared[] =>
  Object.entries(providers).map(([name, block]) => ({ name, block, path: `providers.${name}` }));

/** What a credential stands in: an entry of `credentials`, or the instance itself. */
export interface Holder {
  readonly block: ProviderConfig | CredentialConfig;
  readonly path: string;
}

export const credentialsIn = ({ block, path }: Declared): readonly (Holder & { readonly block: CredentialConfig })[] =>
  (block.credentials ?? []).map((credential, index) => ({ block: credential, path: `${path}.credentials[${index}]` }));

/** What holds secrets of an instance: its credentials, or itself. */
export const holdersIn = (declared: Declared): readonly Holder[] =>
  declared.block.credentials === undefined ? [declared] : credentialsIn(declared);

/** A text in the place of a secret. */
export interface SecretText {
  readonly key: string;
  readonly text: string;
  readonly path: string;
}

export const secretsIn = ({ block, path }: Holder): readonly SecretText[] =>
  Object.entries(block).flatMap(([key, text]) =>
    isSecretKey(key) && typeof text === 'string' ? [{ key, text, path: `${path}.${key}` }] : [],
  );

/** Every secret of an instance but those in headers, also where it is misplaced. */
export const allSecrets = (declared: Declared): readonly SecretText[] => {
  const password = declared.block.proxy?.password;
  return [
    ...[declared, ...credentialsIn(declared)].flatMap(secretsIn),
    ...(password === undefined ? [] : [{ key: 'password', text: password, path: `${declared.path}.proxy.password` }]),
  ];
};
