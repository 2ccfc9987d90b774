/** Members and headers that every run makes anew. */
const VOLATILE: ReadonlySet<string> = new Set([
  'applied_at',
  'authorization',
  'content-length', // the body itself is compared
  'created',
  'date',
  'host',
  'id',
  'overhead_ms',
  'price_line', // came with prices that have tiers: docs/decisions/0066-one-line-prices-a-request.md
  'request_id',
  'server-timing',
  'started_at',
  'trace_id',
  'traceparent',
  'user-agent',
  'x-amz-date',
  'x-gateway-overhead-ms',
  'x-request-id',
]);

/** The kind that came with instances stands in lists of known kinds. */
const KIND = 'openai-compatible';

/** Keys that came with instances, groups and sessions; where a key is not known, a fix lists those that are. */
const KEYS: ReadonlySet<string> = new Set(['providers', 'models', 'affinity']);
const LISTED = /(use one of: (?:apiVersion|mode), )([^\n(]+)/g;

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A value as JSON whose members are sorted, without what differs from run to run and without the new kind. */
export function canonical(value: unknown): string {
  return JSON.stringify(settled(JSON.parse(JSON.stringify(value ?? null)) as Json), undefined, 1);
}

function settled(value: Json): Json {
  if (typeof value === 'string') return settledText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).filter((entry) => !isKind(entry)).map(settled);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !VOLATILE.has(key))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, settled(member)]),
  );
}

const isKind = (entry: Json): boolean =>
  entry === KIND ||
  (typeof entry === 'object' &&
    entry !== null &&
    ['id', 'name', 'provider'].some((key) => (entry as { readonly [key: string]: Json })[key] === KIND));

function settledText(text: string): string {
  return text
    .replaceAll(`${KIND}, `, '')
    .replaceAll(', price_reports', '') // a key of `money` that came with reported costs
    .replaceAll(LISTED, (_all, opening: string, keys: string) => opening + withoutKeys(keys))
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uuid>')
    .replaceAll(/\b[0-9a-f]{32}\b|\b[0-9a-f]{24}\b/g, '<id>')
    .replaceAll(/"created(_at)?":\d+/g, '"created$1":0');
}

function withoutKeys(list: string): string {
  return list
    .split(', ')
    .filter((key) => !KEYS.has(key))
    .join(', ');
}
