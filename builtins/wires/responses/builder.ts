import { isBeforeText, isOfResponses } from '../../../host/common/sealed-thoughts.ts';
import type { ChatChunk, ChatReply, ChunkDelta, Fields, Usage } from '../../../host/contract/index.ts';
import { argumentsOf, type StreamedCall, StreamedCalls } from './calls.ts';
import { isGiven } from './checks.ts';
import {
  annotationOf,
  CallItem,
  type Emit,
  type ItemPlace,
  type ItemStatus,
  MessageItem,
  type OpenItem,
  ReasoningItem,
} from './items.ts';
import { detailsOf, Stretch } from './reasoning.ts';
import type { Asked } from './request.ts';
import { type AnswerHead, endOf, responseObject } from './response-object.ts';

const NOTHING: readonly unknown[] = [];
/** What stands between two messages of one answer. */
const JOINT = '\n\n';

/**
 * Makes the items of an answer from chunks of the common wire, one open at a time, in the order in which they come. A whole
 * answer goes the same way, so that it equals what its stream ends with. See docs/reference/ingress.md#responses-events.
 */
export class AnswerBuilder {
  readonly #head: AnswerHead;
  readonly #asked: Asked;
  readonly #emit: Emit;
  readonly #output: Fields[] = [];
  readonly #calls = new StreamedCalls();
  readonly #callIds = new Set<string>();
  #open: OpenItem | undefined;
  /** The call whose item is open. */
  #openCalled: StreamedCall | undefined;
  /** Signatures that came while something else was open. */
  #pending = new Stretch();
  /** Tokens whose probabilities came before the text that they are of. */
  #tokens: unknown[] = [];
  #hasText = false;
  /** What the vendor of this API has sealed came behind a text. */
  #isCut = false;
  #finish: string | undefined;
  #usage: Usage | undefined;

  constructor(head: AnswerHead, asked: Asked, emit: Emit) {
    this.#head = head;
    this.#asked = asked;
    this.#emit = emit;
  }

  chunk({ choices, usage }: ChatChunk): void {
    if (usage) this.#usage = usage;
    for (const { index, delta, logprobs, finish_reason: finish } of choices) {
      if (index !== 0) continue;
      this.#delta(delta, logprobs);
      if (finish) this.#finish = finish;
    }
  }

  /** A whole answer. */
  reply({ choices, usage }: ChatReply): void {
    const choice = choices.find(({ index }) => index === 0) ?? choices[0];
    if (usage) this.#usage = usage;
    if (!choice) return;
    const { message, logprobs, finish_reason: finish } = choice;
    for (const delta of deltasOf(message)) this.#delta(delta, delta.content ? logprobs : undefined);
    this.#finish = finish ?? undefined;
  }

  /** The answer before anything of it is there. */
  begun(): Fields {
    return responseObject(this.#head, this.#asked, { status: 'in_progress', output: [] });
  }

  /** Ends a complete answer. */
  end(): Fields {
    const { status, reason } = endOf(this.#finish);
    for (let call = this.#calls.next(); call; call = this.#calls.next()) {
      this.#close('completed');
      this.#openCall(call);
    }
    this.#close(status);
    return responseObject(this.#head, this.#asked, { status, reason, output: this.#output, usage: this.#usage });
  }

  /** An answer that broke off: with what was there, and no events that end it. */
  failed(error: Fields): Fields {
    const output = this.#open ? [...this.#output, this.#open.finished('incomplete')] : this.#output;
    return responseObject(this.#head, this.#asked, { status: 'failed', error, output, usage: this.#usage });
  }

  #delta(delta: ChunkDelta, logprobs: unknown): void {
    this.#reason(delta);
    const { content, refusal, annotations } = delta;
    this.#text(content ?? '', this.#asked.showsLogprobs ? logprobsOf(logprobs) : NOTHING);
    if (Array.isArray(annotations) && this.#open instanceof MessageItem) this.#annotate(annotations, this.#open);
    if (typeof refusal === 'string' && refusal !== '') this.#message('refusal').addText(refusal, NOTHING);
    (delta.tool_calls ?? []).forEach((call, at) => this.#call(call, at));
  }

  /** A piece of text with the probabilities of its tokens, which may also come before it or behind. */
  #text(given: string, tokens: readonly unknown[]): void {
    const isSpeaking = this.#open instanceof MessageItem && this.#open.kind === 'text';
    const text = isSpeaking ? given : this.#withoutJoint(given);
    if (text === '' && tokens.length === 0) return;
    if (text === '' && !isSpeaking) {
      for (const token of tokens) this.#tokens.push(token);
      return;
    }
    this.#hasText = true;
    this.#message('text').addText(text, this.#tokens.length > 0 ? [...this.#tokens, ...tokens] : tokens);
    if (this.#tokens.length > 0) this.#tokens = [];
  }

  /** A message behind another one begins with a blank line. Where what its vendor sealed stands between the two, they are items, and come back joined by one. */
  #withoutJoint(text: string): string {
    if (text === '') return text;
    const isJoint = this.#isCut && text.startsWith(JOINT);
    this.#isCut = false;
    return isJoint ? text.slice(JOINT.length) : text;
  }

  /** Reasoning is always given, because nothing is kept here: its vendor may want it back. Whether its text is shown is the client's to ask. */
  #reason(delta: ChunkDelta): void {
    const details = detailsOf(delta.reasoning_details);
    const text =
      delta.reasoning_content ||
      details.map((detail) => (typeof detail['text'] === 'string' ? detail['text'] : '')).join('');
    if (this.#open instanceof ReasoningItem) {
      const { stretch } = this.#open;
      if (details.some((detail) => stretch.isOther(detail))) this.#close('completed');
    }
    if (text !== '') this.#reasoning().addText(text);
    for (const detail of details) {
      if (isOfResponses(detail) && this.#hasText) this.#isCut = true;
      this.#stretchFor().add(detail);
    }
  }

  #stretchFor(): Stretch {
    return !this.#open || this.#open instanceof ReasoningItem ? this.#reasoning().stretch : this.#pending;
  }

  #reasoning(): ReasoningItem {
    if (this.#open instanceof ReasoningItem) return this.#open;
    this.#close('completed');
    return (this.#open = this.#newReasoning());
  }

  #newReasoning(): ReasoningItem {
    return new ReasoningItem(this.#place(), this.#asked.showsReasoning);
  }

  #message(kind: MessageItem['kind']): MessageItem {
    if (this.#open instanceof MessageItem && this.#open.kind === kind) return this.#open;
    this.#close('completed');
    const item = new MessageItem(this.#place(), kind);
    this.#open = item;
    return item;
  }

  #annotate(annotations: readonly unknown[], message: MessageItem): void {
    for (const value of annotations) {
      const annotation = annotationOf(value);
      if (annotation) message.annotate(annotation);
    }
  }

  /** A piece of a call: it goes on where the call is open, and waits where another one is not whole yet. */
  #call(delta: Fields, place: number): void {
    const call = this.#calls.of(delta, place);
    const fragment = argumentsOf(delta);
    if (call.state === 'open' && this.#open instanceof CallItem) this.#open.addArguments(fragment);
    else if (call.state === 'waiting') call.waiting += fragment;
    for (let next = this.#calls.next(); next && next.name !== '' && this.#mayOpen(); next = this.#calls.next()) {
      this.#close('completed');
      this.#openCall(next);
    }
  }

  #mayOpen(): boolean {
    return !(this.#open instanceof CallItem) || this.#open.isWhole;
  }

  #openCall(call: StreamedCall): void {
    const place = this.#place();
    const isTaken = call.id === '' || this.#callIds.has(call.id);
    const id = isTaken ? `call_${this.#head.requestId}_${place.index}` : call.id;
    this.#callIds.add(id);
    const item = new CallItem(place, this.#asked.tools.find(call.name), id);
    this.#open = item;
    this.#openCalled = call;
    call.state = 'open';
    item.addArguments(call.waiting);
    call.waiting = '';
  }

  /** Ends the item that is open, and gives the signatures that waited an item of their own. */
  #close(status: ItemStatus): void {
    if (this.#openCalled) this.#openCalled.state = 'closed';
    this.#openCalled = undefined;
    if (this.#open) this.#output.push(this.#open.close(status));
    this.#open = undefined;
    if (this.#pending.isEmpty) return;
    const item = this.#newReasoning();
    item.stretch.take(this.#pending);
    this.#pending = new Stretch();
    this.#output.push(item.close('completed'));
  }

  #place(): ItemPlace {
    return { emit: this.#emit, requestId: this.#head.requestId, index: this.#output.length };
  }
}

function logprobsOf(value: unknown): readonly unknown[] {
  const content = isGiven(value) ? (value as Fields)['content'] : undefined;
  return Array.isArray(content) ? content : NOTHING;
}

/** The deltas that a stream of the same answer would have. */
function* deltasOf(message: ChatReply['choices'][number]['message']): Generator<ChunkDelta> {
  const details = detailsOf(message.reasoning_details);
  const calls = message.tool_calls ?? [];
  const callIds = new Set<unknown>(calls.map(({ id }) => id ?? ''));
  const ofCall = (detail: Fields): boolean => typeof detail['id'] === 'string' && callIds.has(detail['id']);
  const byCall = Map.groupBy(details.filter(ofCall), ({ id }) => id);
  const ofText = (detail: Fields): boolean =>
    typeof detail['start'] === 'number' &&
    detail['thought'] !== true &&
    !(isBeforeText(detail) && detail['start'] === 0);
  const thoughts = details.filter((detail) => !ofCall(detail) && !ofText(detail));
  if (thoughts.some(({ text }) => typeof text === 'string')) {
    for (const detail of thoughts)
      yield {
        reasoning_details: [detail],
        ...(typeof detail['text'] === 'string' && { reasoning_content: detail['text'] }),
      };
  } else yield { reasoning_content: message.reasoning_content ?? null, reasoning_details: [...thoughts] };
  const { refusal, annotations } = message;
  yield { content: message.content, annotations, refusal };
  yield { reasoning_details: details.filter((detail) => !ofCall(detail) && ofText(detail)) };
  for (const [index, call] of calls.entries())
    yield { reasoning_details: byCall.get(call.id) ?? [], tool_calls: [{ ...call, index }] };
}
