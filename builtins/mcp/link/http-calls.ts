import type { Clock } from '../../../host/common/clock.ts';
import type { GatewayError, OutgoingRequest } from '../../../host/contract/index.ts';
import type { Cancellation } from '../../../host/upstream/cancellation.ts';
import type { Transport } from '../../../host/upstream/transport.ts';
import type { ReplySink } from '../../../host/upstream/upstream-call.ts';
import type { HttpAddress } from './http-address.ts';

const CONNECT_LIMIT_MS = 10_000;

/** A connection that was never there, rather than one that broke off: refused, not resolved, or without a usable certificate. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO)/;

export interface HttpCallsOptions {
  readonly address: HttpAddress;
  /** As configured, references replaced: they count before every other. */
  readonly headers: Readonly<Record<string, string>>;
  readonly transport: Transport;
  readonly clock: Clock;
}

/** Sends requests to one server, with what all of them carry. */
export class HttpCalls {
  session: string | undefined;
  version: string | undefined;
  readonly clock: Clock;
  readonly #options: HttpCallsOptions;
  readonly #configured: Readonly<Record<string, string>>;

  constructor(options: HttpCallsOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.#configured = Object.fromEntries(
      Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
  }

  get url(): string {
    return this.#options.address.url;
  }

  send(
    {
      method,
      headers,
      body,
    }: {
      readonly method: 'GET' | 'POST' | 'DELETE';
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
    },
    cancellation: Cancellation,
    limits: { readonly headersTimeoutMs: number; readonly bodyIdleMs: number },
    sink: ReplySink,
  ): void {
    const {
      address: { url, authorization },
      transport,
    } = this.#options;
    const request: OutgoingRequest = {
      method,
      url,
      body,
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...headers,
        ...(this.session !== undefined && { 'mcp-session-id': this.session }),
        ...(this.version !== undefined && { 'mcp-protocol-version': this.version }),
        ...this.#configured,
      },
    };
    transport.open({ request, cancellation, connectTimeoutMs: CONNECT_LIMIT_MS, ...limits }, sink);
  }

  /** Whether no connection could be made. */
  isUnreachable({ cause }: GatewayError): boolean {
    const { code } = (cause ?? {}) as { readonly code?: unknown };
    return typeof code === 'string' && NO_CONNECTION.test(code);
  }
}
