import type { ProviderModule } from '../contract/index.ts';
import type { Variables } from '../environment/variables.ts';
import { isSecretName } from '../log/redact.ts';

/** No header may hold one. A credential with one inside was pasted together with something else. */
const CONTROL = /[\x00-\x1f\x7f]/;

/** JSON and PEM have lines, and are read before anything of them is sent. */
const DOCUMENT = /^(?:\{|-----BEGIN )/;

/** A variable as a provider gets it: without blanks around it, and empty for a credential that no request could carry. */
export function valueOf(name: string, variables: Variables): string {
  const value = variables[name]?.trim() ?? '';
  return isBroken(name, value) ? '' : value;
}

const isBroken = (name: string, value: string): boolean =>
  isSecretName(name) && CONTROL.test(value) && !DOCUMENT.test(value);

/** Names of a provider's variables. Only these reach it. */
export const variablesOf = ({ connection: { env, optionalEnv = [] } }: ProviderModule): readonly string[] => [
  ...env.flat(),
  ...optionalEnv,
];

/** Variables of a provider that count as unset because of a control character inside. */
export const brokenVariables = (module: ProviderModule, variables: Variables): readonly string[] =>
  variablesOf(module).filter((name) => isBroken(name, variables[name]?.trim() ?? ''));
