import { MODULES } from '../../builtins/manifest.ts';
import { createRedactor, type Redactor } from '../../host/log/redact.ts';
import { keyShapesOf } from '../../host/registry/registry.ts';

/** A redactor that knows the keys of every shipped provider, as that of a gateway does. */
export function shippedRedactor(variables: Readonly<Record<string, string | undefined>>): Redactor {
  const redactor = createRedactor(variables);
  redactor.learn(keyShapesOf(MODULES));
  return redactor;
}
