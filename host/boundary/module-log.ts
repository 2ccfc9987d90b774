import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes } from '../contract/services.ts';
import type { Log } from '../contract/index.ts';
import type { ModuleRef } from './module-fault.ts';

/** The module whose function runs, and the id of the request that it runs for, if for any. */
export interface Running {
  readonly module: ModuleRef;
  readonly exchangeId: string | undefined;
}

/** What of a third-party module runs, for its log lines and its faults; it follows what the function waits for, and what it leaves behind. */
export type RequestTrace = AsyncLocalStorage<Running>;

export const createTrace = (): RequestTrace => new AsyncLocalStorage<Running>();

/** The log of one module: each line names it, and the request that it was written for. Attributes of the module's own win. */
export function moduleLog(log: Log, { kind, name }: ModuleRef, trace: RequestTrace): Log {
  const withOwn = (attributes: Attributes | undefined): Attributes => {
    const trace_id = trace.getStore()?.exchangeId;
    const given = attributes instanceof Error ? { error: attributes } : attributes;
    return { [kind]: name, ...(trace_id !== undefined && { trace_id }), ...given };
  };
  return Object.freeze({
    debug: (message: string, attributes?: Attributes) => log.debug(message, withOwn(attributes)),
    info: (message: string, attributes?: Attributes) => log.info(message, withOwn(attributes)),
    warn: (message: string, attributes?: Attributes) => log.warn(message, withOwn(attributes)),
    error: (message: string, attributes?: Attributes) => log.error(message, withOwn(attributes)),
  });
}

/**
 * What a third-party module is given, with a log of its own; its functions then run under the trace. The lines of the shipped ones are listed
 * with their fields, and name the request themselves.
 */
export function withOwnLog<D extends { readonly log: Log }>(deps: D, module: ModuleRef, trace: RequestTrace): D {
  return Object.freeze(module.file === undefined ? { ...deps } : { ...deps, log: moduleLog(deps.log, module, trace) });
}
