/** A request that its provider refused for what its model does not take, sent once more without that. */
import type { ChatRequest, GatewayError } from '../../contract/index.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { Target } from '../target.ts';
import type { Answer } from '../turns/turns.ts';
import type { Visit } from '../credentials/visit.ts';
import { FIRST } from './attempt-lifecycle.ts';
import { attemptTarget } from './attempt-target.ts';
import { type Correction, correctionFor } from './corrections.ts';

/** An attempt as it is asked for the first time. */
type Asked = readonly [
  exchange: LiveExchange,
  turn: Parameters<typeof attemptTarget>[1],
  target: Target,
  provider: Parameters<typeof attemptTarget>[3],
  generation: Parameters<typeof attemptTarget>[4],
  visit?: Visit,
];

/**
 * Tries one target with the request of the turn. Where the provider's refusal says what the model does not take, that is
 * remembered, and the request sent once more as it follows from it. See docs/reference/data-plane.md#corrected-requests.
 */
export function attemptCorrected(...asked: Asked): Promise<Answer> {
  const [exchange, turn, target, provider, generation, visit] = asked;
  const { clock } = generation.services;
  const begunAt = clock.monotonic();
  const first = visit && { ...FIRST, visit };
  return attemptTarget(exchange, turn, target, provider, generation, first).catch(async (error: GatewayError) => {
    const correction = correctionOf(asked, error);
    if (!correction || exchange.cancellation.cause || target.retryBudget?.take() === false) throw error;
    const { kind, leavesThoughts = false } = correction;
    remember(correction, target, String(exchange.routing.upstreamModel));
    const ended = (result: 'ok' | 'failed'): void =>
      generation.hooks.corrected.call({ exchange, target, kind, result });
    try {
      const spentMs = clock.monotonic() - begunAt;
      const repeat = { leavesThoughts, spentMs, visit };
      const answer = await attemptTarget(exchange, turn, target, provider, generation, repeat);
      ended('ok');
      return answer;
    } catch (again) {
      ended('failed');
      throw again;
    }
  });
}

function remember({ facts, isOfTarget = false, keptMs }: Correction, target: Target, model: string): void {
  if (facts) target.learn(facts, { model: isOfTarget ? undefined : model, keptMs });
}

/** `undefined` where the request went out in the client's own wire, and where nothing follows from the refusal. */
function correctionOf([exchange, turn, target, { module }]: Asked, { fault }: GatewayError): Correction | undefined {
  const {
    sent,
    routing: { isSameWire, upstreamModel, translated },
  } = exchange;
  const { status, message = '', code, param } = fault ?? {};
  if ((status !== 400 && status !== 404) || isSameWire || !translated?.isChat) return undefined;
  const refusal = {
    message,
    code,
    param,
    request: translated.request as ChatRequest,
    provider: module.name,
    via: translated.via,
    isConfigured: target.config.chat_via === 'chat' || target.config.chat_via === 'responses',
    isTranslated: sent !== undefined,
    facts: target.factsOf(String(upstreamModel)),
  };
  return correctionFor(refusal, (words) => says(sent?.value ?? turn.request, words));
}

const says = (body: object, words: readonly string[]): boolean => {
  const text = JSON.stringify(body);
  return words.every((each) => text.includes(JSON.stringify(each).slice(1, -1)));
};
