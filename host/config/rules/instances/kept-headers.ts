/** Headers that the gateway or the transport writes, or that belong to one connection (RFC 9110 7.6.1): a call that has them twice is refused, or read wrongly. */
const KEPT: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'http2-settings',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'accept-encoding',
  'traceparent',
  'tracestate',
  'baggage',
  'x-request-id',
]);

/** Whether an instance has no header of a name; servers that hand headers to programs take `_` for `-`. */
export function isKeptHeader(name: string): boolean {
  const meant = name.toLowerCase().replaceAll('_', '-');
  return KEPT.has(meant) || meant.startsWith('x-gateway-');
}
