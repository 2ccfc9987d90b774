import { type ChatRequest, type RankFigures, type RouteTarget, SURFACES } from '../contract/index.ts';
import type { Generation } from '../generation/generation.ts';
import { implementsSurface, mayBeAsked } from '../generation/model-index.ts';
import { asksForThoughts, type ChatVia, chatViaOf, viaReason } from '../pipeline/chat-via.ts';
import type { ExplainedRoute } from '../pipeline/explained.ts';
import type { HeardNotes } from '../pipeline/heard-notes.ts';
import type { CircuitState, GenerationHooks } from '../pipeline/hooks.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { Target } from '../pipeline/target.ts';
import type { RouteQuestion } from './question.ts';

/** A target that would not be tried, and why. */
export interface DroppedTarget {
  readonly target: string;
  readonly reason: string;
  /** What it was judged by, by name with its unit: `weight`, `median_ms`, `cost_usd`. */
  readonly figures: RankFigures;
}

/** A target that would be tried in its turn. */
export interface OrderedTarget extends DroppedTarget, Readonly<ExplainedRoute> {
  readonly provider: string;
  /** After `model_map`. */
  readonly upstream_model: string;
  /** State of its circuit breaker, when it has one. */
  readonly circuit: CircuitState | null;
  /** How its service would be asked; `null` on surfaces beside chat. */
  readonly attempt: ExplainedCall | null;
}

export interface ExplainedCall {
  /** Which API of the service the chat would go to. */
  readonly via: ChatVia['via'];
  /** What decides it: `rule openai-5.4: tools`. */
  readonly via_reason: string;
}

export function orderedTarget(
  { targets, hooks, strategy }: Generation,
  { virtualKey }: RouteTarget,
  exchange: LiveExchange,
  heard: HeardNotes,
): OrderedTarget {
  const { model } = exchange;
  const target = targets.get(virtualKey);
  return {
    target: virtualKey,
    provider: target?.provider?.module.name ?? '',
    upstream_model: target?.upstreamModel(model) ?? model,
    reason:
      heard.reasonOf(virtualKey) ?? (strategy.advances ? 'in declared order' : 'the strategy tries this target only'),
    figures: heard.figuresOf(virtualKey),
    circuit: hooks.circuit.call(virtualKey) ?? null,
    attempt: target ? explainedCall(target, exchange) : null,
    ...(target && toldOf(hooks, target, exchange)),
  };
}

/** What those that tap `explainTarget` add. */
function toldOf(hooks: GenerationHooks, target: Target, exchange: LiveExchange): ExplainedRoute {
  const members: ExplainedRoute = {};
  hooks.explainTarget.call(members, target, exchange);
  return members;
}

function explainedCall(target: Target, { surface, request, model: asked }: LiveExchange): ExplainedCall | null {
  const { provider } = target;
  if (!provider || !SURFACES[surface].isChat) return null;
  const model = target.upstreamModel(asked);
  const chat = request as ChatRequest;
  const via = chatViaOf({
    target,
    provider,
    model,
    facts: target.factsOf(model),
    request: chat,
    wantsThoughts: () => asksForThoughts(chat),
  });
  return { via: via.via, via_reason: viaReason(via, target.factSourcesOf(model)) };
}

/** What is asked for, after aliases. */
type Asked = Pick<RouteQuestion, 'surface' | 'streaming'> & { readonly model: string };

export function droppedTarget(
  generation: Generation,
  { virtualKey, serves }: RouteTarget,
  question: Asked,
  heard: HeardNotes,
): DroppedTarget {
  const left = generation.strategy.advances ? 'left out by the strategy' : 'the strategy tries one target only';
  const reason = serves ? (heard.reasonOf(virtualKey) ?? left) : whyNotServing(generation, virtualKey, question);
  return { target: virtualKey, reason, figures: heard.figuresOf(virtualKey) };
}

function whyNotServing({ targets }: Generation, virtualKey: string, { surface, streaming, model }: Asked): string {
  const target = targets.get(virtualKey);
  if (!target?.provider) return 'provider not registered';
  if (implementsSurface(target, surface, streaming))
    return mayBeAsked(target, model) ? 'does not serve the model' : 'no credential of it may be used for the model';
  return implementsSurface(target, surface, false) ? `does not stream ${surface}` : `does not serve ${surface}`;
}
