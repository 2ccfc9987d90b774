import Joi from 'joi';
import {
  definePlugin,
  type Exchange,
  ExchangeNote,
  isChat,
  isFields,
  type Log,
  messageTexts,
  type PluginDeps,
  type PluginHandlers,
  type RequestLog,
  type RequestLogRow,
  type Stage,
  SURFACES,
} from 'gw/contract';

interface Settings {
  readonly level: keyof Log;
  readonly persist: boolean;
}

/** One log line for each stage it is listed at, and with `persist` one row of the request log. Never what was said. */
export default definePlugin<Settings>({
  name: 'request-logger',
  type: 'logging',
  summary: 'Logs requests, responses and errors; stores them for the admin API with persist',
  stages: ['before_request', 'after_request', 'on_error'],
  needsBody: () => false,
  settings: Joi.object<Settings, true>({
    level: Joi.string()
      .valid('debug', 'info', 'warn', 'error')
      .default('info')
      .description(
        'level of the lines for requests and responses: `debug`, `info`, `warn` or `error`; errors are always `error`',
      ),
    persist: Joi.boolean()
      .default(false)
      .description('whether each line is also a row of the request log, where one is configured'),
  }),
  toleratedSettings: { backend: 'REQUEST_LOG_STORE_BACKEND', dsn: 'REQUEST_LOG_STORE_DSN' },
  create: logger,
});

function logger({ level, persist }: Settings, { log, now, redact, requestLog }: PluginDeps): PluginHandlers {
  if (persist && !requestLog)
    log.warn('persist has no effect without REQUEST_LOG_STORE_BACKEND, requests are only logged', {
      plugin: 'request-logger',
      rule: 'WN15',
    });
  const store: RequestLog | undefined = persist ? requestLog : undefined;
  const scribe: Scribe = { log, level, store, now, redact, timestamp: timestamps(now), answered: new ExchangeNote() };
  return {
    before_request: (exchange) => noteRequest(exchange, scribe),
    after_request: (exchange) => noteResponse(exchange, scribe),
    on_error: (exchange) => noteError(exchange, scribe),
  };
}

/** What lines and rows are written with. */
interface Scribe extends Pick<PluginDeps, 'log' | 'now' | 'redact'>, Pick<Settings, 'level'> {
  readonly store: RequestLog | undefined;
  /** The moment, as lines have it. */
  readonly timestamp: () => string;
  /** Requests that have the row of an answer. */
  readonly answered: ExchangeNote<true>;
}

function timestamps(now: () => number): () => string {
  let moment = NaN;
  let text = '';
  return () => {
    const at = now();
    if (at !== moment) {
      // many come in one millisecond
      moment = at;
      text = new Date(at).toISOString();
    }
    return text;
  };
}

function noteRequest(exchange: Exchange, { log, level, store, now, redact, timestamp }: Scribe): void {
  const { id, model, streaming: stream } = exchange;
  log[level]('gateway request', {
    trace_id: id,
    model,
    messages: messagesIn(exchange),
    stream,
    timestamp: timestamp(),
  });
  store?.append({
    trace_id: id,
    stage: 'before_request',
    model: redact(model),
    api_key_id: keyOf(exchange),
    created_at: now(),
  });
}

function noteResponse(exchange: Exchange, { log, level, store, now, redact, timestamp, answered }: Scribe): void {
  const model = answeringModel(exchange);
  const provider = providerOf(exchange);
  const { prompt_tokens = 0, completion_tokens = 0, total_tokens = 0 } = exchange.usage ?? {};
  log[level]('gateway response', {
    trace_id: exchange.id,
    model,
    provider,
    prompt_tokens,
    completion_tokens,
    total_tokens,
    choices: choicesIn(exchange),
    timestamp: timestamp(),
  });
  if (!store) return;
  store.append(endingRow(exchange, { stage: 'after_request', model: redact(model), provider, createdAt: now() }));
  answered.put(exchange, true);
}

function noteError(exchange: Exchange, { log, store, now, redact, timestamp, answered }: Scribe): void {
  const { id, model, target: provider = '' } = exchange;
  const error = redact(exchange.error?.message ?? '');
  log.error('gateway error', { trace_id: id, model, provider, error, timestamp: timestamp() });
  if (!store) return;
  const failed = endingRow(exchange, { stage: 'on_error', model: redact(model), provider, createdAt: now(), error });
  // One request has one last row: an answer that was withheld after it had been written down is that answer's row.
  if (answered.get(exchange)) store.annotate('after_request', failed);
  else store.append(failed);
}

/** How many messages a request has. A body that is forwarded as it is counts as one: the text that all of its strings make. */
function messagesIn(exchange: Exchange): number {
  if (isChat(exchange)) return exchange.request.messages.length;
  const { surface, request } = exchange;
  if (surface === 'passthrough' || surface === 'responses') return request['json'] === undefined ? 0 : 1;
  return [...messageTexts(exchange)].length;
}

/** As the upstream called it, else as it was asked for; of answers that are forwarded as they are, what the client asked for. */
function answeringModel({ surface, reportedModel, upstreamModel, model }: Exchange): string {
  if (surface === 'passthrough' || surface === 'responses') return model;
  return reportedModel ?? upstreamModel ?? model;
}

/** Who made the answer, which a cache may have kept since. */
function providerOf(exchange: Exchange): string {
  const made = isChat(exchange) ? exchange.reply?.provider : undefined;
  return made ?? exchange.target ?? '';
}

const choicesIn = (exchange: Exchange): number => (isChat(exchange) ? (exchange.reply?.choices.length ?? 0) : 0);

const keyOf = ({ principal }: Exchange): string => principal?.id ?? '';

interface Ending {
  readonly stage: Stage;
  readonly model: string;
  readonly provider: string;
  readonly createdAt: number;
  /** What went wrong with a request that failed. What of it had come by then was used, and paid for. */
  readonly error?: string;
}

/** Every column has its value here, or `undefined`: the types name one that is left out. */
type WholeRow = { readonly [Name in keyof Required<RequestLogRow>]: RequestLogRow[Name] };

/** All that is known at the end of a request. One literal: every logged request comes here. */
function endingRow(exchange: Exchange, { stage, model, provider, createdAt, error }: Ending): WholeRow {
  const {
    id,
    client,
    sessionId,
    target,
    attempts,
    cache,
    catalogVersion,
    abLabel,
    decision,
    tunnel,
    placement,
    payer,
    usage,
    ending,
    origin,
    surface,
    streaming,
    measurements: { durationMs, ttftMs, costUsd, costSource, priceLine },
  } = exchange;
  const isForwarded = SURFACES[surface].isForwarded === true;
  return {
    trace_id: id,
    stage,
    model,
    provider,
    api_key_id: keyOf(exchange),
    created_at: createdAt,
    error_message: error,
    prompt_tokens: usage?.prompt_tokens,
    completion_tokens: usage?.completion_tokens,
    total_tokens: usage?.total_tokens,
    duration_ms: error === undefined || durationMs > 0 ? durationMs : null,
    ttft_ms: ttftMs ?? null,
    cost_usd: costUsd ?? null,
    cost_source: costSource,
    price_line: priceLine,
    ab_label: abLabel,
    target,
    attempts: target === undefined ? undefined : attempts,
    cache,
    catalog_version: catalogVersion,
    decision,
    surface: client?.surface ?? SURFACES[surface].tag,
    client_wire: client?.wire,
    same_wire: client?.isSameWire,
    upstream_request_id: client?.upstreamRequestId,
    session_id: sessionId,
    bytes_up: tunnel?.bytesUp,
    bytes_down: tunnel?.bytesDown,
    provider_kind: placement?.kind,
    credential: placement?.credential,
    model_group: placement?.group,
    affinity: placement?.affinity,
    cache_read_tokens: placement && usage?.cache_read_tokens,
    cache_write_tokens: placement && usage?.cache_write_tokens,
    cache_saved_usd: placement?.cacheSavedUsd,
    status: ending?.status,
    outcome: ending?.outcome,
    code: ending?.code,
    reason: ending?.reason,
    upstream_status: ending?.upstreamStatus,
    upstream_message: ending?.upstreamMessage,
    method: isForwarded ? origin?.method : undefined,
    path: isForwarded ? origin?.path : undefined,
    streamed: streaming,
    user_id: userOf(exchange),
    metadata: metadataOf(exchange),
    address: origin?.address,
    user_agent: origin?.userAgent,
    account: payer?.account,
    tags: payer?.tags,
    over_from: payer?.overFrom,
    repeats: undefined,
  };
}

/** As the body says it at the end: what a guardrail has masked stays masked. */
function userOf({ request }: Exchange): string | undefined {
  const { user } = request as { readonly user?: unknown };
  return typeof user === 'string' ? user : undefined;
}

const MOST_ENTRIES = 16;
const LONGEST_NAME = 64;
const LONGEST_VALUE = 256;

/** Entries of the header, then the texts among those of the body; a name of the header stands for both. */
function metadataOf({ metadata, request }: Exchange): Readonly<Record<string, string>> | undefined {
  const { metadata: said } = request as { readonly metadata?: unknown };
  const ofBody = isFields(said) ? Object.entries(said) : [];
  const entries = new Map<string, string>();
  for (const [name, value] of [...Object.entries(metadata), ...ofBody]) {
    if (entries.size === MOST_ENTRIES) break;
    const short = name.slice(0, LONGEST_NAME);
    if (typeof value === 'string' && short !== 'user_id' && !entries.has(short)) entries.set(short, cut(value));
  }
  return entries.size === 0 ? undefined : Object.fromEntries(entries);
}

const cut = (value: string): string => (value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE - 1)}…` : value);
