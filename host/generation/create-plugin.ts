import { closeAll } from '../common/close-all.ts';
import { type ClosingServices, disposeModule } from '../boundary/dispose.ts';
import type { ModuleRef } from '../boundary/module-fault.ts';
import { type RequestTrace, withOwnLog } from '../boundary/module-log.ts';
import { PluginBoundary } from '../boundary/plugin-boundary.ts';
import { TookTooLong, within } from '../common/clock.ts';
import { errorMessage } from '../common/error-message.ts';
import { nearest } from '../common/nearest.ts';
import { nextTurn } from '../common/next-turn.ts';
import type { Clock } from '../common/clock.ts';
import {
  type Carryover,
  isFields,
  type PluginDeps,
  type PluginHandlers,
  type PluginModule,
  type Stage,
  STAGES,
} from '../contract/index.ts';
import type { PluginEntry } from '../config/document.ts';
import { declaredSettings, settingsProblems } from '../config/module-settings.ts';
import type { Problem } from '../config/problems.ts';
import { resolveReferences } from '../config/references.ts';
import { LONG_MS } from '../pipeline/guards/giving-way.ts';
import type { PluginInstance } from '../pipeline/guards/plugin-instance.ts';
import { codeFrame, faultPlace, placeText } from '../registry/fault-place.ts';
import type { Registry } from '../registry/registry.ts';

/** Longest time that a `create` may take; a start and a change of the configuration wait for it. */
export const CREATE_LIMIT_MS = 10_000;

/** What making an instance needs of its surroundings. */
export interface CreateOptions {
  readonly registry: Registry;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly deps: Omit<PluginDeps, 'carryover' | 'identity'>;
  readonly clock: Clock;
  readonly carryover: Carryover;
  readonly closing: ClosingServices;
  /** The request that a plugin's code runs for. */
  readonly trace: RequestTrace;
  /** Keeps a value out of logs and errors. */
  readonly hide: (secret: string) => void;
}

/** Makes the instance of an entry; `identity` tells it from those of other settings. Throws for settings that are wrong once references are replaced, and for whatever `create` does. */
export async function createInstance(
  options: CreateOptions,
  entry: PluginEntry,
  identity: string,
): Promise<PluginInstance> {
  const module = options.registry.plugins.get(entry.name);
  if (!module) throw new Error(`"${entry.name}" is not a plugin of this build`);
  const { value, undefinedNames } = resolveReferences(entry.config ?? {}, options.environment, options.hide);
  if (undefinedNames.length > 0) throw new Error(`undefined variables: ${undefinedNames.join(', ')}`);
  const startedAt = options.clock.monotonic();
  const { settings, problems } = settingsProblems(module.settings, declaredSettings(module, value), 'config');
  if (options.clock.monotonic() - startedAt >= LONG_MS) await nextTurn(); // what is compiled to be checked, and to be used, is never one turn together
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('; '));
  for (const [setting, instead] of Object.entries(module.toleratedSettings ?? {})) {
    if (setting in value)
      options.deps.log.warn(`plugin setting is ignored, use ${instead}`, { plugin: entry.name, setting, rule: 'WN15' });
  }
  const ref: ModuleRef = { kind: 'plugin', name: module.name, file: options.registry.fileOf('plugin', module.name) };
  const deps = withOwnLog(sealedDeps(options, ref, identity), ref, options.trace);
  const handlers: unknown = await options.trace.run(
    { module: ref, exchangeId: undefined },
    createdInTime,
    module,
    settings,
    deps,
    options.clock,
  );
  checkHandlers(handlers);
  return { module, settings, handlers, boundary: new PluginBoundary(ref, options.trace) };
}

/** What plugins share cannot be changed by one of them. */
function sealedDeps({ deps, carryover, closing }: CreateOptions, module: ModuleRef, identity: string): PluginDeps {
  const { counters, state, requestLog } = deps;
  const lease: Carryover['lease'] = (key, create, dispose) =>
    carryover.lease(key, create, dispose && ((value) => disposeModule(module, () => dispose(value), closing)));
  return {
    ...deps,
    identity,
    carryover: Object.freeze({ lease }),
    counters: Object.freeze({ add: counters.add.bind(counters), observe: counters.observe.bind(counters) }),
    state: Object.freeze({
      take: state.take.bind(state),
      add: state.add.bind(state),
      get: state.get.bind(state),
      set: state.set.bind(state),
      delete: state.delete.bind(state),
      ...(state.sharesValues === true && { sharesValues: true }),
      ...(state.flight && { flight: state.flight }),
    }),
    prices: Object.freeze(deps.prices),
    requestLog:
      requestLog &&
      Object.freeze({ append: requestLog.append.bind(requestLog), annotate: requestLog.annotate.bind(requestLog) }),
  };
}

/** What comes too late is closed again here, because it belongs to no configuration. */
async function createdInTime(module: PluginModule, settings: object, deps: PluginDeps, clock: Clock): Promise<unknown> {
  const creating = Promise.try(() => module.create(settings, deps));
  try {
    return await within(creating, CREATE_LIMIT_MS, clock, 'its create');
  } catch (error) {
    if (error instanceof TookTooLong) void creating.then((late) => late.dispose?.()).catch(() => {});
    throw error;
  }
}

const HANDLERS: readonly string[] = [...STAGES, 'stream', 'finished', 'dispose'];

/** Fails unless these are handlers: functions, each under a name that the host calls. */
export function checkHandlers(handlers: unknown): asserts handlers is PluginHandlers {
  if (!isFields(handlers)) throw new Error('its create returns no handlers');
  for (const name in handlers) {
    if (!HANDLERS.includes(name)) {
      const near = nearest(name, HANDLERS);
      throw new Error(
        `its create returns "${name}", which is not a handler${near === undefined ? '' : `; did you mean "${near}"?`}`,
      );
    }
    if (handlers[name] !== undefined && typeof handlers[name] !== 'function')
      throw new Error(`its create returns a ${name} that is not a function`);
  }
}

/** Fails unless the instance can be listed at a stage. */
export function requireHandler({ handlers }: PluginInstance, stage: Stage): void {
  if (typeof handlers[stage] !== 'function') throw new Error(`it has no handler for ${stage}`);
}

/** A plugin that cannot be built, as a problem of its entry: what it says, and where in its file. */
export function buildProblem(index: number, { name }: PluginEntry, error: unknown, registry: Registry): Problem {
  const file = registry.fileOf('plugin', name);
  const place = file === undefined ? undefined : faultPlace(error, file);
  return {
    path: `plugins[${index}].config`,
    rule: 'PB01',
    message: `plugin "${name}" cannot be built: ${errorMessage(error)}${place ? ` at ${placeText(place)}` : ''}`,
    fix:
      error instanceof TookTooLong
        ? 'let create finish in time, or do it at the first request'
        : 'correct the settings, define the variables they name, or mend the plugin',
    frame: place && codeFrame(place),
  };
}

/** Closes instances, all at the same time. */
export function disposeAll(instances: readonly PluginInstance[], services: ClosingServices): Promise<void> {
  return closeAll(
    instances.map(
      ({ boundary, handlers }) =>
        () =>
          disposeModule(boundary.module, handlers.dispose?.bind(handlers), services),
    ),
  );
}
