import { type ChatRequest, type RankFigures, type RouteTarget, SURFACES } from '../contract/index.ts';
import type { Generation } from '../generation/generation.ts';
import { implementsSurface } from '../generation/model-index.ts';
import { asksForThoughts, type ChatVia, chatViaOf, viaReason } from '../pipeline/chat-via.ts';
import type { ExplainedRoute } from '../pipeline/explained.ts';
import type { HeardNotes } from '../pipeline/heard-notes.ts';
import type { CircuitState, GenerationHooks } from '../pipeline/hooks.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { Target } from '../pipeline/target.ts';
import { routedTarget, targetName } from '../pipeline/turns/ranked-routes.ts';
import { mayCall } from '../upstream/instance.ts';

/** A target that would not be tried, and why. */
export interface DroppedTarget {
  readonly target: string;
  /** The key of the route of a group of models, where that is not the target's name. */
  readonly route?: string;
  /** The fallback whose route or target it is; absent for those of the model asked for. */
  readonly via?: string;
  readonly reason: string;
  /** What it was judged by, by name with its unit: `weight`, `median_ms`, `cost_usd`. */
  readonly figures: RankFigures;
}

/** A target that would be tried in its turn. */
export interface OrderedTarget extends DroppedTarget, Readonly<ExplainedRoute> {
  readonly provider: string;
  /** The kind of provider that an entry of `providers` is; absent for those of the environment. */
  readonly kind?: string;
  /** After `model_map`, or as the route says. */
  readonly upstream_model: string;
  /** State of its circuit breaker, when it has one. */
  readonly circuit: CircuitState | null;
  /** How its service would be asked; `null` on surfaces beside chat. */
  readonly attempt: ExplainedCall | null;
}

/** One list of what may serve, as it was ranked: that of the model asked for, or of a fallback. */
export interface ExplainedList {
  readonly generation: Generation;
  readonly exchange: LiveExchange;
  readonly heard: HeardNotes;
}

export interface ExplainedCall {
  /** Which API of the service the chat would go to. */
  readonly via: ChatVia['via'];
  /** What decides it: `rule openai-5.4: tools`. */
  readonly via_reason: string;
}

export function orderedTarget(
  { generation, exchange, heard }: ExplainedList,
  { virtualKey: key }: RouteTarget,
): OrderedTarget {
  const { model, routing } = exchange;
  const { hooks, strategy } = generation;
  const target = routedTarget(key, exchange, generation);
  const { advances } = routing.group?.strategy ?? strategy;
  return {
    ...placeOf(key, exchange),
    provider: target?.provider?.module.name ?? '',
    ...(target?.instance && { kind: target.instance.kind }),
    upstream_model: target?.upstreamModel(model) ?? model,
    reason: heard.reasonOf(key) ?? (advances ? 'in declared order' : 'the strategy tries this target only'),
    figures: heard.figuresOf(key),
    circuit: hooks.circuit.call(targetName(key, routing)) ?? null,
    attempt: target ? explainedCall(target, exchange) : null,
    ...(target && toldOf(hooks, target, exchange)),
  };
}

/** What a ranked name stands for. */
function placeOf(key: string, { routing }: LiveExchange): Pick<DroppedTarget, 'target' | 'route' | 'via'> {
  const target = targetName(key, routing);
  const { fallback } = routing;
  return { target, ...(target !== key && { route: key }), ...(fallback !== undefined && { via: fallback }) };
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

export function droppedTarget(list: ExplainedList, { virtualKey: key, serves }: RouteTarget): DroppedTarget {
  const { generation, exchange, heard } = list;
  const { advances } = exchange.routing.group?.strategy ?? generation.strategy;
  const left = advances ? 'left out by the strategy' : 'the strategy tries one target only';
  const reason = serves ? (heard.reasonOf(key) ?? left) : whyNotServing(list, key);
  return { ...placeOf(key, exchange), reason, figures: heard.figuresOf(key) };
}

function whyNotServing({ generation, exchange }: ExplainedList, key: string): string {
  const { surface, streaming, model } = exchange;
  const target = routedTarget(key, exchange, generation);
  if (!target?.provider) return 'provider not registered';
  if (!implementsSurface(target, surface, streaming))
    return implementsSurface(target, surface, false) ? `does not stream ${surface}` : `does not serve ${surface}`;
  return mayCall(target.instance, target.upstreamModel(model))
    ? 'does not serve the model'
    : 'no credential of it may be used for the model';
}
