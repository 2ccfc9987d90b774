import { dirname } from 'node:path';
import { framePlaces, stackOf } from '../registry/fault-place.ts';
import type { Registry } from '../registry/registry.ts';
import { faultAttributes, ModuleFault, type ModuleRef } from './module-fault.ts';
import type { RequestTrace } from './module-log.ts';
import type { Log } from '../contract/index.ts';

/**
 * Logs an error that was not caught, where it is a third-party module's: in a timer, an event without a listener, a promise that nothing
 * waits for. False for any other: nothing of the gateway itself was on the way there, so only the module's own work is lost.
 */
export function logBackgroundFault(error: unknown, trace: RequestTrace, registry: Registry, log: Log): boolean {
  const running = trace.getStore();
  const module =
    running?.module.file === undefined ? moduleIn(stackOf(error), registry) : registered(running.module, registry);
  if (!module) return false;
  const { function: _none, ...attributes } = faultAttributes(new ModuleFault(module, 'the background', error));
  const { exchangeId } = running ?? {};
  log.error(
    `${module.kind} failed in the background`,
    exchangeId === undefined ? attributes : { ...attributes, trace_id: exchangeId },
  );
  return true;
}

/** While a listed file is imported, only its name in the list is known: later, the module that it holds. */
function registered(module: ModuleRef, registry: Registry): ModuleRef {
  if (registry.fileOf(module.kind, module.name) !== undefined) return module;
  return thirdParty(registry).find(({ file }) => file === module.file) ?? module;
}

/** The third-party module whose file, or a file beside it in its folder, stands first in a stack. */
function moduleIn(stack: string, registry: Registry): ModuleRef | undefined {
  const modules = thirdParty(registry);
  if (modules.length === 0) return undefined;
  for (const { file } of framePlaces(stack)) {
    const module =
      modules.find((each) => each.file === file) ??
      modules.find((each) => each.file !== undefined && isFolderOf(each, file));
    if (module) return module;
  }
  return undefined;
}

/** A module of one file shares its folder with others. */
function isFolderOf({ file = '' }: ModuleRef, other: string): boolean {
  return /[\\/]index\.[cm]?[jt]s$/.test(file) && other.startsWith(`${dirname(file)}/`);
}

function thirdParty(registry: Registry): ModuleRef[] {
  const names = [
    ['provider', registry.providers],
    ['strategy', registry.strategies],
    ['plugin', registry.plugins],
  ] as const;
  return names
    .flatMap(([kind, modules]) =>
      [...modules.keys()].map((name) => ({ kind, name, file: registry.fileOf(kind, name) })),
    )
    .filter(({ file }) => file !== undefined);
}
