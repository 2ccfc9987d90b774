import type { RequestOf, Surface } from '../../contract/index.ts';
import { shapeOwnAnswer } from './complete-turn.ts';
import { callEventual, throwRefusal } from '../eventual.ts';
import { type GenerationHooks, isTapped } from '../hooks.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { PipelineServices } from '../pipeline-services.ts';

export interface BeforeTurnDeps {
  readonly hooks: Pick<GenerationHooks, 'charge' | 'beforeTurn'>;
  readonly services: PipelineServices;
}

/**
 * Asks before a further turn of an exchange: what it may cost is put aside once more, then guardrails, rate limits and
 * plugins of the type `auth` see the request as it has grown. Gives the request to send, which a guardrail may have masked; the exchange
 * keeps the caller's; `undefined` where a plugin has answered in the provider's place: `exchange.reply` is the answer. Throws the refusal.
 */
export async function askBeforeTurn(
  exchange: LiveExchange,
  grown: RequestOf<Surface>,
  { hooks: { charge, beforeTurn }, services }: BeforeTurnDeps,
): Promise<RequestOf<Surface> | undefined> {
  const { request } = exchange;
  exchange.stage = 'before_request';
  exchange.request = grown;
  try {
    for (const hook of [charge, beforeTurn[exchange.surface]]) {
      const waiting = isTapped(hook) ? throwRefusal(callEventual(hook, exchange)) : undefined;
      if (waiting) await exchange.cancellation.race(waiting);
      exchange.cancellation.throwIfCancelled();
    }
    const { answeredBy } = exchange.plugins;
    if (answeredBy === undefined) return exchange.request;
    shapeOwnAnswer(exchange, answeredBy, services);
    return undefined;
  } finally {
    exchange.request = request;
  }
}
