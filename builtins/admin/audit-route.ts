import { parseJson } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import type { AuditEntry, AuditOutcome, AuditQuery } from '../../host/stores/audit/audit-entry.ts';
import { Query } from './query.ts';
import { reading } from './store-calls.ts';
import { timestamp } from '../../host/common/timestamps.ts';

const PAGE = 50;
const LONGEST_PAGE = 200;
const OUTCOMES: readonly AuditOutcome[] = ['ok', 'denied', 'error'];

/** The audit trail. See docs/admin.md#the-audit-trail. */
export function auditRoute({ log, stores: { audit } }: Host): JsonRoute {
  const answer = async ({ request, signal }: JsonCall): Promise<JsonAnswer> => {
    const query = new Query(request);
    const limit = query.limit(PAGE, LONGEST_PAGE);
    const offset = query.offset();
    const since = query.moment('since');
    const until = query.moment('until');
    const withChanges = query.words('include', ['changes'] as const).includes('changes');
    const outcome = query.oneOf('outcome', OUTCOMES);
    const page = await reading(audit.list({ ...namesOf(query), outcome, since, until, limit, offset }, signal), log);
    const sent = ['action', 'actor_id', 'target_id', 'outcome', 'since', 'until', 'include'].flatMap((name) =>
      query.text(name) === '' ? [] : [[name, query.text(name)] as const],
    );
    return {
      status: 200,
      body: {
        data: page.entries.map((entry) => (withChanges ? { ...shown(entry), ...changesOf(entry) } : shown(entry))),
        summary: { total_entries: page.total, returned_entries: page.entries.length },
        filters: { limit, offset, ...Object.fromEntries(sent) },
      },
    };
  };
  return { method: 'GET', path: '/admin/audit', scope: 'read_only', answer };
}

const namesOf = (query: Query): Pick<AuditQuery, 'action' | 'actorId' | 'targetId'> => ({
  action: query.filter('action'),
  actorId: query.filter('actor_id'),
  targetId: query.filter('target_id'),
});

/** What `include=changes` adds. */
const changesOf = ({ id, changes, configVersion }: AuditEntry): object => ({
  id: id === undefined ? undefined : String(id),
  changes: changes === undefined ? undefined : parseJson(changes),
  config_version: configVersion,
});

/** What is empty is left out, and nothing is added. */
function shown({
  occurredAt,
  action,
  actor,
  actorId,
  targetId,
  outcome,
  detail,
  sourceIp,
  traceId,
}: AuditEntry): object {
  return {
    occurred_at: timestamp(occurredAt),
    action,
    actor,
    actor_id: actorId || undefined,
    target_id: targetId || undefined,
    outcome,
    detail: detail || undefined,
    source_ip: sourceIp || undefined,
    trace_id: traceId || undefined,
  };
}
