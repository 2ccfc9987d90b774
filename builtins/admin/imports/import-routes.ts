import { randomBytes } from 'node:crypto';
import { GatewayError, quoted } from '../../../host/contract/index.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../../host/http/json-route.ts';
import { digestOf } from '../../../host/stores/principals.ts';
import type { ImportRecord } from '../../../host/stores/accounts/account-repository.ts';
import { refuseAccount } from '../accounts/key-account.ts';
import { mostBytes, targetId } from '../asked.ts';
import { actorOf, type Auditor } from '../auditor.ts';
import { firstObject } from '../first-object.ts';
import { Members } from '../members.ts';
import { Query } from '../query.ts';
import { changing, reading } from '../store-calls.ts';
import { type AdoptBody, readAdoption } from './adopt-body.ts';
import { type AdoptionOutcome, adoptionOf } from './adoption.ts';
import { checkKeys } from './check.ts';
import { undoImport } from './undo.ts';

const ID_BYTES = 10;
const LONGEST_NOTE = 1024;
const SOURCES = ['litellm'] as const;

/** Keys and accounts of another gateway: begun, brought, compared and taken back. See docs/admin.md#imports. */
export function importRoutes(host: Host, auditor: Auditor): readonly JsonRoute[] {
  const actions = new ImportActions(host, auditor);
  const write = { scope: 'admin', maxBytes: mostBytes(host) } as const;
  return [
    { ...write, method: 'POST', path: '/admin/imports', answer: (call) => actions.begin(call) },
    { method: 'DELETE', path: '/admin/imports/:id', scope: 'admin', answer: (call) => actions.undo(call) },
    { ...write, method: 'POST', path: '/admin/keys/adopt', answer: (call) => actions.adopt(call) },
  ];
}

class ImportActions {
  readonly #host: Host;
  readonly #auditor: Auditor;

  constructor(host: Host, auditor: Auditor) {
    this.#host = host;
    this.#auditor = auditor;
  }

  async begin(call: JsonCall): Promise<JsonAnswer> {
    const { source, note } = readImport(call);
    const { stores, services } = this.#host;
    if (stores.keys.backend === 'memory')
      throw invalidRequest(
        'keys are kept in memory here, and would be gone with the process; set API_KEY_STORE_BACKEND',
      );
    const id = `imp_${randomBytes(ID_BYTES).toString('hex')}`;
    const record = { id, source, note, actor: actorOf(call.principal), at: services.clock.now() };
    await this.#auditor.during(call, {
      action: 'import.apply',
      target: id,
      about: { source, note },
      act: () => changing(stores.accounts.addImport(record)),
      done: () => ({ detail: { source, note } }),
    });
    return { status: 201, body: { id } };
  }

  async adopt(call: JsonCall): Promise<JsonAnswer> {
    const body = readAdoption(firstObject(call.bytes));
    if (body.isCheck) return this.#check(body);
    const record = await this.#known(body.importId);
    if (!record) throw invalidRequest(`the import ${quoted(body.importId)} does not exist`);
    for (const { limits } of body.keys) refuseAccount(this.#host, limits);
    const about = { keys: body.keys.length };
    const outcomes = await this.#auditor.during(call, {
      action: 'import.apply',
      target: record.id,
      about,
      act: () => this.#adopted(body, record),
      done: (all) => ({ detail: countsOf(all) }),
    });
    const conflicts = outcomes.flatMap((outcome, index) => (outcome === 'conflict' ? [index] : []));
    return { status: 200, body: { ...countsOf(outcomes), conflicts } };
  }

  async undo(call: JsonCall): Promise<JsonAnswer> {
    const id = targetId(call);
    const isForced = new Query(call.request).flag('force') ?? false;
    const undone = await this.#auditor.during(call, {
      action: 'import.undo',
      target: id,
      act: async () => {
        const record = await this.#known(id);
        if (!record) throw new GatewayError('resource_not_found', `there is no import ${JSON.stringify(id)}`);
        const { source } = record;
        const done = await undoImport(this.#host, { id, source, isForced });
        if (done.kept.length === 0) await changing(this.#host.stores.accounts.removeImport(id));
        return done;
      },
      done: ({ removed, kept }) => ({ detail: { ...removed, kept: kept.length } }),
    });
    return { status: 200, body: undone };
  }

  #known(id: string): Promise<ImportRecord | undefined> {
    return reading(this.#host.stores.accounts.getImport(id), this.#host.log);
  }

  async #adopted({ keys }: AdoptBody, { id, source }: ImportRecord): Promise<readonly AdoptionOutcome[]> {
    const { stores, masterKey, services } = this.#host;
    const master = masterKey === undefined ? undefined : digestOf(masterKey);
    const place = {
      origin: `${source}:${id}`,
      source,
      now: services.clock.now(),
      newId: () => stores.keys.newId(),
      isTaken: (digest: string) => digest === master,
    };
    let outcomes: readonly AdoptionOutcome[] = [];
    const { openings } = await changing(
      stores.keys.changeMany({
        digests: keys.flatMap(({ digest, previous }) => [digest, ...(previous ? [previous.digest] : [])]),
        apply: (found) => {
          const adoption = adoptionOf(keys, found, place);
          outcomes = adoption.outcomes;
          return adoption.after;
        },
      }),
    );
    stores.ledgers.value.begin?.(openings);
    return outcomes;
  }

  async #check({ keys }: AdoptBody): Promise<JsonAnswer> {
    const { stores, services, log } = this.#host;
    const found = await reading(stores.keys.ofDigests(keys.map(({ digest }) => digest)), log);
    const now = services.clock.now();
    return { status: 200, body: checkKeys(keys, found, { ledgers: stores.ledgers.value, now }) };
  }
}

function readImport(call: JsonCall): Pick<ImportRecord, 'source' | 'note'> {
  const members = new Members(firstObject(call.bytes));
  const written = members.text('source');
  const source = SOURCES.find((each) => each === written);
  if (!source) throw invalidRequest(`source must be ${SOURCES.join(' or ')}, not ${quoted(written)}`);
  const note = members.text('note');
  if ((note?.length ?? 0) > LONGEST_NOTE) throw invalidRequest(`note has more than ${LONGEST_NOTE} characters`);
  return { source, note };
}

function countsOf(outcomes: readonly AdoptionOutcome[]): Readonly<Record<'adopted' | 'updated' | 'kept', number>> {
  const count = (one: AdoptionOutcome): number => outcomes.filter((outcome) => outcome === one).length;
  return { adopted: count('adopted'), updated: count('updated'), kept: count('kept') };
}
