import type { CallInfo, FormPart, WireRequest } from 'gw/contract';
import { type Path, pathOf } from './paths.ts';

/** Where a form goes, and what its model is called there. */
export interface FormOptions {
  readonly path?: Path;
  /** What the form says where its address already names the model; the model unless said. `false` leaves the field out. */
  readonly model?: string | false;
  /** The whole address, for vendors who serve the surface elsewhere; the credential goes along. */
  readonly address?: (call: CallInfo) => string;
}

/** A form at its vendor: the parts in their order, and the model where the client wrote it. */
export function formRequest(
  parts: readonly FormPart[],
  call: CallInfo,
  usual: string,
  { address, path, model = call.model }: FormOptions,
): WireRequest {
  const form = parts.flatMap((part): FormPart[] => {
    if (part.name !== 'model' || 'file' in part) return [part];
    return model === false ? [] : [{ name: part.name, value: model }];
  });
  return address ? { path: address(call), withCredential: true, form } : { path: pathOf(path, usual, call), form };
}
