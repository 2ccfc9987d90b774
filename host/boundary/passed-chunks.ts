import { type ChatChunk, isFields, type Rejection } from '../contract/index.ts';
import { jsonProblem } from './json-problem.ts';
import { refusePromise } from './thenable.ts';

/** What a stream guard returned, if it is what it must be. */
export function passedOn(result: unknown, from: 'push' | 'end'): readonly ChatChunk[] | Rejection {
  refusePromise(result);
  if (Array.isArray(result) && result.every((chunk) => isFields(chunk) && Array.isArray(chunk['choices'])))
    return result as readonly ChatChunk[];
  if (isFields(result) && result['action'] === 'reject') return result as unknown as Rejection;
  throw new Error(`${from} returned neither a list of chunks nor a rejection`);
}

/** Not asked of the shipped guards: their tests know. */
export function requireJson(chunks: readonly ChatChunk[], from: 'push' | 'end'): void {
  for (const chunk of chunks) {
    const problem = jsonProblem(chunk);
    if (problem !== undefined) throw new Error(`${from} returned a chunk that cannot be written as JSON: ${problem}`);
  }
}
