import { type Fields, GatewayError, isFields, type PluginModule, type Surface } from '../contract/index.ts';
import type { PluginEntry, StrategyConfig } from '../config/document.ts';
import { parsePath } from '../config/problems.ts';
import type { Generation } from '../generation/generation.ts';
import type { ExplainedRequest } from '../pipeline/explained.ts';
import { HeardNotes } from '../pipeline/heard-notes.ts';
import { LiveExchange } from '../pipeline/live-exchange.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import { modelNotFound } from '../pipeline/shown.ts';
import { type ExplainedPlugins, readPlugins } from './explained-plugins.ts';
import { type DroppedTarget, droppedTarget, type OrderedTarget, orderedTarget } from './explained-targets.ts';
import type { RouteQuestion } from './question.ts';

/** Where a request would go and why, as it is printed. */
export interface Explanation extends Readonly<ExplainedRequest> {
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
  readonly plugins: ExplainedPlugins['running'];
  readonly notes: readonly string[];
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
      .map((target) => droppedTarget(generation, target, { surface, streaming, model: exchange.model }, heard)),
    plugins: plugins.running,
    notes: plugins.notes,
    ...toldOf(generation, exchange),
  };
}

/** What those that tap `explainRequest` add; none of it where nothing of theirs applies. */
function toldOf({ hooks }: Generation, exchange: LiveExchange): ExplainedRequest {
  const members: ExplainedRequest = {};
  hooks.explainRequest.call(members, exchange);
  return members;
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
