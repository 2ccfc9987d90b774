import { fieldsIn } from '../_common/fields.ts';
import {
  type ChatChunk,
  type ChunkDelta,
  failedAnswer,
  finishReason,
  type StreamDecoder,
  type StreamEvent,
  type Usage,
} from 'gw/contract';
import type { Fields } from 'gw/common-wire';
import { usageOf } from './predictions.ts';

/** Events that end the stream although the answer is not complete. */
const FAILED: ReadonlySet<unknown> = new Set(['error', 'failed', 'canceled', 'aborted']);

/**
 * Reads the events of a prediction's stream. Beside the service's own there is `prediction`, which `converse` adds: in
 * front with the id, and after `done` with the metrics. Source: Replicate documentation, "Streaming output", 2026-11-21.
 */
export function openStream(): StreamDecoder {
  const decoder = new Decoder();
  return (event) => decoder.read(event);
}

class Decoder {
  #id: string | undefined;
  /** Known once `done` has come. */
  #finish: string | undefined;
  #isOver = false;

  read({ type, data }: StreamEvent): readonly ChatChunk[] {
    if (this.#isOver) return [];
    if (this.#finish !== undefined) return type === 'prediction' ? this.#end(fieldsIn(data)) : [];
    switch (type) {
      case 'prediction':
        return this.#begin(fieldsIn(data));
      case 'output':
        return data === '' ? [] : [this.#chunk({ content: data })];
      case 'error':
        throw failedAnswer(errorText(data));
      case 'done':
        return this.#done(fieldsIn(data));
      default:
        return [];
    }
  }

  #begin({ id }: Fields): readonly ChatChunk[] {
    if (this.#id === undefined && typeof id === 'string') this.#id = id;
    return [];
  }

  #done({ reason }: Fields): readonly ChatChunk[] {
    if (FAILED.has(reason)) throw failedAnswer(`the prediction is ${String(reason)}`);
    this.#finish = typeof reason === 'string' && reason !== '' ? finishReason(reason) : 'stop';
    return [];
  }

  #end(prediction: Fields): readonly ChatChunk[] {
    this.#isOver = true;
    return [this.#chunk({}, this.#finish, usageOf(prediction))];
  }

  #chunk(delta: ChunkDelta, finish: string | null = null, usage?: Usage): ChatChunk {
    return {
      ...(this.#id !== undefined && { id: this.#id }),
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(usage && { usage }),
    };
  }
}

/** `{detail}` or plain text. */
function errorText(data: string): string {
  const { detail } = fieldsIn(data);
  const text = typeof detail === 'string' ? detail : /^\s*[[{]/.test(data) ? '' : data;
  return text.trim() || 'the prediction failed';
}
