import type { RequestOf, Surface } from '../contract/index.ts';
import { callEventual, throwRefusal } from './eventual.ts';
import { type GenerationHooks, isTapped } from './hooks.ts';
import type { LiveExchange } from './live-exchange.ts';

/**
 * Asks before a further turn of an exchange: what it may cost is put aside once more, then guardrails, rate limits and
 * plugins of the type `auth` see the request as it has grown. Gives the request to send, which a guardrail may have masked; the exchange
 * keeps the caller's. Throws the refusal.
 */
export async function askBeforeTurn(exchange: LiveExchange, grown: RequestOf<Surface>, { charge, beforeTurn }: Pick<GenerationHooks, 'charge' | 'beforeTurn'>): Promise<RequestOf<Surface>> {
  const { request } = exchange;
  exchange.stage = 'before_request';
  exchange.request = grown;
  try {
    for (const hook of [charge, beforeTurn[exchange.surface]]) {
      const waiting = isTapped(hook) ? throwRefusal(callEventual(hook, exchange)) : undefined;
      if (waiting) await exchange.cancellation.race(waiting);
      exchange.cancellation.throwIfCancelled();
    }
    return exchange.request;
  } finally {
    exchange.request = request;
  }
}
