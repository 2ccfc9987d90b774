import { type CallInfo, type ChatChunk, type ChunkDelta, isText, plainCallName, withFacts } from 'gw/contract';
import { type Fields, isFields } from 'gw/common-wire';
import { annotationsOf } from '../../_common/anthropic/citations.ts';
import { sealedItem, thoughtItem } from '../../_common/anthropic/reasoning.ts';
import { ANSWER_TOOL } from '../../_common/anthropic/tools.ts';
import { answerId } from '../common.ts';
import { toCitation } from './citations.ts';
import { converseUsage, finishOf, tierFacts } from './response.ts';

/** Characters of citations that may wait for the end of their block; more than the service can be expected to send. */
const MAX_WAITING = 16 * 1024 * 1024;

interface CallState {
  readonly index: number;
  hasFragment: boolean;
}

/** One streamed answer of Converse, or of Nova, event by event. Source: Amazon Bedrock API reference, "ConverseStreamOutput", 2026-11-21. */
export class ConverseStream {
  readonly #head: Pick<ChatChunk, 'id' | 'model'>;
  /** By the service's index of the block. */
  readonly #blocks = new Map<unknown, CallState | 'answer'>();
  readonly #calls: CallState[] = [];
  /** Places in `reasoning_details`, by block. */
  readonly #thoughts = new Map<unknown, number>();
  #answer: { hasFragment: boolean } | undefined;
  /** Characters of content so far, in UTF-16 code units. */
  #length = 0;
  /** Where the block that runs begins in the content: those of text are not announced. */
  #start = 0;
  /** What it cites, which is sent on once it is known where the text it supports ends. */
  #citations: Fields[] = [];
  #waiting = 0;

  constructor(call: CallInfo) {
    this.#head = { id: answerId(call), model: call.model };
  }

  read(type: string, event: unknown): ChatChunk[] {
    if (!isFields(event)) return [];
    switch (type) {
      case 'contentBlockStart':
        return this.#open(event);
      case 'contentBlockDelta':
        return this.#extend(event);
      case 'contentBlockStop':
        return this.#close(event);
      case 'messageStop':
        return this.#stop(event);
      case 'metadata':
        return this.#metadata(event);
      default:
        return [];
    }
  }

  #open({ contentBlockIndex: block, start }: Fields): ChatChunk[] {
    const toolUse = isFields(start) ? start['toolUse'] : undefined;
    if (!isFields(toolUse)) return [];
    const { toolUseId: id } = toolUse;
    const name = plainCallName(toolUse['name']);
    if (name === ANSWER_TOOL) {
      this.#answer = { hasFragment: false };
      this.#blocks.set(block, 'answer');
      return [];
    }
    const call: CallState = { index: this.#calls.length, hasFragment: false };
    this.#calls.push(call);
    this.#blocks.set(block, call);
    return this.#chunk({
      tool_calls: [
        {
          index: call.index,
          ...(typeof id === 'string' && { id }),
          type: 'function',
          function: { name, arguments: '' },
        },
      ],
    });
  }

  #extend({ contentBlockIndex: block, delta }: Fields): ChatChunk[] {
    if (!isFields(delta)) return [];
    const { text, toolUse, reasoningContent, citation } = delta;
    if (isText(text)) return this.#text(text);
    if (isFields(citation)) return this.#cite(citation);
    if (isFields(toolUse)) return this.#input(block, toolUse['input']);
    return isFields(reasoningContent) ? this.#think(block, reasoningContent) : [];
  }

  #text(text: string): ChatChunk[] {
    this.#length += text.length;
    return this.#chunk({ content: text });
  }

  #cite(value: Fields): ChatChunk[] {
    const citation = toCitation(value);
    this.#waiting += JSON.stringify(citation).length;
    if (this.#waiting > MAX_WAITING) throw new Error('the answer cites without end');
    this.#citations.push(citation);
    return [];
  }

  /** A fragment of arguments; one of a block that was never opened belongs to no call. */
  #input(block: unknown, fragment: unknown): ChatChunk[] {
    const state = this.#blocks.get(block);
    if (!isText(fragment) || !state) return [];
    if (state === 'answer') {
      if (this.#answer) this.#answer.hasFragment = true;
      return this.#chunk({ content: fragment });
    }
    state.hasFragment = true;
    return this.#arguments(state, fragment);
  }

  #arguments({ index }: CallState, text: string): ChatChunk[] {
    return this.#chunk({ tool_calls: [{ index, function: { arguments: text } }] });
  }

  #think(block: unknown, { text, signature, redactedContent: data }: Fields): ChatChunk[] {
    if (isText(text))
      return this.#chunk({ reasoning_content: text, reasoning_details: [thoughtItem(this.#thought(block), { text })] });
    if (isText(signature))
      return this.#chunk({ reasoning_details: [thoughtItem(this.#thought(block), { signature })] });
    return isText(data) ? this.#chunk({ reasoning_details: [sealedItem(this.#thought(block), data)] }) : [];
  }

  /** The place of a block's item among the thoughts. */
  #thought(block: unknown): number {
    const place = this.#thoughts.get(block) ?? this.#thoughts.size;
    this.#thoughts.set(block, place);
    return place;
  }

  #close({ contentBlockIndex: block }: Fields): ChatChunk[] {
    const state = this.#blocks.get(block);
    const annotations = annotationsOf(this.#citations, { start: this.#start, end: this.#length });
    this.#start = this.#length;
    this.#citations = [];
    if (annotations.length > 0) return this.#chunk({ annotations });
    return typeof state === 'object' ? this.#noArguments(state) : [];
  }

  /** The end of a call without fragments, once: clients of other wires end it before what comes next. */
  #noArguments(call: CallState): ChatChunk[] {
    if (call.hasFragment) return [];
    call.hasFragment = true;
    return this.#arguments(call, '{}');
  }

  /** First what calls that did not end have yet to say, then the reason. */
  #stop({ stopReason }: Fields): ChatChunk[] {
    const reason = finishOf(stopReason, this.#answer !== undefined && this.#calls.length === 0);
    if (reason === null) return [];
    const answer = this.#answer?.hasFragment === false ? this.#chunk({ content: '{}' }) : [];
    const calls = this.#calls.flatMap((call) => this.#noArguments(call));
    return [...answer, ...calls, { ...this.#head, choices: [{ index: 0, delta: {}, finish_reason: reason }] }];
  }

  /** Comes after the reason. */
  #metadata({ usage, serviceTier }: Fields): ChatChunk[] {
    const counted = converseUsage(usage);
    return counted ? [{ ...this.#head, choices: [], usage: withFacts(counted, tierFacts(serviceTier)) }] : [];
  }

  #chunk(delta: ChunkDelta): ChatChunk[] {
    return [{ ...this.#head, choices: [{ index: 0, delta, finish_reason: null }] }];
  }
}
