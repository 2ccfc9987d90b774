import type { CallInfo, ChatChunk, ChunkDelta, StreamDecoder, StreamEvent } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';
import { streamError } from './errors.ts';
import { sealedItem, thoughtItem } from './reasoning.ts';
import { finishOf } from './response.ts';
import { ANSWER_TOOL } from './tools.ts';
import { readCounts, type TokenCounts, toUsage } from './usage.ts';
import type { MessagesVariant } from './variant.ts';

/** A decoder for one streamed answer. Each event's data is one event of the vendor as JSON. Source: providers reference 5.1. */
export function openMessagesStream(call: CallInfo, variant: MessagesVariant): StreamDecoder {
  const stream = new MessagesStream(call.model, variant);
  return (event) => stream.read(event);
}

interface CallState {
  readonly index: number;
  /** The arguments, where no fragment brings them. */
  readonly input: string;
  hasFragment: boolean;
}

/** What a content block adds to: calls of the caller's tools, the structured answer, or nothing here. */
type BlockState = CallState | 'answer' | 'other';

class MessagesStream {
  readonly #variant: MessagesVariant;
  #id: string | undefined;
  #model: string;
  #counts: TokenCounts = readCounts(undefined);
  /** By the vendor's index of the block. */
  readonly #blocks = new Map<unknown, BlockState>();
  readonly #calls: CallState[] = [];
  /** Places in `reasoning_details`, by block. */
  readonly #thoughts = new Map<unknown, number>();
  #answer: { hasFragment: boolean; readonly input: string } | undefined;
  #isFinished = false;

  constructor(model: string, variant: MessagesVariant) {
    this.#model = model;
    this.#variant = variant;
  }

  read({ data }: StreamEvent): readonly ChatChunk[] {
    const event = parsed(data);
    if (!isFields(event)) return [];
    if (event['type'] === 'error') throw streamError(event, this.#variant);
    return this.#isFinished ? [] : this.#read(event);
  }

  #read(event: Fields): readonly ChatChunk[] {
    switch (event['type']) {
      case 'message_start': return this.#start(event);
      case 'content_block_start': return this.#openBlock(event);
      case 'content_block_delta': return this.#extendBlock(event);
      case 'message_delta': return this.#finish(event);
      default: return [];
    }
  }

  #start({ message }: Fields): readonly ChatChunk[] {
    if (!isFields(message)) return [];
    const { id, model, usage } = message;
    if (typeof id === 'string') this.#id = id;
    if (this.#variant.isDirect && typeof model === 'string' && model !== '') this.#model = model;
    this.#counts = readCounts(usage);
    return [];
  }

  #openBlock({ index, content_block: block }: Fields): readonly ChatChunk[] {
    if (!isFields(block)) return [];
    switch (block['type']) {
      case 'tool_use': return this.#openCall(index, block);
      case 'redacted_thinking': return this.#sealed(index, block);
      case 'text': return this.#text(block['text']);
      default:
        this.#blocks.set(index, 'other');
        return [];
    }
  }

  #openCall(block: unknown, { id, name, input }: Fields): readonly ChatChunk[] {
    const whole = JSON.stringify(isFields(input) ? input : {});
    if (name === ANSWER_TOOL) {
      this.#answer = { hasFragment: false, input: whole };
      this.#blocks.set(block, 'answer');
      return [];
    }
    const call: CallState = { index: this.#calls.length, input: whole, hasFragment: false };
    this.#calls.push(call);
    this.#blocks.set(block, call);
    const head = { index: call.index, ...(typeof id === 'string' && { id }), type: 'function', function: { name: typeof name === 'string' ? name : '', arguments: '' } };
    return this.#chunk({ tool_calls: [head] });
  }

  #sealed(block: unknown, { data }: Fields): readonly ChatChunk[] {
    return isText(data) ? this.#chunk({ reasoning_details: [sealedItem(this.#thought(block), data)] }) : [];
  }

  /** The place of a block's item among the thoughts. */
  #thought(block: unknown): number {
    const known = this.#thoughts.get(block) ?? this.#thoughts.size;
    this.#thoughts.set(block, known);
    return known;
  }

  #extendBlock({ index, delta }: Fields): readonly ChatChunk[] {
    if (!isFields(delta)) return [];
    switch (delta['type']) {
      case 'text_delta': return this.#text(delta['text']);
      case 'input_json_delta': return this.#input(index, delta['partial_json']);
      case 'thinking_delta': return this.#thinking(index, delta['thinking']);
      case 'signature_delta': return this.#signature(index, delta['signature']);
      default: return [];
    }
  }

  #text(text: unknown): readonly ChatChunk[] {
    return isText(text) ? this.#chunk({ content: text }) : [];
  }

  #thinking(block: unknown, text: unknown): readonly ChatChunk[] {
    return isText(text) ? this.#chunk({ reasoning_content: text, reasoning_details: [thoughtItem(this.#thought(block), { text })] }) : [];
  }

  #signature(block: unknown, signature: unknown): readonly ChatChunk[] {
    return isText(signature) ? this.#chunk({ reasoning_details: [thoughtItem(this.#thought(block), { signature })] }) : [];
  }

  /** A fragment of arguments; that of a block nobody opened keeps the vendor's index. */
  #input(block: unknown, fragment: unknown): readonly ChatChunk[] {
    const state = this.#blocks.get(block);
    if (!isText(fragment) || state === 'other') return [];
    if (state === 'answer') {
      if (this.#answer) this.#answer.hasFragment = true;
      return this.#chunk({ content: fragment });
    }
    if (state) state.hasFragment = true;
    return this.#arguments(state?.index ?? (typeof block === 'number' ? block : 0), fragment);
  }

  #arguments(index: number, text: string): ChatChunk[] {
    return this.#chunk({ tool_calls: [{ index, function: { arguments: text } }] });
  }

  /** The end: first whole the arguments that came without fragments, then the reason and the usage. An event that is not in order says nothing. */
  #finish({ delta, usage }: Fields): readonly ChatChunk[] {
    if (!isFields(delta) || (usage !== undefined && usage !== null && !isFields(usage))) return [];
    const reason = finishOf(delta['stop_reason'], this.#answer !== undefined);
    if (reason === null) return [];
    this.#isFinished = true;
    return [...this.#unsaid(), { ...this.#head(), choices: [{ index: 0, delta: {}, finish_reason: reason }], usage: toUsage(this.#countsAtEnd(usage)) }];
  }

  #unsaid(): ChatChunk[] {
    const answer = this.#answer && !this.#answer.hasFragment ? this.#chunk({ content: this.#answer.input }) : [];
    return [...answer, ...this.#calls.filter((call) => !call.hasFragment).flatMap(({ index, input }) => this.#arguments(index, input))];
  }

  /** What was read is told at the start, what was written at the end. */
  #countsAtEnd(usage: unknown): TokenCounts {
    const end = readCounts(usage);
    const start = this.#counts;
    return {
      input: start.input || end.input,
      output: isFields(usage) && typeof usage['output_tokens'] === 'number' ? end.output : start.output,
      cacheRead: start.cacheRead || end.cacheRead,
      cacheWrite: start.cacheWrite || end.cacheWrite,
      thinking: end.thinking || start.thinking,
    };
  }

  #head(): Pick<ChatChunk, 'id' | 'model'> {
    return { ...(this.#id !== undefined && { id: this.#id }), model: this.#model };
  }

  #chunk(delta: ChunkDelta): ChatChunk[] {
    return [{ ...this.#head(), choices: [{ index: 0, delta, finish_reason: null }] }];
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
