import { hash } from 'node:crypto';
import { DETACHED_LIMIT_MS } from '../boundary/module-limits.ts';
import { ModuleFault } from '../boundary/module-fault.ts';
import { passedOn, requireJson } from '../boundary/passed-chunks.ts';
import { inTime, isThenable, refusePromise } from '../boundary/thenable.ts';
import {
  type ChatChunk,
  isFields,
  type PluginHandlers,
  type PluginModule,
  type Rejection,
  type Stage,
  type StreamGuard,
  type Surface,
  SURFACE_NAMES,
  SURFACES,
} from '../contract/index.ts';
import { canonicalJson } from '../config/canonical.ts';
import type { GatewayConfig, PluginEntry } from '../config/document.ts';
import { ConfigRefused, type Problem } from '../config/problems.ts';
import { tapEventual } from '../pipeline/eventual.ts';
import { pluginError } from '../pipeline/gateway-fault.ts';
import { givingWay } from '../pipeline/guards/giving-way.ts';
import {
  covers,
  type GuardDeps,
  guardHandler,
  guardsContent,
  mayInspect,
  isObserving,
  needsBody,
  noteMasked,
  noteVerdict,
  passesFaults,
  reportGuard,
} from '../pipeline/guards/guard.ts';
import type { ChunkStep, GenerationHooks } from '../pipeline/hooks.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { PluginInstance } from '../pipeline/guards/plugin-instance.ts';
import type { RunningPlugins } from '../pipeline/running-generation.ts';
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
    readsAnswers: surfacesWhere(
      listed.filter(({ stage }) => stage === 'after_request').map(({ instance }) => instance),
      inspects,
    ),
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

/** Stream guards belong to `after_request`: an instance that is not listed there sees no answer. */
function streamGuardOpener(listed: readonly Listed[], deps: GuardDeps): BoundPlugins['openStreamGuards'] {
  const able = new Map<PluginInstance, OpenGuard>();
  for (const { stage, instance } of listed) {
    if (stage === 'after_request' && instance.handlers.stream)
      able.set(instance, instance.handlers.stream.bind(instance.handlers));
  }
  return (exchange) => {
    const guards = new Map<PluginInstance, StreamGuard>();
    for (const [instance, open] of able) {
      const guard = openGuard(instance, open, exchange, deps);
      if (guard) guards.set(instance, guard);
    }
    return guards.size > 0 ? guards : undefined;
  };
}

type OpenGuard = NonNullable<PluginHandlers['stream']>;

function openGuard(
  instance: PluginInstance,
  open: OpenGuard,
  exchange: LiveExchange,
  { hooks }: GuardDeps,
): StreamGuard | undefined {
  const { module, boundary } = instance;
  try {
    const guard: unknown = boundary.call(open, exchange, undefined);
    refusePromise(guard);
    if (guard === undefined || isGuard(guard)) return guard;
    throw new Error('it returned something that is not a guard: an object with push and end');
  } catch (thrown) {
    const fault = new ModuleFault(boundary.module, 'stream', thrown);
    const isOpen = passesFaults(instance);
    hooks.pluginFailed.call({ module, at: 'guard', exchange, fault, isOpen });
    if (isOpen) return undefined;
    throw pluginError(fault);
  }
}

const isGuard = (value: unknown): value is StreamGuard =>
  isFields(value) && typeof value['push'] === 'function' && typeof value['end'] === 'function';

/** Chunks and `finished` go to instances, whatever stages list them. */
function tapInstances(hooks: GenerationHooks, instances: readonly PluginInstance[], deps: GuardDeps): void {
  for (const instance of instances) {
    const { handlers, module } = instance;
    if (handlers.stream) {
      hooks.chunk.tap(module.name, (step, exchange, moment) => {
        const guard = exchange.plugins.streamGuards?.get(instance);
        if (!guard || 'rejection' in step) return step;
        return isObserving(instance)
          ? watchChunk(instance, step, guard, moment, exchange, deps)
          : guardChunk(instance, step, guard, moment, exchange, deps);
      });
    }
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

/** Runs one guard over the chunks that the guards before it let through; its faults follow its plugin's type. */
function guardChunk(
  instance: PluginInstance,
  step: readonly ChatChunk[],
  guard: StreamGuard,
  moment: 'push' | 'end',
  exchange: LiveExchange,
  deps: GuardDeps,
): ChunkStep {
  const { module, boundary } = instance;
  try {
    const result = boundary.run(exchange.id, passThrough, guard, step, moment);
    if (boundary.module.file !== undefined && !('action' in result)) requireJson(result, moment);
    noteMasked(instance, guard, exchange, deps);
    return 'action' in result ? { module, rejection: result } : result;
  } catch (thrown) {
    const fault = new ModuleFault(boundary.module, 'its stream guard', thrown);
    const isOpen = passesFaults(instance);
    deps.hooks.pluginFailed.call({ module, at: 'stream', exchange, fault, isOpen });
    if (isOpen) return step;
    reportGuard(module, exchange, { outcome: 'error', reason: undefined, error: fault.cause }, deps);
    throw pluginError(fault);
  }
}

/** An observing guard gets copies: whatever it holds back or rejects, the stream goes on as it was. */
function watchChunk(
  instance: PluginInstance,
  step: readonly ChatChunk[],
  guard: StreamGuard,
  moment: 'push' | 'end',
  exchange: LiveExchange,
  deps: GuardDeps,
): ChunkStep {
  if (exchange.plugins.noted?.has(instance)) return step;
  const result = guardChunk(instance, structuredClone(step), guard, moment, exchange, deps);
  if ('rejection' in result) noteVerdict(instance, 'after_request', result.rejection, exchange, deps);
  return step;
}

function passThrough(
  guard: StreamGuard,
  chunks: readonly ChatChunk[],
  moment: 'push' | 'end',
): readonly ChatChunk[] | Rejection {
  const passed: ChatChunk[] = [];
  for (const chunk of chunks) {
    const result = passedOn(guard.push(chunk), 'push');
    if ('action' in result) return result;
    for (const each of result) passed.push(each); // one by one: there may be more chunks than a call can take as arguments
  }
  if (moment === 'push') return passed;
  const rest = passedOn(guard.end(), 'end');
  return 'action' in rest ? rest : [...passed, ...rest];
}
