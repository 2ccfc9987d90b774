import { GatewayError } from '../../../host/contract/index.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../../host/http/json-route.ts';
import {
  LOG_SPLITS,
  type LogFilters,
  type LogSplit,
  TERMINAL_STAGES,
} from '../../../host/stores/log/log-repository.ts';
import type { LogReader } from '../../../host/stores/log/request-log-store.ts';
import { StoreUnavailable } from '../../../host/stores/store-link.ts';
import type { Auditor } from '../auditor.ts';
import { sharesBody, statisticsBody } from './log-statistics.ts';
import { calendarParts } from './calendar-parts.ts';
import { deniedAnswer } from './denied-answer.ts';
import { entry } from './entry.ts';
import { type ExportedRows, Exports } from './export-route.ts';
import { searchAnswer } from './search-answer.ts';
import { type AskedSearch, readSearch, statisticsSearch } from './search-parameters.ts';
import { decisionOf, traceAnswer } from './trace-answer.ts';
import { valuesAnswer } from './values-answer.ts';
import { Query, storable } from '../query.ts';
import { reading } from '../store-calls.ts';

const PAGE = 50;
const LONGEST_PAGE = 200;
const MOST_NAMES = 100;
const MOST_BUCKETS = 120;

type Answering = (logs: LogReader, call: JsonCall) => Promise<JsonAnswer>;

/** The request log: listed, summed up, purged; how one request was routed. See docs/admin.md#the-request-log. */
export function logRoutes(host: Host, auditor: Auditor): readonly JsonRoute[] {
  const {
    log,
    stores: { logReader, keys },
  } = host;
  const exports = new Exports({ clock: host.services.clock, log, auditor });
  /** Without a store the answer is 501, whatever the parameters. */
  const kept =
    (answer: Answering) =>
    (call: JsonCall): Promise<JsonAnswer> => {
      const logs = logReader.value;
      if (!logs)
        throw new GatewayError('not_implemented', 'this gateway keeps no request log; set REQUEST_LOG_STORE_BACKEND');
      return answer(logs, call);
    };
  return [
    {
      method: 'GET',
      path: '/admin/logs',
      scope: 'read_only',
      answer: kept((logs, call) => reading(list(logs, call), log)),
    },
    { method: 'DELETE', path: '/admin/logs', scope: 'admin', answer: kept((logs, call) => purge(logs, call, auditor)) },
    {
      method: 'GET',
      path: '/admin/logs/stats',
      scope: 'read_only',
      answer: kept((logs, call) => reading(statistics(logs, call, logs.now()), log)),
    },
    {
      method: 'GET',
      path: '/admin/logs/values',
      scope: 'read_only',
      answer: kept((logs, call) => reading(valuesAnswer(logs, keys, call), log)),
    },
    {
      method: 'GET',
      path: '/admin/logs/export',
      scope: 'read_only',
      answer: kept((logs, call) => exports.answer(logs, call, listed)),
    },
    {
      method: 'GET',
      path: '/admin/logs/denied',
      scope: 'read_only',
      answer: (call) => deniedAnswer(host.denied, call),
    },
    {
      method: 'GET',
      path: '/admin/logs/:trace_id', // behind the fixed paths
      scope: 'read_only',
      answer: kept((logs, call) => reading(traceAnswer(logs, call), log)),
    },
    {
      method: 'GET',
      path: '/admin/explain/:id',
      scope: 'read_only',
      answer: kept((logs, call) => reading(decision(logs, call), log)),
    },
  ];
}

/** Rows that a listing finds, and how it says by what. */
function listed(query: Query): ExportedRows & { readonly isSearch: boolean } {
  const since = query.moment('since');
  const stages = stagesOf(query, TERMINAL_STAGES);
  const asked = readSearch(query);
  const [stage, model, provider, api_key_id] = ['stage', 'model', 'provider', 'api_key_id'].map((name) =>
    query.text(name),
  );
  const shown = { stage, stages, model, provider, api_key_id, since: query.text('since') };
  return {
    filters: { ...filtersOf(query, since, asked), stages },
    shown: { ...shown, ...given(placesOf(query)), ...asked.given },
    isSearch: asked.isSearch,
  };
}

async function list(logs: LogReader, { request, signal }: JsonCall): Promise<JsonAnswer> {
  const query = new Query(request);
  const limit = query.limit(PAGE, LONGEST_PAGE);
  const offset = query.offset();
  const { filters, shown, isSearch } = listed(query);
  if (isSearch) return searchAnswer(logs, query, { filters, limit, shown: { limit, ...shown } }, signal);
  const page = await logs.list(filters, limit, offset, signal);
  return {
    status: 200,
    body: {
      data: page.rows.map(entry),
      summary: { total_entries: page.total, returned_entries: page.rows.length },
      filters: { limit, offset, ...shown },
    },
  };
}

/** Then or later than `since` would leave nothing. */
function untilOf(query: Query, since: number | undefined): number | undefined {
  const until = query.moment('until');
  if (until !== undefined && since !== undefined && until <= since) throw invalidRequest('until is not after since');
  return until;
}

/** What rows are listed and summed by, but for their stages. */
function filtersOf(
  query: Query,
  since: number | undefined,
  { search, given: sent }: AskedSearch,
): Omit<LogFilters, 'stages'> {
  const keyId = query.filter('api_key_id');
  return {
    ...namesOf(query),
    ...placesOf(query),
    since,
    before: untilOf(query, since),
    apiKeyId: keyId === 'none' ? null : keyId,
    search: Object.keys(sent).length === 0 ? undefined : search,
  };
}

async function statistics(logs: LogReader, { request, signal }: JsonCall, now: number): Promise<JsonAnswer> {
  const query = new Query(request);
  const limit = query.limit(0, MOST_NAMES);
  const since = query.moment('since');
  const buckets = query.buckets(MOST_BUCKETS);
  const asked = statisticsSearch(query);
  const { given: sent } = asked;
  const filters = filtersOf(query, since, asked);
  const { before } = filters;
  const by = query.words('include', INCLUDED).map((word) => word.slice('by_'.length) as LogSplit);
  const [stage] = stagesOf(query, []);
  const end = before ?? Math.max(now, (since ?? now) + 1000);
  const equal = since === undefined || buckets === 0 ? undefined : { start: since, end, buckets };
  const window = calendarParts(query, { since, end, buckets }) ?? equal;
  const found = await logs.statistics(
    {
      filters: { ...filters, stages: stage === undefined ? TERMINAL_STAGES : [stage] },
      stage,
      by,
      series: window && { filters: { ...filters, stages: stage === undefined ? [] : [stage] }, window },
    },
    signal,
  );
  const [model, provider] = [query.text('model'), query.text('provider')];
  return {
    status: 200,
    body: {
      ...statisticsBody(found.statistics, found.series, limit),
      ...Object.fromEntries(
        found.shares.entries().map(([split, shares]) => [`by_${split}`, sharesBody(split, shares, limit)]),
      ),
      filters: {
        limit,
        buckets,
        stage: query.text('stage'),
        model,
        provider,
        since: query.text('since'),
        ...given(placesOf(query)),
        ...given({
          api_key_id: query.filter('api_key_id'),
          bucket: query.filter('bucket'),
          timezone: query.filter('timezone'),
        }),
        ...sent,
      },
    },
  };
}

async function purge(logs: LogReader, call: JsonCall, auditor: Auditor): Promise<JsonAnswer> {
  const query = new Query(call.request);
  const before = query.moment('before');
  if (before === undefined)
    throw invalidRequest('before is missing; say up to which moment rows are deleted, as an RFC 3339 timestamp');
  const [raw, stage, model, provider] = ['before', 'stage', 'model', 'provider'].map((name) => query.text(name));
  if (stage === 'all') throw invalidRequest('stage is "all"; leave it out to delete the rows of every stage');
  const deleted = await auditor.during(call, {
    action: 'logs.purge',
    target: '*',
    act: () => logs.purge({ ...namesOf(query), stages: stagesOf(query, []), before }).catch(asUnavailable),
    done: (count) => ({ detail: { before: raw, deleted: count } }),
  });
  return { status: 200, body: { deleted, filters: { before: raw, stage, model, provider } } };
}

/** Rows are deleted in slices, so some may be gone. */
function asUnavailable(error: unknown): never {
  if (error instanceof StoreUnavailable)
    throw new GatewayError('store_unavailable', `${error.message}; it may have deleted some of the rows, try again`, {
      cause: error,
    });
  throw error;
}

async function decision(logs: LogReader, { parameter, signal }: JsonCall): Promise<JsonAnswer> {
  const id = parameter('id');
  const row = id === '' ? undefined : await logs.newestOf(storable(id), signal);
  if (!row) throw new GatewayError('resource_not_found', `the request log has no row of ${JSON.stringify(id)}`);
  return { status: 200, body: decisionOf(row) };
}

/** `all` leaves every stage, as an absent one does unless others stand for it. */
function stagesOf(query: Query, otherwise: readonly string[]): readonly string[] {
  const stage = query.filter('stage');
  if (stage === undefined) return otherwise;
  return stage === 'all' ? [] : [stage];
}

function namesOf(query: Query): Pick<LogFilters, 'model' | 'provider'> {
  return { model: query.filter('model'), provider: query.filter('provider') };
}

/** What sums can be asked for besides. */
const INCLUDED = LOG_SPLITS.map((split) => `by_${split}` as const);

/** Instances, groups and sessions: rows of configurations without them match no value. */
const placesOf = (query: Query): Pick<LogFilters, 'credential' | 'group' | 'affinity'> => ({
  credential: query.filter('credential'),
  group: query.filter('group'),
  affinity: query.filter('affinity'),
});

/** Parameters that are there: an answer to others is as it was before there were these. */
const given = (filters: object): object =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
