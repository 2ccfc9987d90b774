/** Where a request stands in its caller's trace. Source: W3C Trace Context, www.w3.org/TR/trace-context, read 2026-11-22. */
export interface TraceContext {
  /** 32 lower-case hex digits; the request's id. */
  readonly traceId: string;
  /** The caller's span, 16 lower-case hex digits. */
  readonly parentId: string;
  /** One byte. The lowest bit says that the caller records this trace. */
  readonly flags: number;
  /** The caller's `tracestate`, not checked, at most 512 characters of it in whole members. */
  readonly state: string | undefined;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_PARENT = '0'.repeat(16);

/** `undefined` unless the `traceparent` is valid; then `tracestate` is ignored too. */
export function readTraceContext(
  traceparent: string,
  tracestate: string | string[] | undefined,
): TraceContext | undefined {
  const [, version, traceId, parentId, flags = '', rest] = TRACEPARENT.exec(traceparent.trim()) ?? [];
  if (traceId === undefined || parentId === undefined || traceId === NO_TRACE || parentId === NO_PARENT)
    return undefined;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  return {
    traceId,
    parentId,
    flags: Number.parseInt(flags, 16),
    state: typeof tracestate === 'string' ? boundedState(tracestate.trim()) : undefined,
  };
}

/** Characters that must be passed on at least; of a longer state, long members go first, then those at the end. Source: Trace Context 3.3.1.5. */
const MAX_STATE = 512;
const MAX_MEMBER = 128;
/** A state has no more. Source: Trace Context 3.3.1.1. */
const MAX_MEMBERS = 32;

function boundedState(text: string): string | undefined {
  if (text.length <= MAX_STATE) return text || undefined;
  let kept = '';
  for (let at = 0, members = 0; at < text.length && members < MAX_MEMBERS; members += 1) {
    const comma = text.indexOf(',', at);
    const end = comma < 0 ? text.length : comma;
    const member = text.slice(at, end).trim();
    at = end + 1;
    if (member === '' || member.length > MAX_MEMBER) continue;
    const longer = kept === '' ? member : `${kept},${member}`;
    if (longer.length > MAX_STATE) break;
    kept = longer;
  }
  return kept || undefined;
}
