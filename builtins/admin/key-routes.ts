import type { Host } from '../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import type { MadeKey } from '../../host/stores/keys/key-record.ts';
import { mostBytes, targetId } from './asked.ts';
import type { Auditor } from './auditor.ts';
import { KeyActions, known } from './key-actions.ts';
import { keyObject } from './key-object.ts';
import { reading } from './store-calls.ts';

const KEYS = '/admin/keys';
const KEY = `${KEYS}/:id`;

/** Keys: made, listed, changed and ended. See docs/admin.md#keys. */
export function keyRoutes(host: Host, auditor: Auditor): readonly JsonRoute[] {
  const {
    log,
    stores: { keys },
  } = host;
  const actions = new KeyActions(host, auditor);
  const read = { method: 'GET', scope: 'read_only' } as const;
  const write = { scope: 'admin', maxBytes: mostBytes(host) } as const;
  const one = async (call: JsonCall): Promise<JsonAnswer> => {
    const id = targetId(call);
    return { status: 200, body: keyObject(await known(id, reading(keys.get(id), log))) };
  };
  return [
    {
      ...read,
      path: KEYS,
      answer: async () => ({ status: 200, body: (await reading(keys.list(), log)).map((record) => keyObject(record)) }),
    },
    { ...read, path: KEY, answer: one },
    {
      ...write,
      method: 'POST',
      path: KEYS,
      answer: async (call) => ({ status: 201, body: made(await actions.create(call)) }),
    },
    {
      ...write,
      method: 'PUT',
      path: KEY,
      answer: async (call) => ({ status: 200, body: keyObject(await actions.update(call)) }),
    },
    {
      method: 'DELETE',
      path: KEY,
      scope: 'admin',
      answer: async (call) => {
        await actions.delete(call);
        return { status: 204 };
      },
    },
    {
      method: 'POST',
      path: `${KEY}/revoke`,
      scope: 'admin',
      answer: async (call) => {
        await actions.revoke(call);
        return { status: 200, body: { status: 'revoked' } };
      },
    },
    {
      ...write,
      method: 'POST',
      path: `${KEY}/rotate`,
      answer: async (call) => ({ status: 200, body: made(await actions.rotate(call)) }),
    },
  ];
}

/** The only answers that hold the whole key. */
function made({ key, record }: MadeKey): object {
  return keyObject(record, key);
}
