import { type Fields, GatewayError, isFields, parseJson } from '../../../host/contract/index.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import { type LogRow, TERMINAL_STAGES } from '../../../host/stores/log/log-repository.ts';
import type { LogReader } from '../../../host/stores/log/request-log-store.ts';
import { shownDecision } from '../../../host/stores/log/route-decision.ts';
import { storable } from '../query.ts';
import { entry } from './entry.ts';

const MOST_ROWS = 100;
const LONGEST_TRACE = 64;

/** How a request was routed, as its row keeps it; what the row itself says where it keeps none. */
export function decisionOf(row: LogRow): Readonly<Fields> {
  const recorded = row.decision === null ? {} : parseJson(row.decision);
  const order = row.target === null ? {} : { order: [{ target: row.target }] };
  const refused = row.reason?.startsWith('key_') === true ? { refused_by: row.reason } : {};
  return { model: row.model ?? '', ...order, ...(isFields(recorded) ? shownDecision(recorded) : {}), ...refused };
}

/** All that is known of one request: the row that ended it, its other rows, how it was routed. */
export async function traceAnswer(logs: LogReader, { parameter, signal }: JsonCall): Promise<JsonAnswer> {
  const id = parameter('trace_id').toLowerCase();
  const found = id.length > LONGEST_TRACE || id === '' ? [] : await logs.ofTrace(storable(id), MOST_ROWS + 1, signal);
  const request = found.find(({ stage }) => TERMINAL_STAGES.includes(stage)) ?? found[0];
  if (!request)
    throw new GatewayError('resource_not_found', `the request log has no row of ${JSON.stringify(id.slice(0, 64))}`);
  const decision = request.decision === null ? null : decisionOf(request);
  const attempts = decision?.['attempts'];
  return {
    status: 200,
    body: {
      trace_id: id,
      request: entry(request),
      rows: found.slice(0, MOST_ROWS).toReversed().map(entry),
      ...(found.length > MOST_ROWS && { has_older_rows: true }),
      decision,
      attempts: Array.isArray(attempts) ? attempts : [],
    },
  };
}
