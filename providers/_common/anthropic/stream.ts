import {
  type CallInfo,
  type ChatChunk,
  type ChunkDelta,
  isText,
  type StreamDecoder,
  type StreamEvent,
  tryParseJson,
  withFacts,
} from 'gw/contract';
import { argumentsOf, type Fields, isFields, withoutAbsent } from '../fields.ts';
import { annotationsOf } from './citations.ts';
import { isErrorEvent, secondMessage, streamError } from './errors.ts';
import { sealedItem, thoughtItem } from './reasoning.ts';
import { finishOf, refusalIn } from './response.ts';
import { ANSWER_TOOL } from './tools.ts';
import { factsOf, readCounts, toUsage } from './usage.ts';
import type { MessagesVariant } from './variant.ts';

/** A decoder for one streamed answer. Each event's data is one event of the vendor as JSON. See docs/providers.md#claude-models. */
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

/** Citations of a block of text, which are sent on once it is known where the text ends. */
interface CitedState {
  /** Where the block begins in the content. */
  readonly start: number;
  readonly citations: unknown[];
}

/** Characters of citations that may wait for the end of their block; more than the vendor can be expected to send. */
const MAX_WAITING = 16 * 1024 * 1024;

/** A piece of text as the vendor writes it, without anything that JSON escapes: most events of a stream, which need no parser. */
const PLAIN_TEXT =
  /^\{"type": ?"content_block_delta", ?"index": ?\d+, ?"delta": ?\{"type": ?"text_delta", ?"text": ?"([^"\\\x00-\x1f]*)"\} ?\}$/;

/** What a content block adds to: calls of the caller's tools, the structured answer, or nothing here. */
type BlockState = CallState | 'answer' | 'other';

class MessagesStream {
  readonly #variant: MessagesVariant;
  #id: string | undefined;
  #model: string;
  #hasStarted = false;
  /** What the first event says of usage, and why the answer ended, where it is whole already. */
  #usage: Fields = {};
  #reason: unknown;
  /** Characters of content so far, in UTF-16 code units. */
  #length = 0;
  /** By the vendor's index of the block. */
  readonly #blocks = new Map<unknown, BlockState>();
  readonly #calls: CallState[] = [];
  /** Places in `reasoning_details`, by block. */
  readonly #thoughts = new Map<unknown, number>();
  readonly #cited = new Map<unknown, CitedState>();
  #waiting = 0;
  #answer: { hasFragment: boolean; readonly input: string } | undefined;
  #isFinished = false;

  constructor(model: string, variant: MessagesVariant) {
    this.#model = model;
    this.#variant = variant;
  }

  read({ data }: StreamEvent): readonly ChatChunk[] {
    const plain = this.#isFinished ? undefined : PLAIN_TEXT.exec(data)?.[1];
    if (plain !== undefined) return this.#text(plain);
    const event = tryParseJson(data);
    if (!isFields(event)) return [];
    if (isErrorEvent(event)) throw streamError(event, this.#variant);
    if (event['type'] === 'message_start') return this.#start(event);
    return this.#isFinished ? [] : this.#read(event, data.length);
  }

  #read(event: Fields, characters: number): readonly ChatChunk[] {
    switch (event['type']) {
      case 'content_block_start':
        return this.#openBlock(event);
      case 'content_block_delta':
        return this.#extendBlock(event, characters);
      case 'content_block_stop':
        return this.#closeBlock(event['index']);
      case 'message_delta':
        return this.#finish(event);
      case 'message_stop':
        return this.#finish({ delta: { stop_reason: this.#reason } });
      default:
        return [];
    }
  }

  #start({ message }: Fields): readonly ChatChunk[] {
    if (!isFields(message)) return [];
    if (this.#hasStarted && this.#id !== undefined && message['id'] === this.#id) return []; // some places say it twice
    if (this.#hasStarted) throw secondMessage(this.#variant);
    this.#hasStarted = true;
    const { id, model, usage, content, stop_reason: reason } = message;
    if (typeof id === 'string') this.#id = id;
    if (this.#variant.isDirect && typeof model === 'string' && model !== '') this.#model = model;
    if (isFields(usage)) this.#usage = usage;
    this.#reason = reason;
    return Array.isArray(content)
      ? content.flatMap((block: unknown, index) => [
          ...this.#openBlock({ index, content_block: block }),
          ...this.#closeBlock(index),
        ])
      : [];
  }

  #openBlock({ index, content_block: block }: Fields): readonly ChatChunk[] {
    if (!isFields(block)) return [];
    switch (block['type']) {
      case 'tool_use':
        return this.#openCall(index, block);
      case 'redacted_thinking':
        return this.#sealed(index, block);
      case 'text':
        return this.#openText(index, block);
      case 'thinking':
        return [...this.#thinking(index, block['thinking']), ...this.#signature(index, block['signature'])];
      default:
        this.#blocks.set(index, 'other');
        return [];
    }
  }

  #openText(index: unknown, { text, citations }: Fields): readonly ChatChunk[] {
    this.#cited.set(index, { start: this.#length, citations: Array.isArray(citations) ? [...citations] : [] });
    return this.#text(text);
  }

  /** What a block says when it is over: its citations, or whole the arguments that came without fragments. */
  #closeBlock(index: unknown): readonly ChatChunk[] {
    const state = this.#blocks.get(index);
    if (typeof state === 'object') return this.#wholeArguments(state);
    const cited = this.#cited.get(index);
    if (!cited) return [];
    this.#cited.delete(index);
    const annotations = annotationsOf(cited.citations, { start: cited.start, end: this.#length });
    return annotations.length > 0 ? this.#chunk({ annotations }) : [];
  }

  /** Once: clients of other wires end a call before what comes next. */
  #wholeArguments(call: CallState): readonly ChatChunk[] {
    if (call.hasFragment) return [];
    call.hasFragment = true;
    return this.#arguments(call.index, call.input);
  }

  #openCall(block: unknown, { id, name, input }: Fields): readonly ChatChunk[] {
    const whole = argumentsOf({ input });
    if (name === ANSWER_TOOL) {
      this.#answer = { hasFragment: false, input: whole };
      this.#blocks.set(block, 'answer');
      return [];
    }
    const call: CallState = { index: this.#calls.length, input: whole, hasFragment: false };
    this.#calls.push(call);
    this.#blocks.set(block, call);
    const head = {
      index: call.index,
      ...(typeof id === 'string' && { id }),
      type: 'function',
      function: { name: typeof name === 'string' ? name : '', arguments: '' },
    };
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

  #extendBlock({ index, delta }: Fields, characters: number): readonly ChatChunk[] {
    if (!isFields(delta)) return [];
    switch (delta['type']) {
      case 'text_delta':
        return this.#text(delta['text']);
      case 'input_json_delta':
        return this.#input(index, delta['partial_json']);
      case 'thinking_delta':
        return this.#thinking(index, delta['thinking']);
      case 'signature_delta':
        return this.#signature(index, delta['signature']);
      case 'citations_delta':
        return this.#cite(index, delta['citation'], characters);
      default:
        return [];
    }
  }

  #cite(index: unknown, citation: unknown, characters: number): readonly ChatChunk[] {
    this.#waiting += characters;
    if (this.#waiting > MAX_WAITING) throw new Error('the answer cites without end');
    this.#cited.get(index)?.citations.push(citation);
    return [];
  }

  #text(text: unknown): readonly ChatChunk[] {
    if (!isText(text)) return [];
    this.#length += text.length;
    return this.#chunk({ content: text });
  }

  #thinking(block: unknown, text: unknown): readonly ChatChunk[] {
    return isText(text)
      ? this.#chunk({ reasoning_content: text, reasoning_details: [thoughtItem(this.#thought(block), { text })] })
      : [];
  }

  #signature(block: unknown, signature: unknown): readonly ChatChunk[] {
    return isText(signature)
      ? this.#chunk({ reasoning_details: [thoughtItem(this.#thought(block), { signature })] })
      : [];
  }

  /** A fragment of arguments; one of a block that was never opened keeps the vendor's index. */
  #input(block: unknown, fragment: unknown): readonly ChatChunk[] {
    const state = this.#blocks.get(block);
    if (!isText(fragment) || state === 'other') return [];
    if (state === 'answer') {
      if (this.#answer) this.#answer.hasFragment = true;
      return this.#text(fragment);
    }
    if (state) state.hasFragment = true;
    return this.#arguments(state?.index ?? (typeof block === 'number' ? block : 0), fragment);
  }

  #arguments(index: number, text: string): ChatChunk[] {
    return this.#chunk({ tool_calls: [{ index, function: { arguments: text } }] });
  }

  /** The end: first what blocks that did not end have yet to say, then the reason and the usage. An event of an unexpected form is ignored. */
  #finish({ delta, usage }: Fields): readonly ChatChunk[] {
    if (!isFields(delta) || (usage !== undefined && usage !== null && !isFields(usage))) return [];
    const reason = finishOf(delta['stop_reason'] ?? this.#reason, this.#answer !== undefined);
    if (reason === null) return [];
    this.#isFinished = true;
    const whole = { ...this.#usage, ...(isFields(usage) && withoutAbsent(usage)) }; // numbers of the end are cumulative, and win
    return [
      ...this.#unsaid(),
      {
        ...this.#head(),
        choices: [{ index: 0, delta: refusalIn(delta['stop_details']), finish_reason: reason }],
        usage: withFacts(toUsage(readCounts(whole)), factsOf(whole)),
      },
    ];
  }

  #unsaid(): ChatChunk[] {
    const cited = [...this.#cited.keys()].flatMap((index) => this.#closeBlock(index));
    const answer = this.#answer && !this.#answer.hasFragment ? this.#chunk({ content: this.#answer.input }) : [];
    return [...cited, ...answer, ...this.#calls.flatMap((call) => this.#wholeArguments(call))];
  }

  #head(): Pick<ChatChunk, 'id' | 'model'> {
    return { ...(this.#id !== undefined && { id: this.#id }), model: this.#model };
  }

  #chunk(delta: ChunkDelta): ChatChunk[] {
    return [{ ...this.#head(), choices: [{ index: 0, delta, finish_reason: null }] }];
  }
}
