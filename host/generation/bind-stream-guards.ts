import { ModuleFault } from '../boundary/module-fault.ts';
import { passedOn, requireJson } from '../boundary/passed-chunks.ts';
import { refusePromise } from '../boundary/thenable.ts';
import {
  type ChatChunk,
  isFields,
  type PluginHandlers,
  type Rejection,
  type Stage,
  type StreamGuard,
} from '../contract/index.ts';
import { pluginError } from '../pipeline/gateway-fault.ts';
import type { GuardDeps, GuardedStage } from '../pipeline/guards/guarded-stage.ts';
import type { PluginInstance } from '../pipeline/guards/plugin-instance.ts';
import { isObserving, passesFaults } from '../pipeline/guards/plugin-policy.ts';
import { noteMasked, noteVerdict, reportGuard } from '../pipeline/guards/verdict-notes.ts';
import type { ChunkStep, GenerationHooks } from '../pipeline/hooks.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { RunningPlugins } from '../pipeline/running-generation.ts';

/** Stream guards belong to `after_request`: an instance that is not listed there sees no answer. */
export function streamGuardOpener(
  listed: readonly { readonly stage: Stage; readonly instance: PluginInstance }[],
  deps: GuardDeps,
): RunningPlugins['openStreamGuards'] {
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

/** Has the guard of an instance see each chunk of a stream that it guards. */
export function tapChunks({ chunk }: GenerationHooks, instance: PluginInstance, deps: GuardDeps): void {
  const at: GuardedStage = { instance, stage: 'after_request', deps };
  const look = isObserving(instance) ? watchChunk : guardChunk;
  chunk.tap(instance.module.name, (step, exchange, moment) => {
    const guard = exchange.plugins.streamGuards?.get(instance);
    return !guard || 'rejection' in step ? step : look(at, step, guard, moment, exchange);
  });
}

/** Runs one guard over the chunks that the guards before it let through; its faults follow its plugin's type. */
function guardChunk(
  at: GuardedStage,
  step: readonly ChatChunk[],
  guard: StreamGuard,
  moment: 'push' | 'end',
  exchange: LiveExchange,
): ChunkStep {
  const { instance, deps } = at;
  const { module, boundary } = instance;
  try {
    const result = boundary.run(exchange.id, passThrough, guard, step, moment);
    if (boundary.module.file !== undefined && !('action' in result)) requireJson(result, moment);
    noteMasked(at, guard, exchange);
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
  at: GuardedStage,
  step: readonly ChatChunk[],
  guard: StreamGuard,
  moment: 'push' | 'end',
  exchange: LiveExchange,
): ChunkStep {
  if (exchange.plugins.noted?.has(at.instance)) return step;
  const result = guardChunk(at, structuredClone(step), guard, moment, exchange);
  if ('rejection' in result) noteVerdict(at, result.rejection, exchange);
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
