import { isOfResponses, isPhase } from '../../../host/common/sealed-thoughts.ts';
import {
  type ChatChunk,
  type ChatRequest,
  type ChunkDelta,
  type Exchange,
  type Fields,
  GatewayError,
  isFields,
  isText,
  type ToolCallDelta,
  tryParseJson,
} from '../../../host/contract/index.ts';
import { type ClientFailure, failureOf } from '../../../host/wire/client-failure.ts';
import type { ClientStream } from '../../../host/wire/client-wire.ts';
import { sseComment } from '../../../host/wire/sse-comment.ts';
import { estimateAnswer, estimateTokens } from '../estimate.ts';
import { type CallDraft, Calls } from './calls.ts';
import { CONTENT_TYPE, errorEvent, eventOf, keepAlive, PING } from './events.ts';
import { noArguments, type Wishes, wishesOf } from './reply.ts';
import { SealedEnvelope, SealedItems } from './sealed-items.ts';
import { stopDetails, stopReason } from './stop-reason.ts';
import { FORMAT, sealThought, signsText } from './thoughts.ts';
import { type Counts, countsOf, NO_COUNTS, streamedUsageOf, usageOf, withoutZeroInput } from './usage.ts';

/** Ends of answers that may stop anywhere. */
const CUT_OFF: ReadonlySet<string | null> = new Set(['length', 'content_filter']);

/** What stands between two messages of one answer. */
const JOINT = '\n\n';

type Kind = 'text' | 'thinking' | 'call';

/** Writes the chunks of the common wire as events: one open block at a time, numbered in the order of opening. See docs/reference/ingress.md#messages-events. */
export class MessagesStream implements ClientStream {
  readonly contentType = CONTENT_TYPE;
  readonly frames = undefined;
  readonly keepAlive = keepAlive;
  readonly comment = sseComment;
  readonly #exchange: Exchange;
  readonly #wishes: Wishes;
  readonly #calls = new Calls();
  readonly #callIds = new Set<string>();
  #out = '';
  #isStarted = false;
  #open: Kind | undefined;
  #last: Kind | undefined;
  #next = 0;
  /** The open thought: its place in `reasoning_details`, its own signature, and what goes into an envelope in the place of one. */
  #thought: unknown;
  #signature = '';
  /** Its text, where that is not shown. */
  #hidden = '';
  #sealed = new SealedEnvelope();
  readonly #waiting = new SealedItems();
  #hasText = false;
  /** What the vendor of Responses has sealed came behind a text. */
  #isCut = false;
  #finish: string | null = null;
  #isRefused = false;
  #estimate = 0;
  #counts: Counts | undefined;
  #characters = 0;

  constructor(exchange: Exchange, value: Readonly<Fields>) {
    this.#exchange = exchange;
    this.#wishes = wishesOf(value);
  }

  chunk({ choices, usage }: ChatChunk): string {
    this.#start();
    for (const { index, delta, finish_reason: finish } of choices) {
      if (index !== 0) continue;
      this.#delta(delta);
      if (finish) this.#finish = finish;
    }
    if (usage) this.#counts = countsOf(usage);
    return this.#taken();
  }

  end(): string {
    try {
      this.#start();
      this.#close();
      for (const call of this.#calls.waiting()) this.#openCall(call);
      this.#close();
      if (this.#last === 'call') this.#sealedBlock(this.#waiting.takeLate((id) => this.#callIds.has(id)));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return this.error(failureOf(error, error.message, this.#exchange.id));
    }
    const reason = stopReason(this.#finish, this.#calls.hasOpened, this.#isRefused);
    const counts = this.#counts ?? { ...NO_COUNTS, input: this.#estimate, output: estimateAnswer(this.#characters) };
    this.#event('message_delta', {
      delta: { stop_reason: reason, stop_sequence: null, stop_details: stopDetails(reason), container: null },
      usage: streamedUsageOf(withoutZeroInput(counts)),
    });
    this.#event('message_stop', {});
    return this.#taken();
  }

  error(failure: ClientFailure): string {
    return this.#taken() + errorEvent(failure);
  }

  #taken(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #event(type: string, members: object): void {
    this.#out += eventOf(type, members);
  }

  /** The first event says what the request counts, if only roughly: agents stamp each message with it. */
  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { id, model, request } = this.#exchange;
    this.#estimate = estimateTokens(request as ChatRequest);
    this.#event('message_start', {
      message: {
        id: `msg_${id}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        usage: usageOf({ ...NO_COUNTS, input: this.#estimate, output: 1 }),
        container: null,
        diagnostics: null,
      },
    });
    this.#out += PING;
  }

  #delta({
    reasoning_content: reasoning,
    reasoning_details: details,
    content,
    refusal,
    tool_calls: calls,
  }: ChunkDelta): void {
    const items = (details ?? []).filter(isFields);
    for (const item of items) this.#item(item, calls ?? []);
    if (isText(reasoning) && !items.some(({ text }) => isText(text))) this.#think(undefined, reasoning);
    if (isText(content)) this.#text(content);
    if (isText(refusal)) {
      this.#isRefused = true;
      this.#text(refusal);
    }
    for (const [place, call] of (calls ?? []).entries()) this.#call(call, place);
  }

  /** An item of `reasoning_details`: text and signature of a thought, or something that only its vendor can read. */
  #item(item: Readonly<Fields>, calls: readonly ToolCallDelta[]): void {
    const { index, format, text, signature, data } = item;
    const isOwn = format === FORMAT;
    if (isText(text)) this.#think(index, text);
    if (isOwn && isText(signature)) {
      this.#openThought(index);
      this.#signature += signature;
    } else if (isOwn && isText(data)) this.#block({ type: 'redacted_thinking', data });
    else if (!isOwn && signsText(item)) return;
    else if (!isOwn && (isText(data) || isText(signature) || isText(text) || isPhase(item))) {
      const { text: _text, ...sealed } = item;
      this.#sealedItem(sealed, calls);
    }
  }

  #sealedItem(item: Fields, calls: readonly ToolCallDelta[]): void {
    if (this.#hasText && isOfResponses(item)) this.#isCut = true;
    if (this.#open === 'thinking' && isOfResponses(item)) {
      for (const each of [...this.#waiting.takeLoose(), item]) this.#sealed.add(each); // its own text is open, also where it names the call that follows
      return;
    }
    if (this.#waiting.keepForCall(item, calls, (id) => this.#calls.isWaiting(id))) return;
    if (this.#open === 'thinking') this.#sealed.add(item);
    else if (this.#hasText || this.#open === 'call') this.#waiting.keep(item);
    else this.#sealedBlock([item]);
  }

  #think(index: unknown, text: string): void {
    this.#openThought(index);
    this.#characters += text.length;
    if (this.#wishes.hidesThoughts) this.#hidden += text;
    else this.#piece({ type: 'thinking_delta', thinking: text });
  }

  #openThought(index: unknown): void {
    const isSame =
      this.#open === 'thinking' && (index === undefined || this.#thought === undefined || this.#thought === index);
    if (!isSame) {
      this.#begin('thinking', { type: 'thinking', thinking: '', signature: '' });
      this.#thought = undefined;
    }
    this.#thought ??= index;
  }

  #text(given: string): void {
    this.#sealedBlock(this.#last === 'call' ? this.#waiting.takeLoose() : this.#waiting.takeBeforeText());
    const text = this.#open === 'text' ? given : this.#withoutJoint(given);
    if (text === '') return;
    if (this.#open !== 'text') this.#begin('text', { type: 'text', text: '' });
    this.#hasText = true;
    this.#characters += text.length;
    this.#piece({ type: 'text_delta', text });
  }

  /** A message behind another one begins with a blank line. Where what its vendor sealed stands between the two, they are blocks, and come back joined by one. */
  #withoutJoint(text: string): string {
    const isJoint = this.#isCut && text.startsWith(JOINT);
    this.#isCut = false;
    return isJoint ? text.slice(JOINT.length) : text;
  }

  #call(delta: ToolCallDelta, place: number): void {
    const { call, piece } = this.#calls.take(delta, place);
    if (this.#open === 'call' && this.#calls.open === call) this.#input(piece);
    for (let next = this.#calls.next(); next; next = this.#calls.next()) this.#openCall(next);
  }

  #openCall(call: CallDraft): void {
    const isTaken = call.id === '' || this.#callIds.has(call.id);
    const id = isTaken ? `toolu_${this.#exchange.id}_${this.#next}` : call.id;
    this.#callIds.add(id);
    this.#sealedBlock(this.#waiting.takeFor(call.id));
    this.#begin('call', {
      type: 'tool_use',
      id,
      name: this.#wishes.nameOf(call.name),
      input: {},
      caller: { type: 'direct' },
    });
    this.#input(this.#calls.start(call));
  }

  #input(piece: string): void {
    if (piece === '') return;
    this.#characters += piece.length;
    this.#piece({ type: 'input_json_delta', partial_json: piece });
  }

  /** A block that is whole at once. */
  #block(block: Readonly<Fields>): void {
    this.#close();
    this.#event('content_block_start', { index: this.#next, content_block: block });
    this.#event('content_block_stop', { index: this.#next });
    this.#next += 1;
  }

  /** A thought that shows nothing. Clients take its signature from a delta. */
  #sealedBlock(items: readonly Fields[]): void {
    if (items.length === 0) return;
    this.#begin('thinking', { type: 'thinking', thinking: '', signature: '' });
    for (const item of items) this.#sealed.add(item);
    this.#close();
  }

  #begin(kind: Kind, block: Readonly<Fields>): void {
    this.#close();
    this.#open = this.#last = kind;
    this.#event('content_block_start', { index: this.#next, content_block: block });
  }

  #piece(delta: object): void {
    this.#event('content_block_delta', { index: this.#next, delta });
  }

  #close(): void {
    if (this.#open === undefined) return;
    if (this.#open === 'thinking') this.#closeThought();
    else if (this.#open === 'call') this.#closeCall();
    this.#event('content_block_stop', { index: this.#next });
    this.#open = undefined;
    this.#next += 1;
  }

  /** Clients make an object of whatever has come: half of one would run a tool with something else than was meant, unless the answer says that it was cut off. */
  #closeCall(): void {
    const input = this.#calls.close();
    if (input.trim() === '') this.#piece({ type: 'input_json_delta', partial_json: '{}' });
    else if (!CUT_OFF.has(this.#finish) && !isFields(tryParseJson(input))) throw noArguments();
  }

  /** Clients replace the signature by the one that comes: it leaves whole. */
  #closeThought(): void {
    this.#piece({
      type: 'signature_delta',
      signature: this.#signature || sealThought(this.#hidden, this.#sealed.items),
    });
    this.#signature = '';
    this.#hidden = '';
    this.#sealed = new SealedEnvelope();
    this.#thought = undefined;
  }
}
