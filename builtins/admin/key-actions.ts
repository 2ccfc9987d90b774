import type { Host } from '../../host/host.ts';
import type { JsonCall } from '../../host/http/json-route.ts';
import type { AuditChange } from '../../host/stores/audit/audit-entry.ts';
import { accessOf, type KeyAccess, shownScopes } from '../../host/stores/keys/access-of-keys.ts';
import type { KeyRecord, MadeKey, Rotation } from '../../host/stores/keys/key-record.ts';
import { targetId } from './asked.ts';
import type { Auditor } from './auditor.ts';
import { firstObject } from './first-object.ts';
import { refuseAccount } from './accounts/key-account.ts';
import { readChange, readDraft, readRotation } from './key-body.ts';
import { keyChanges } from './key-changes.ts';
import { changing, unknownKey } from './store-calls.ts';

/** What is done to keys: each reads its body, asks the store and leaves its row. */
export class KeyActions {
  readonly #stores: Pick<Host['stores'], 'keys' | 'sessions'>;
  readonly #auditor: Auditor;
  readonly #host: Pick<Host, 'current' | 'settings'>;

  constructor(host: Pick<Host, 'stores' | 'current' | 'settings'>, auditor: Auditor) {
    this.#host = host;
    this.#stores = host.stores;
    this.#auditor = auditor;
  }

  async create(call: JsonCall): Promise<MadeKey> {
    const draft = readDraft(firstObject(call.bytes), this.#host.settings.keyAccess);
    refuseAccount(this.#host, draft.limits);
    const { name } = draft;
    return this.#auditor.during(call, {
      action: 'key.create',
      target: '*',
      about: { name },
      act: () => changing(this.#stores.keys.create(draft)),
      done: ({ record }) => ({
        target: record.id,
        detail: { name, ...accessDetail(record) },
        changes: keyChanges(undefined, record),
      }),
    });
  }

  async update(call: JsonCall): Promise<KeyRecord> {
    const id = targetId(call);
    const change = readChange(firstObject(call.bytes));
    refuseAccount(this.#host, change.limits);
    const { record } = await this.#auditor.during(call, {
      action: 'key.update',
      target: id,
      act: () => known(id, changing(this.#stores.keys.update(id, change, callerId(call)))),
      done: ({ record: after, before }) => ({
        detail: { name: after.name, ...accessDetail(after, change.access) },
        changes: keyChanges(before, after),
      }),
    });
    return record;
  }

  async revoke(call: JsonCall): Promise<void> {
    const id = targetId(call);
    await this.#auditor.during(call, {
      action: 'key.revoke',
      target: id,
      act: () => known(id, changing(this.#stores.keys.revoke(id, callerId(call)))),
    });
  }

  async delete(call: JsonCall): Promise<void> {
    const id = targetId(call);
    const act = async (): Promise<void> => {
      if (!(await changing(this.#stores.keys.delete(id, callerId(call))))) throw unknownKey(id);
    };
    await this.#auditor.during(call, { action: 'key.delete', target: id, act });
  }

  async rotate(call: JsonCall): Promise<MadeKey> {
    const id = targetId(call);
    const rotation = readRotation(isBlank(call.bytes) ? {} : firstObject(call.bytes));
    return this.#auditor.during(call, {
      action: 'key.rotate',
      target: id,
      act: () => known(id, changing(this.#rotated(id, rotation))),
      done: () => ({ changes: rotationChanges(rotation) }),
    });
  }

  endGrace(call: JsonCall): Promise<KeyRecord> {
    const id = targetId(call);
    return this.#auditor.during(call, {
      action: 'key.end_grace',
      target: id,
      act: () => known(id, changing(this.#stores.keys.endGrace(id))),
    });
  }

  async #rotated(id: string, rotation: Rotation): Promise<MadeKey | undefined> {
    const { keys, sessions } = this.#stores;
    if (!rotation.endsSessions) return keys.rotate(id, rotation);
    return keys.rotate(id, { ...rotation, newestSession: await sessions.newestOf(id) });
  }
}

const rotationChanges = ({ graceMs = 0 }: Rotation): readonly AuditChange[] =>
  graceMs > 0 ? [{ field: 'grace_seconds', before: null, after: graceMs / 1000 }] : [];

/** What an auditor looks for: keys that became wider, and those for inference. */
function accessDetail(record: KeyRecord, written?: KeyAccess): object {
  const access = accessOf(record);
  return { scopes: shownScopes(record), ...((access === 'inference' || written === 'full') && { access }) };
}

/** What there is, or 404. */
export async function known<T>(id: string, work: Promise<T | undefined>): Promise<T> {
  const found = await work;
  if (found === undefined) throw unknownKey(id);
  return found;
}

/** The id of the credential behind the request. The routes are for those alone who have one. */
function callerId({ principal }: JsonCall): string {
  return principal?.id ?? '';
}

const isBlank = (bytes: Buffer): boolean => bytes.toString().trim() === '';
