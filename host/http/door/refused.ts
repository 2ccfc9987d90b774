import type { GatewayError } from '../../contract/index.ts';
import type { RequestContext } from '../context.ts';

/** A request that was answered with an error before it had an exchange. */
export interface Refused {
  readonly context: RequestContext;
  readonly error: GatewayError;
}

/** Where refusals are heard of. */
export interface RefusalHooks<H> {
  readonly refused: { call(refused: Refused, host: H): void };
}

/** Once, when a request is over. An exchange says itself how it ended. */
export function tellRefusal<H>(host: H & { readonly hooks: RefusalHooks<H> }, context: RequestContext): void {
  const { refusal: error, hasExchange } = context;
  if (!error || hasExchange) return;
  context.refusal = undefined;
  host.hooks.refused.call({ context, error }, host);
}
