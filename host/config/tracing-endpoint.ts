/** Where spans go, and how what was written is meant. */
export interface TracingEndpoint {
  /** Scheme and host, and for HTTP the path. */
  readonly url: string;
  readonly isEncrypted: boolean;
}

export type TracingProtocol = 'grpc' | 'http/protobuf';

export const TRACING_PROTOCOLS: Readonly<Record<string, TracingProtocol>> = {
  grpc: 'grpc',
  'http/protobuf': 'http/protobuf',
  http: 'http/protobuf',
};

/** What an address of spans may look like. */
export const ENDPOINT_FORMS = 'write http://host:port, https://host:port, or host:port without a path';

const BARE = /^(?:\[[\da-f:.]+\]|[\w.-]+):\d{1,5}$/i;
const TRACES = '/v1/traces';

/**
 * An address as operators write it; `undefined` when it is none of the accepted forms. Of gRPC only scheme and host count; HTTP sends to
 * `v1/traces` below what is written, or, where `isWhole`, to just that. See docs/reference/observability.md#where-spans-go.
 */
export function tracingEndpoint(
  written: string,
  protocol: TracingProtocol,
  isWhole = false,
): TracingEndpoint | undefined {
  const url = BARE.test(written)
    ? parsed(`http://${written}`)
    : parsed(/^https?:\/\/[^/?#]/i.test(written) ? written : '');
  if (!url) return undefined;
  const { protocol: scheme, username, password, host, pathname, search } = url;
  const isEncrypted = scheme === 'https:';
  if (protocol === 'grpc') return { url: `${scheme}//${host}`, isEncrypted };
  const userinfo = username === '' ? '' : `${username}${password === '' ? '' : `:${password}`}@`;
  return { url: `${scheme}//${userinfo}${host}${isWhole ? pathname : tracesPath(pathname)}${search}`, isEncrypted };
}

function parsed(text: string): URL | undefined {
  return /\s/.test(text) ? undefined : (URL.parse(text) ?? undefined);
}

function tracesPath(path: string): string {
  const clean = path.replace(/\/+$/, '');
  return clean.endsWith(TRACES) ? clean : `${clean}${TRACES}`;
}
