import { commonTranslators } from 'gw/common-wire';
import type { ProviderModule } from 'gw/contract';
import { type BuiltinModule, defineBuiltin } from '../../host/builtin.ts';
import { digestOf, PrincipalTable } from '../../host/stores/principals.ts';

/** Credentials `key-<id>` of principals with these ids, beside the master key. */
export function withKeys(...ids: readonly string[]): BuiltinModule {
  const table = new PrincipalTable();
  for (const id of ids) table.set(digestOf(`key-${id}`), { id, name: id, scopes: [] });
  return defineBuiltin({
    name: 'test-keys',
    apply: ({ hooks }) => hooks.open.tapPromise('test-keys', async ({ stores }) => stores.principals.supply(table)),
  });
}

/** A provider of the common wire that serves embeddings beside chat. */
export const WITH_EMBEDDINGS: Partial<ProviderModule> = { translators: commonTranslators(['chat', 'embeddings'], {}) };
