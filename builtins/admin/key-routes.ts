import type { Host } from '../../host/host.ts';
import type { JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import { mostBytes, targetId } from './asked.ts';
import type { Auditor } from './auditor.ts';
import { firstObject } from './first-object.ts';
import { readChange, readDraft, readRotation } from './key-body.ts';
import { keyObject } from './key-object.ts';
import { changing, reading, unknownKey } from './store-calls.ts';

const KEYS = '/admin/keys';
const KEY = `${KEYS}/:id`;

/** What there is, or 404. */
async function known<T>(id: string, work: Promise<T | undefined>): Promise<T> {
  const found = await work;
  if (found === undefined) throw unknownKey(id);
  return found;
}

/** Keys: made, listed, changed and ended. Source: specification 4.7, admin reference 4 and 5. */
export function keyRoutes(host: Host, auditor: Auditor): readonly JsonRoute[] {
  const { log, stores: { keys } } = host;
  const maxBytes = mostBytes(host);

  const create = async (call: JsonCall): ReturnType<typeof keys.create> => {
    const draft = readDraft(firstObject(call.bytes));
    const { name, scopes } = draft;
    return auditor.during(call, { action: 'key.create', target: '*', about: { name }, act: () => changing(keys.create(draft)), done: ({ record: { id } }) => ({ target: id, detail: { name, scopes } }) });
  };
  const update = async (call: JsonCall): Promise<object> => {
    const id = targetId(call);
    const change = readChange(firstObject(call.bytes));
    const act = (): ReturnType<typeof keys.get> => changing(keys.update(id, change, callerId(call)));
    const record = await auditor.during(call, { action: 'key.update', target: id, act: () => known(id, act()), done: ({ name, scopes }) => ({ detail: { name, scopes } }) });
    return keyObject(record);
  };
  const end = async (call: JsonCall, action: 'key.delete' | 'key.revoke'): Promise<void> => {
    const id = targetId(call);
    const ended = async (): Promise<unknown> => (action === 'key.revoke' ? keys.revoke(id, callerId(call)) : await keys.delete(id, callerId(call)) || undefined);
    await auditor.during(call, { action, target: id, act: () => known(id, changing(ended())) });
  };
  const rotate = async (call: JsonCall): Promise<object> => {
    const id = targetId(call);
    const rotation = readRotation(isBlank(call.bytes) ? {} : firstObject(call.bytes));
    const { key, record } = await auditor.during(call, { action: 'key.rotate', target: id, act: () => known(id, changing(keys.rotate(id, rotation))) });
    return keyObject(record, key);
  };

  return [
    { method: 'GET', path: KEYS, scope: 'read_only', answer: async () => ({ status: 200, body: (await reading(keys.list(), log)).map((record) => keyObject(record)) }) },
    { method: 'POST', path: KEYS, scope: 'admin', maxBytes, answer: async (call) => { const { key, record } = await create(call); return { status: 201, body: keyObject(record, key) }; } },
    { method: 'GET', path: KEY, scope: 'read_only', answer: async (call) => ({ status: 200, body: keyObject(await known(targetId(call), reading(keys.get(targetId(call)), log))) }) },
    { method: 'PUT', path: KEY, scope: 'admin', maxBytes, answer: async (call) => ({ status: 200, body: await update(call) }) },
    { method: 'DELETE', path: KEY, scope: 'admin', answer: async (call) => { await end(call, 'key.delete'); return { status: 204 }; } },
    { method: 'POST', path: `${KEY}/revoke`, scope: 'admin', answer: async (call) => { await end(call, 'key.revoke'); return { status: 200, body: { status: 'revoked' } }; } },
    { method: 'POST', path: `${KEY}/rotate`, scope: 'admin', maxBytes, answer: async (call) => ({ status: 200, body: await rotate(call) }) },
  ];
}

/** Of the credential behind the request. The routes are for those alone who have one. */
function callerId({ principal }: JsonCall): string {
  return principal?.id ?? '';
}

const isBlank = (bytes: Buffer): boolean => bytes.toString().trim() === '';
