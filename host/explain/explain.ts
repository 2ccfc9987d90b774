import { invalidRequest } from '../common/invalid-request.ts';
import {
  type ChatRequest,
  GatewayError,
  type PluginModule,
  type RankFigures,
  type RequestOf,
  type RouteTarget,
  type Stage,
  type Surface,
  SURFACES,
} from '../contract/index.ts';
import type { PluginEntry, StrategyConfig } from '../config/document.ts';
import { parsePath } from '../config/problems.ts';
import { readSettings } from '../config/module-settings.ts';
import { type Fields, isFields } from '../contract/json/fields.ts';
import type { Generation } from '../generation/generation.ts';
import { implementsSurface } from '../generation/model-index.ts';
import { asksForStream } from '../common/asks-for-stream.ts';
import { asksForThoughts, type ChatVia, chatViaOf, viaReason } from '../pipeline/chat-via.ts';
import { HeardNotes } from '../pipeline/heard-notes.ts';
import { LiveExchange } from '../pipeline/live-exchange.ts';
import { covers, guardsContent } from '../pipeline/guards/plugin-policy.ts';
import type { CircuitState } from '../pipeline/hooks.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import { modelNotFound } from '../pipeline/shown.ts';
import type { Target } from '../pipeline/target.ts';

/** A request that is not sent. */
export interface RouteQuestion {
  readonly surface: Surface;
  /** The body, in the common wire. */
  readonly request: RequestOf<Surface>;
  readonly streaming: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Where a request would go and why, as it is printed. */
export interface Explanation {
  /** After aliases. */
  readonly model: string;
  readonly requested_model: string;
  readonly surface: Surface;
  readonly streaming: boolean;
  /** `strategy.mode` */
  readonly strategy: string;
  readonly on_failure: 'next target' | 'error';
  /** The rule that matched, as a path inside the `strategy` block. */
  readonly rule: string | null;
  /** What that rule asks: its members in the configuration, its target aside. */
  readonly condition: Readonly<Record<string, string>> | null;
  /** The variant an `ab-test` drew. */
  readonly ab_label: string | null;
  /** Why the request would be refused before any target is tried. */
  readonly refusal: { readonly code: string; readonly message: string } | null;
  /** Targets in the order in which they would be tried. */
  readonly order: readonly OrderedTarget[];
  readonly dropped: readonly DroppedTarget[];
  /** What would run, in its order. Nothing has run: what a plugin would refuse or change is not known. */
  readonly plugins: readonly { readonly name: string; readonly stage: Stage }[];
  readonly notes: readonly string[];
}

export interface DroppedTarget {
  readonly target: string;
  readonly reason: string;
  /** What it was judged by, by name with its unit: `weight`, `median_ms`, `cost_usd`. */
  readonly figures: RankFigures;
}

export interface OrderedTarget extends DroppedTarget {
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

export interface ExplainDeps {
  readonly services: PipelineServices;
  readonly registry: { readonly plugins: ReadonlyMap<string, PluginModule> };
  /** The configured plugins, when the generation was built without. */
  readonly plugins?: readonly PluginEntry[];
}

/** Takes a request through everything that decides its route, and stops there: no upstream is called, nothing is counted. */
export function explain(generation: Generation, question: RouteQuestion, deps: ExplainDeps): Explanation {
  const { strategy, config, models, hooks } = generation;
  const { surface, streaming } = question;
  const heard = new HeardNotes();
  const exchange = openExchange(question, heard, deps.services);
  const early = refusalOf(() => hooks.prepare.call(exchange));
  const plugins = readPlugins(deps.plugins ?? config.plugins, surface, deps.registry.plugins);
  const marked = models.routeTargets(exchange.model, surface, streaming);
  const order = hooks.route
    .call(marked, exchange)
    .filter(({ virtualKey, serves }) => serves && generation.targets.get(virtualKey)?.provider);
  const refusal =
    early ??
    plugins.refusal ??
    (order.length > 0 ? undefined : modelNotFound(exchange.model, deps.services.redactor, heard.why));
  return {
    model: exchange.model,
    requested_model: question.request.model ?? '',
    surface,
    streaming,
    strategy: config.strategy.mode,
    on_failure: strategy.advances ? 'next target' : 'error',
    rule: heard.path ?? null,
    condition: heard.path === undefined ? null : conditionAt(config.strategy, heard.path),
    ab_label: heard.label ?? null,
    refusal: refusal ? { code: refusal.code, message: refusal.message } : null,
    order: order.map((target) => orderedTarget(generation, target, exchange, heard)),
    dropped: marked
      .filter((target) => !order.includes(target))
      .map((target) => droppedTarget(generation, target, question, heard)),
    plugins: plugins.running,
    notes: plugins.notes,
  };
}

/** The texts of the entry that a path inside the `strategy` block ends at. */
function conditionAt(strategy: StrategyConfig, path: string): Explanation['condition'] {
  const entry = parsePath(path).reduce<unknown>(
    (at, part) => (typeof at === 'object' && at !== null && Object.hasOwn(at, part) ? (at as Fields)[part] : undefined),
    strategy,
  );
  if (!isFields(entry)) return null;
  return Object.fromEntries(
    Object.entries(entry).flatMap(([name, value]) =>
      typeof value === 'string' && name !== 'target_key' ? [[name, value]] : [],
    ),
  );
}

/** Checks the request to be explained. Throws `invalid_request` where its route cannot be determined. */
export function readQuestion(
  surface: string,
  request: unknown,
  metadata: Readonly<Record<string, string>>,
): RouteQuestion {
  const routed = Object.entries(SURFACES)
    .filter(([, { translator }]) => translator !== undefined)
    .map(([name]) => name);
  if (!routed.includes(surface))
    throw invalidRequest(`the surface "${surface}" is not routed by the strategy; use one of: ${routed.join(', ')}`);
  if (!isFields(request)) throw invalidRequest('the request must be a JSON object');
  if (typeof request['model'] !== 'string' || request['model'] === '')
    throw invalidRequest('the request needs a model');
  const { isChat } = SURFACES[surface as Surface];
  const body =
    surface === 'completions' ? { ...request, messages: [{ role: 'user', content: request['prompt'] }] } : request;
  if (isChat && !isMessages((body as { readonly messages?: unknown }).messages))
    throw invalidRequest('messages must be a list of messages');
  return {
    surface: surface as Surface,
    request: body,
    streaming: asksForStream(surface as Surface, request),
    metadata: isChat ? metadata : {},
  };
}

function isMessages(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (message) => isFields(message) && (!Array.isArray(message['content']) || message['content'].every(isFields)),
    )
  );
}

function openExchange(question: RouteQuestion, heard: HeardNotes, { clock }: PipelineServices): LiveExchange {
  const exchange = new LiveExchange({ ...question, id: '', clock, principal: undefined, arrivedAt: clock.monotonic() });
  exchange.routing.explaining = heard;
  return exchange;
}

function refusalOf(prepare: () => void): GatewayError | undefined {
  try {
    prepare();
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function orderedTarget(
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
  };
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

function droppedTarget(
  generation: Generation,
  { virtualKey, serves }: RouteTarget,
  question: RouteQuestion,
  heard: HeardNotes,
): DroppedTarget {
  const left = generation.strategy.advances ? 'left out by the strategy' : 'the strategy tries one target only';
  const reason = serves ? (heard.reasonOf(virtualKey) ?? left) : whyNotServing(generation, virtualKey, question);
  return { target: virtualKey, reason, figures: heard.figuresOf(virtualKey) };
}

function whyNotServing({ targets }: Generation, virtualKey: string, { surface, streaming }: RouteQuestion): string {
  const target = targets.get(virtualKey);
  if (!target?.provider) return 'provider not registered';
  if (implementsSurface(target, surface, streaming)) return 'does not serve the model';
  return implementsSurface(target, surface, false) ? `does not stream ${surface}` : `does not serve ${surface}`;
}

interface ReadPlugins {
  readonly running: Explanation['plugins'];
  readonly refusal: GatewayError | undefined;
  readonly notes: readonly string[];
}

function readPlugins(
  entries: readonly PluginEntry[],
  surface: Surface,
  known: ExplainDeps['registry']['plugins'],
): ReadPlugins {
  const enabled = entries
    .filter((entry) => entry.enabled)
    .flatMap((entry) => {
      const module = known.get(entry.name);
      return module ? [{ module, entry, stage: entry.stage as Stage }] : [];
    });
  const before = enabled.filter(({ stage }) => stage === 'before_request');
  const blind = before.find(
    ({ module, entry }) =>
      !covers(module, surface) && guardsContent(module, readSettings(module.settings, entry.config)),
  );
  const changing = before.filter(
    ({ module }) => covers(module, surface) && module.type === 'transform' && module.keepsModel !== true,
  );
  return {
    running: enabled
      .filter(({ module }) => covers(module, surface))
      .map(({ module, stage }) => ({ name: module.name, stage })),
    refusal:
      blind &&
      new GatewayError(
        'request_rejected',
        `${blind.module.name} does not read ${surface} bodies, and they are not forwarded uninspected`,
      ),
    notes: changing.map(({ module }) => `${module.name} may change the model; this is the route without it`),
  };
}
