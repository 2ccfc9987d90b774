import { hash } from 'node:crypto';
import { DETACHED_LIMIT_MS } from '../boundary/module-limits.ts';
import { ModuleFault } from '../boundary/module-fault.ts';
import { inTime, isThenable } from '../boundary/thenable.ts';
import {
  type GuardrailSettings,
  type PluginHandlers,
  type PluginModule,
  type Stage,
  type Surface,
  SURFACE_NAMES,
  SURFACES,
} from '../contract/index.ts';
import { canonicalJson } from '../config/canonical.ts';
import type { GatewayConfig, PluginEntry } from '../config/document.ts';
import { ConfigRefused, type Problem } from '../config/problems.ts';
import { tapEventual } from '../pipeline/eventual.ts';
import { nextTurn } from '../common/next-turn.ts';
import { givingWay, LONG_MS } from '../pipeline/guards/giving-way.ts';
import { guardHandler } from '../pipeline/guards/guard.ts';
import type { GuardDeps } from '../pipeline/guards/guarded-stage.ts';
import { covers, guardsContent, mayInspect, needsBody } from '../pipeline/guards/plugin-policy.ts';
import type { GenerationHooks } from '../pipeline/hooks.ts';
import type { PluginInstance } from '../pipeline/guards/plugin-instance.ts';
import type { RunningPlugins } from '../pipeline/running-generation.ts';
import { streamGuardOpener, tapChunks } from './bind-stream-guards.ts';
import { buildProblem, createInstance, type CreateOptions, disposeAll, requireHandler } from './create-plugin.ts';

/** The plugins of one generation. */
export interface BoundPlugins extends RunningPlugins {
  /** True when a `before_request` transform might change the model, so that admission must wait. */
  readonly mayChangeModel: boolean;
  dispose(): Promise<void>;
}

export interface BindOptions extends CreateOptions {
  readonly config: GatewayConfig;
  readonly hooks: GenerationHooks;
}

interface Listed {
  readonly entry: PluginEntry;
  readonly stage: Stage;
  readonly instance: PluginInstance;
}

/** Builds each distinct plugin once and taps its handlers in configuration order. A failure closes what was built. */
export async function bindPlugins(options: BindOptions): Promise<BoundPlugins> {
  const instances = new Map<string, PluginInstance>();
  const listed: Listed[] = [];
  const problems: Problem[] = [];
  for (const [index, entry] of options.config.plugins.entries()) {
    if (!entry.enabled) continue;
    const identity = canonicalJson([entry.name, entry.config]);
    const startedAt = options.clock.monotonic();
    try {
      const instance =
        instances.get(identity) ?? (await createInstance(options, entry, `${entry.name} ${hash('sha256', identity)}`));
      instances.set(identity, instance);
      const stage = entry.stage as Stage;
      requireHandler(instance, stage);
      listed.push({ entry, stage, instance });
    } catch (error) {
      problems.push(buildProblem(index, entry, error, options.registry));
    }
    if (options.clock.monotonic() - startedAt >= LONG_MS) await nextTurn(); // what plugins compile is never one turn together
  }
  const built = [...instances.values()];
  try {
    if (problems.length > 0) throw new ConfigRefused(problems);
    const bound = describe(built, listed, options);
    tapHandlers(options.hooks, listed, options);
    tapInstances(options.hooks, built, options);
    return bound;
  } catch (error) {
    await disposeAll(built, options.closing);
    throw error;
  }
}

function describe(instances: readonly PluginInstance[], listed: readonly Listed[], deps: BindOptions): BoundPlugins {
  const before = listed.filter(({ stage }) => stage === 'before_request').map(({ instance }) => instance);
  const after = listed.filter(({ stage }) => stage === 'after_request').map(({ instance }) => instance);
  const readers = before.filter(({ module, settings }) => guardsContent(module, settings));
  const contentGuarded = new Set(
    SURFACE_NAMES.filter((surface) =>
      readers.some(({ module }) => covers(module, surface) && !refusesItself(module, surface)),
    ),
  );
  const uncovered = new Map<Surface, string>();
  for (const surface of SURFACE_NAMES) {
    const absent = readers.find(({ module }) => !covers(module, surface));
    if (absent) uncovered.set(surface, absent.module.name);
  }
  return {
    count: instances.length,
    contentGuarded,
    inspected: surfacesWhere(before, inspects),
    needsBody: surfacesWhere(before, ({ module, settings }) => needsBody(module, settings)),
    readsAnswers: surfacesWhere(after, inspects),
    judgesAnswers: surfacesWhere(after, judges),
    uncovered,
    readsUsage: instances.some(({ module, settings }) => module.readsUsage?.(settings) === true),
    mayChangeModel: before.some(({ module }) => module.type === 'transform' && module.keepsModel !== true),
    openStreamGuards: streamGuardOpener(listed, deps),
    dispose: () => disposeAll(instances, deps.closing),
  };
}

/** The surfaces that one of them runs on of which this holds. */
const surfacesWhere = (
  instances: readonly PluginInstance[],
  holds: (instance: PluginInstance, surface: Surface) => boolean,
): ReadonlySet<Surface> =>
  new Set(
    SURFACE_NAMES.filter((surface) =>
      instances.some((instance) => covers(instance.module, surface) && holds(instance, surface)),
    ),
  );

/** Bodies that are only forwarded are read for those alone that need them; others have been read in any case. */
const inspects = ({ module, settings }: PluginInstance, surface: Surface): boolean =>
  mayInspect(module, settings) && (SURFACES[surface].isForwarded !== true || needsBody(module, settings));

/** A refusal of its would withhold a streamed answer. */
const judges = ({ module, settings }: PluginInstance): boolean =>
  guardsContent(module, settings) && (settings as GuardrailSettings).stream !== 'record';

/** Only where a body that cannot be read is the exception: elsewhere no plugin is asked at all. */
function refusesItself({ refusesUnreadable }: PluginModule, surface: Surface): boolean {
  const { translator, isUnreadable } = SURFACES[surface];
  return refusesUnreadable === true && translator !== undefined && isUnreadable !== true;
}

function tapHandlers(hooks: GenerationHooks, listed: readonly Listed[], deps: GuardDeps): void {
  for (const { stage, instance } of listed) {
    const handler = guardHandler(instance, stage, deps);
    if (!handler) continue;
    const guarded = givingWay(handler, deps.clock);
    const { name } = instance.module;
    for (const surface of SURFACE_NAMES) {
      if (!covers(instance.module, surface)) continue;
      if (stage === 'before_request') {
        tapEventual(hooks.beforeRequest[surface], name, guarded);
        if (ASKED_AGAIN.has(instance.module.type)) tapEventual(hooks.beforeTurn[surface], name, guarded);
      } else if (stage === 'after_request') tapEventual(hooks.afterRequest[surface], name, guarded);
      else
        hooks.onError[surface].tapPromise(name, async (exchange) => {
          await guarded(exchange);
        });
    }
  }
}

/** Plugins of these types see each further turn of a request, too; the others change, or note, the caller's request. See docs/reference/governance.md#turns-of-a-tool-loop. */
const ASKED_AGAIN: ReadonlySet<PluginModule['type']> = new Set(['guardrail', 'ratelimit', 'auth']);

/** Streams and `finished` go to instances, whatever stages list them. */
function tapInstances(hooks: GenerationHooks, instances: readonly PluginInstance[], deps: GuardDeps): void {
  for (const instance of instances) {
    const { handlers } = instance;
    if (handlers.stream) tapChunks(hooks, instance, deps);
    if (handlers.finished) tapFinished(hooks, instance, handlers.finished.bind(handlers), deps);
  }
}

/** Declared as synchronous. Where a module returns a promise all the same, the request does not wait for it, and its failure must not end the process. */
function tapFinished(
  hooks: GenerationHooks,
  { module, boundary }: PluginInstance,
  finished: NonNullable<PluginHandlers['finished']>,
  { clock }: GuardDeps,
): void {
  hooks.finished.tap(module.name, (exchange, outcome) => {
    const fail = (thrown: unknown): void => {
      hooks.pluginFailed.call({
        module,
        at: 'finished',
        exchange,
        fault: new ModuleFault(boundary.module, 'finished', thrown),
        isOpen: true,
      });
    };
    try {
      const pending: unknown = boundary.call(finished, exchange, outcome);
      if (isThenable(pending)) inTime(pending, DETACHED_LIMIT_MS, clock, 'finished').catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  });
}
