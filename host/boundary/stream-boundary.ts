import {
  type ChatChunk,
  type ChunkEdit,
  GatewayError,
  isFields,
  type StreamDecoder,
  type StreamEvent,
} from '../contract/index.ts';
import { jsonProblem } from './json-problem.ts';
import { ModuleFault, type ModuleRef } from './module-fault.ts';
import { refusePromise } from './thenable.ts';

/** What a provider's decoder makes of an event. Throws the provider's fault; without a provider, what was thrown. */
export function decodedBy(
  provider: ModuleRef | undefined,
  decode: StreamDecoder,
  event: StreamEvent,
): readonly ChatChunk[] {
  try {
    const chunks: unknown = decode(event);
    if (Array.isArray(chunks) && chunks.every(isOwnChunk)) {
      if (provider?.file !== undefined) for (const chunk of chunks) requireJson(chunk as ChatChunk);
      return chunks as readonly ChatChunk[];
    }
    refusePromise(chunks);
    throw new TypeError('it returned no list of chunks that the host may complete');
  } catch (thrown) {
    throw faultOf(provider, 'the decoder of openStream', thrown);
  }
}

/** Refuses a chunk that is not JSON. Only decoders of others are asked: tests hold the shipped ones. */
function requireJson(chunk: ChatChunk): void {
  const problem = jsonProblem(chunk);
  if (problem !== undefined) throw new TypeError(`it returned a chunk that cannot be written as JSON: ${problem}`);
}

/** Lets a provider change a chunk in place. Throws like `decodedBy`. */
export function editBy(provider: ModuleRef | undefined, edit: ChunkEdit, chunk: ChatChunk): void {
  try {
    refusePromise(edit(chunk));
  } catch (thrown) {
    throw faultOf(provider, 'the function of editStream', thrown);
  }
}

/** The host completes chunks in place. */
const isOwnChunk = (chunk: unknown): boolean => isFields(chunk) && !Object.isFrozen(chunk);

function faultOf(provider: ModuleRef | undefined, functionName: string, thrown: unknown): unknown {
  return thrown instanceof GatewayError || !provider ? thrown : new ModuleFault(provider, functionName, thrown);
}
