import type { Host } from '../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import type { KeyRecord, MadeKey } from '../../host/stores/keys/key-record.ts';
import { mostBytes, targetId } from './asked.ts';
import type { Auditor } from './auditor.ts';
import { KeyActions, known } from './key-actions.ts';
import { listKeys } from './lists/key-list.ts';
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
    return shown(await known(id, reading(keys.get(id), log)));
  };
  return [
    { ...read, path: KEYS, answer: (call) => listKeys(host, call) },
    { ...read, path: KEY, answer: one },
    { ...write, method: 'POST', path: KEYS, answer: async (call) => made(201, await actions.create(call)) },
    { ...write, method: 'PUT', path: KEY, answer: async (call) => shown(await actions.update(call)) },
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
      method: 'POST',
      path: `${KEY}/end-grace`,
      scope: 'admin',
      answer: async (call) => shown(await actions.endGrace(call)),
    },
    { ...write, method: 'POST', path: `${KEY}/rotate`, answer: async (call) => made(200, await actions.rotate(call)) },
  ];
}

const shown = (record: KeyRecord): JsonAnswer => ({ status: 200, body: keyObject(record) });

/** The only answers that hold the whole key. */
const made = (status: number, { key, record }: MadeKey): JsonAnswer => ({ status, body: keyObject(record, key) });
