import { GatewayError } from '../../../host/contract/index.ts';
import { timestamp } from '../../../host/common/timestamps.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../../host/http/json-route.ts';
import type { StoredIdentity } from '../../../host/stores/identities/identity-record.ts';
import { targetId } from '../asked.ts';
import type { Auditor } from '../auditor.ts';
import { Query } from '../query.ts';
import { changing, reading } from '../store-calls.ts';

const IDENTITIES = '/admin/identities';
const PAGE = 50;
const LONGEST_PAGE = 200;
const ID = /^oidc:[0-9a-f]{32}$/;

/** People and programs of issuers: who was here, and who is kept out. See docs/identity.md#signing-in. */
export function identitiesRoutes(host: Host, auditor: Auditor): readonly JsonRoute[] {
  const { identities } = host.stores;
  const one = async (call: JsonCall): Promise<JsonAnswer> => {
    const id = targetId(call);
    const { record } = ID.test(id) ? await reading(identities.ask(id), host.log) : { record: undefined };
    if (!record) throw unknown();
    return { status: 200, body: shown(record) };
  };
  const set = (call: JsonCall, action: 'identity.block' | 'identity.unblock'): Promise<JsonAnswer> => {
    const id = targetId(call);
    const by = call.principal?.id;
    const act = async (): Promise<StoredIdentity> => {
      if (!ID.test(id)) throw unknown();
      if (id === by) throw new GatewayError('self_mutation_forbidden', 'nothing can block who asks');
      const now = host.stores.clock.now();
      const after = await changing(identities.change(id, (before) => changed(before, { id, by, now, action })));
      if (!after) throw unknown();
      return after;
    };
    return auditor
      .during(call, { action, target: id, act, done: ({ name }) => ({ detail: { name } }) })
      .then((record) => ({ status: 200, body: shown(record) }));
  };
  const write = { method: 'POST', scope: 'admin' } as const;
  return [
    { method: 'GET', path: IDENTITIES, scope: 'read_only', answer: (call) => list(host, call) },
    { method: 'GET', path: `${IDENTITIES}/:id`, scope: 'read_only', answer: one },
    { ...write, path: `${IDENTITIES}/:id/block`, answer: (call) => set(call, 'identity.block') },
    { ...write, path: `${IDENTITIES}/:id/unblock`, answer: (call) => set(call, 'identity.unblock') },
  ];
}

const unknown = (): GatewayError => new GatewayError('resource_not_found', 'there is no such identity');

interface Change {
  readonly id: string;
  readonly by: string | undefined;
  readonly now: number;
  readonly action: 'identity.block' | 'identity.unblock';
}

/** One that was never here can be blocked before it comes. */
function changed(before: StoredIdentity | undefined, { id, by, now, action }: Change): StoredIdentity | undefined {
  if (action === 'identity.unblock') return before && { ...before, blockedAt: undefined, blockedBy: undefined };
  const record = before ?? { id, issuerUrl: '', issuer: '', subject: '', name: '', firstSeenAt: now };
  return record.blockedAt === undefined ? { ...record, blockedAt: now, blockedBy: by } : record;
}

async function list({ stores, log }: Host, { request }: JsonCall): Promise<JsonAnswer> {
  const query = new Query(request);
  const filters = { issuer: query.filter('issuer'), blocked: query.flag('blocked'), q: query.filter('q') };
  const [limit, offset] = [query.limit(PAGE, LONGEST_PAGE), query.offset()];
  const { identities, total } = await reading(stores.identities.page(filters, limit, offset), log);
  return {
    status: 200,
    body: {
      data: identities.map(shown),
      summary: { total_entries: total, returned_entries: identities.length },
      filters: { ...filters, limit, offset },
    },
  };
}

const momentOf = (at: number | undefined): string | undefined => (at === undefined ? undefined : timestamp(at));

function shown({ id, issuer, name, subject, firstSeenAt, signedInAt, blockedAt, blockedBy }: StoredIdentity): object {
  return {
    id,
    issuer,
    name,
    subject,
    first_seen_at: timestamp(firstSeenAt),
    signed_in_at: momentOf(signedInAt),
    blocked_at: momentOf(blockedAt),
    blocked_by: blockedBy,
  };
}
