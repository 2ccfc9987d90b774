/** A request that its provider refused for what its model does not take, sent once more without that. */
import type { ChatRequest, GatewayError, ModelFacts } from '../../contract/index.ts';
import type { CorrectionKind } from '../hooks.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { Target } from '../target.ts';
import type { Answer } from '../turns/turns.ts';
import { attemptTarget } from './attempt-target.ts';

interface Correction {
  readonly kind: CorrectionKind;
  /** What the refusal said of the model. */
  readonly facts: ModelFacts;
}

/** What the service says of models that take no system message behind the first turn. Source: GitHub BerriAI/litellm issues 32831 and 33807, 2026-11-26. */
const NO_LATE_SYSTEM = ["role 'system' is not supported", 'Unexpected role "system"'];

/**
 * Tries one target with the request of the turn. Where the provider's refusal says what the model does not take, that is
 * remembered, and the request sent once more as it follows from it. See docs/reference/data-plane.md#corrected-requests.
 */
export function attemptCorrected(...asked: Parameters<typeof attemptTarget>): Promise<Answer> {
  return attemptTarget(...asked).catch(async (error: GatewayError) => {
    const [exchange, , target, , generation] = asked;
    const correction = correctionOf(exchange, target, error);
    if (!correction || exchange.cancellation.cause || target.retryBudget?.take() === false) throw error;
    const { kind, facts } = correction;
    target.learn(String(exchange.routing.upstreamModel), facts);
    const ended = (result: 'ok' | 'failed'): void =>
      generation.hooks.corrected.call({ exchange, target, kind, result });
    try {
      const answer = await attemptTarget(...asked);
      ended('ok');
      return answer;
    } catch (again) {
      ended('failed');
      throw again;
    }
  });
}

/** `undefined` where the refusal says nothing of the kind, the request holds nothing of the kind, or that is known already. */
function correctionOf(
  { sent, routing: { isSameWire, upstreamModel, translated } }: LiveExchange,
  target: Target,
  { fault }: GatewayError,
): Correction | undefined {
  if (!sent || isSameWire || fault?.kind !== 'status' || (fault.status !== 400 && fault.status !== 404))
    return undefined;
  const { message = '' } = fault;
  const words = NO_LATE_SYSTEM.find((each) => message.includes(each));
  if (words === undefined || !holdsLateSystem(translated?.request) || says(sent.value, words)) return undefined;
  const isKnown = target.factsOf(String(upstreamModel)).late_system === false;
  return isKnown ? undefined : { kind: 'late_system', facts: { late_system: false } };
}

/** Whether the words are the client's own: a refusal that quotes them says nothing of the model, and other clients would pay for it. */
const says = (body: object, words: string): boolean =>
  JSON.stringify(body).includes(JSON.stringify(words).slice(1, -1));

function holdsLateSystem(request: object | undefined): boolean {
  const { messages = [] } = (request ?? {}) as Partial<ChatRequest>;
  const isSystem = ({ role }: { readonly role: string }): boolean => role === 'system' || role === 'developer';
  const start = messages.findIndex((message) => !isSystem(message));
  return start >= 0 && messages.slice(start).some(isSystem);
}
