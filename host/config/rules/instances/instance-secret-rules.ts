import { isOwnSecret } from '../../own-secrets.ts';
import { parseHeaderReference, parseReference, type SecretReference } from '../../references.ts';
import { secretPathFault } from '../../secrets/secret-paths.ts';
import type { GatewayConfig } from '../../document.ts';
import type { ConfigRule } from '../rule.ts';
import { allSecrets, declaredIn } from './declared-instances.ts';

export const REFERENCE_FIX = 'write ${NAME} or ${file:/run/secrets/name}, and nothing around it';

interface PlacedReference {
  readonly path: string;
  readonly reference: SecretReference;
}

/** Every reference of `providers`, headers included. */
function referencesIn(config: GatewayConfig): readonly PlacedReference[] {
  return declaredIn(config).flatMap((declared) => {
    const secrets = allSecrets(declared).map(({ path, text }) => ({ path, reference: parseReference(text) }));
    const headers = Object.entries(declared.block.headers ?? {}).map(([name, value]) => ({
      path: `${declared.path}.headers.${name}`,
      reference: parseHeaderReference(value)?.reference,
    }));
    return [...secrets, ...headers].flatMap(({ path, reference }) => (reference ? [{ path, reference }] : []));
  });
}

export const instanceSecretRules: readonly ConfigRule[] = [
  {
    id: 'CV47',
    check: (config, { report }) => {
      for (const { path, text } of declaredIn(config).flatMap(allSecrets))
        if (!parseReference(text))
          report(path, 'a credential must be a reference: ${NAME} or ${file:/run/secrets/name}', REFERENCE_FIX);
    },
  },
  {
    id: 'CV48',
    check: (config, { secretDirectories, report }) => {
      for (const { path, reference } of referencesIn(config)) {
        if (reference.kind !== 'file') continue;
        const fault = secretPathFault(reference.path, secretDirectories);
        if (fault !== undefined)
          report(path, `the file "${reference.path}" ${fault}`, 'name a file below one of those directories');
      }
    },
  },
  {
    id: 'CV49',
    check: (config, { ownSecretFiles, report }) => {
      for (const { path, reference } of referencesIn(config)) {
        const isOwn =
          reference.kind === 'variable' ? isOwnSecret(reference.name) : ownSecretFiles.includes(reference.path);
        if (!isOwn) continue;
        const named = reference.kind === 'variable' ? reference.name : `the file "${reference.path}"`;
        report(path, `${named} holds a secret of the gateway itself`, 'use a variable or a file of its own');
      }
    },
  },
];
