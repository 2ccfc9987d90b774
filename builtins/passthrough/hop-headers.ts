/** Headers of one connection, which say nothing to the next (RFC 9110 7.6.1). Trailers are withheld, and so is what announces them. */
const HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
] as const;

/** Headers of one connection: those above, and those that a `Connection` header names. */
export function hopNames(connection: string | undefined): ReadonlySet<string> {
  const named = (connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return new Set([...HOP, ...named]);
}
