import { errorMessage } from '../common/error-message.ts';
import type { Attributes } from '../contract/services.ts';
import { faultPlace, placeText, stackOf } from '../registry/fault-place.ts';
import type { ModuleKind } from '../registry/registry.ts';

/** The module whose code runs, as log lines and errors name it. */
export interface ModuleRef {
  readonly kind: ModuleKind;
  readonly name: string;
  /** The file that a third-party module was imported from. */
  readonly file: string | undefined;
}

/**
 * A module's own fault: it threw, or returned what it must not. Made where its function was called, so that whatever follows can
 * tell whose fault it was. `cause` is always an error, whatever was thrown.
 */
export class ModuleFault extends Error {
  override readonly name = 'ModuleFault';
  readonly module: ModuleRef;
  /** The function that failed, as the module's author knows it. */
  readonly function: string;
  /** `file:line:column` in the module, where the stack names it. */
  readonly at: string | undefined;

  constructor(module: ModuleRef, functionName: string, thrown: unknown) {
    const cause = asError(thrown);
    const place = faultPlace(cause, module.file ?? '');
    const at = place && placeText(place);
    super(`the ${module.kind} "${module.name}" failed in ${functionName}${at === undefined ? '' : ` at ${at}`}`, {
      cause,
    });
    this.module = module;
    this.function = functionName;
    this.at = at;
  }
}

/** Whatever was thrown, as an error: modules throw texts, nothing, and objects without a prototype. */
export function asError(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(errorMessage(thrown));
}

function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false; // a proxy may throw even here
  }
}

/** What a log line says of a fault beside its message: the module by its kind, the function, the place, the error and its stack. */
export function faultAttributes(
  { module, function: functionName, at, cause }: ModuleFault,
  more: Attributes = {},
): Attributes {
  const stack = stackOf(cause);
  return {
    [module.kind]: module.name,
    function: functionName,
    ...more,
    error: cause,
    ...(at !== undefined && { at }),
    ...(stack !== '' && { stack }),
  };
}

/** The fault that led to an error, if a module's did. */
export function faultIn(error: unknown): ModuleFault | undefined {
  let at = error;
  for (let depth = 0; depth < MAX_DEPTH && isError(at); depth += 1) {
    if (at instanceof ModuleFault) return at;
    at = at.cause;
  }
  return undefined;
}

const MAX_DEPTH = 4;
