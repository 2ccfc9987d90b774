import { type Fields, isFields, type StreamEvent, tryParseJson } from '../../../host/contract/index.ts';
import type { PieceForm } from '../../../host/upstream/event-runs.ts';
import { bytesOfText } from '../../../host/upstream/sse.ts';
import { classOf } from '../../../host/upstream/fault-classes.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { Aside, SameWireStream } from '../../../host/wire/client-wire.ts';
import { sseComment } from '../../../host/wire/sse-comment.ts';
import { CONTENT_TYPE, errorEvent, eventOf, keepAlive } from './events.ts';
import { TEXTS, textsOf } from './texts.ts';

/** What the vendor may call an error. See docs/reference/ingress.md#error-types. */
const ERROR_TYPES: ReadonlySet<unknown> = new Set([
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'api_error',
  'overloaded_error',
  'timeout_error',
]);

const TEXTS_OF: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
]);

/** Where blocks that chunks hold have their text. */
const TEXT_OF_BLOCK: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['thinking', 'thinking'],
]);

/** Blocks and deltas that have a place in the common format. */
const COMMON_BLOCKS: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);
const COMMON_DELTA =
  /^\{"type":\s?"content_block_delta",\s?"index":\s?\d+,\s?"delta":\s?\{"type":\s?"(text_delta|thinking_delta|signature_delta)"/;
/** The most frequent event by far. */
const TEXT_PIECE: PieceForm = {
  before: /^\{"type":\s?"content_block_delta",\s?"index":\s?\d+,\s?"delta":\s?\{"type":\s?"text_delta",\s?"text":\s?"/,
  after: /^"\s?\}\s?\}$/,
};
const WORD = /^[\w-]{1,128}$/;
/** Events that stand around the blocks. */
const FRAME: ReadonlySet<unknown> = new Set(['message_start', 'message_delta', 'message_stop', 'ping', 'error']);

/** Passes the vendor's events on. The last one waits until guardrails have seen the whole answer. See docs/reference/ingress.md#messages-events. */
export class VendorStream implements SameWireStream {
  readonly contentType = CONTENT_TYPE;
  readonly frames = undefined;
  readonly piece: PieceForm | undefined = TEXT_PIECE;
  readonly keepAlive = keepAlive;
  readonly comment = sseComment;
  #last = '';
  #errorType: string | undefined;
  /** Open blocks that only the vendor's own clients know, by their index. */
  readonly #foreign = new Set<unknown>();
  /** Events in which guards have changed what no chunk holds. */
  readonly #edited = new WeakMap<StreamEvent, Readonly<Fields>>();

  event({ type, data }: StreamEvent, raw: string | undefined): string {
    if (this.#last !== '') {
      if (raw === '\n') this.#last += raw; // the rest of its own line end
      return ''; // nothing else follows the end
    }
    const isError = data.includes('"error"');
    const own: Readonly<Fields> = isError || type === '' || raw === undefined ? fieldsIn(data) : {};
    const name = nameOf(own, type);
    if (name === 'error') {
      const error = isFields(own['error']) ? own['error'] : {};
      if (ERROR_TYPES.has(error['type'])) this.#errorType = String(error['type']);
      return '';
    }
    const bytes = raw ?? bytesOfText(`event: ${name}\ndata: ${data}\n\n`);
    if (name !== 'message_stop') return bytes;
    this.#last = bytes;
    return '';
  }

  /** The head of an answer, signs of life, and blocks that begin without a text. */
  isOpening({ type: named, data }: StreamEvent): boolean {
    const { type = named, content_block: block } = fieldsIn(data);
    if (type === 'message_start' || type === 'ping') return true;
    const text = type === 'content_block_start' && isFields(block) ? TEXT_OF_BLOCK.get(block['type']) : undefined;
    return text !== undefined && isFields(block) && (block[text] === '' || block[text] === undefined);
  }

  /** Each kind of delta holds its text under one name. */
  withTexts(
    event: StreamEvent,
    [{ text } = { text: '' }]: readonly { readonly text: string }[],
    bytes: string,
  ): string {
    const { type, ...members } = this.#edited.get(event) ?? fieldsIn(event.data);
    const { delta, content_block: block } = members;
    if (isFields(block))
      return eventOf(String(type), {
        ...members,
        content_block: { ...block, [TEXT_OF_BLOCK.get(block['type']) ?? 'text']: text },
      });
    const name = isFields(delta) ? TEXTS_OF.get(delta['type']) : undefined;
    if (name === undefined) return bytes; // its texts stand in other events, or were seen with what no chunk holds of it
    return text === '' ? '' : eventOf(String(type), { ...members, delta: { ...(delta as Fields), [name]: text } });
  }

  /** Tools that the vendor runs, their results, what cites others, and what stands around the blocks. */
  aside({ data }: StreamEvent): Aside | undefined {
    if (data === '' || COMMON_DELTA.test(data)) return undefined;
    const event = fieldsIn(data);
    const { type, index } = event;
    if (type === 'content_block_start') return this.#asideBlock(event);
    if (type === 'content_block_stop')
      return this.#foreign.delete(index) ? { block: Number(index), text: '', isLast: true } : undefined;
    if (FRAME.has(type)) return frameAside(event);
    if (type !== 'content_block_delta') return bodyOf(event);
    const delta = isFields(event['delta']) ? event['delta'] : {};
    const { type: kind, partial_json: piece } = delta;
    if (!this.#foreign.has(index)) return TEXTS_OF.has(kind) || kind === 'signature_delta' ? undefined : bodyOf(delta);
    return kind === 'input_json_delta' && typeof piece === 'string'
      ? { block: Number(index), text: piece, isLast: false }
      : bodyOf(delta);
  }

  #asideBlock({ index, content_block: block }: Readonly<Fields>): Aside | undefined {
    if (!isFields(block)) return undefined;
    const { type } = block;
    if (type === 'tool_use') return isPlainCall(block) ? undefined : bodyOf(block);
    if (COMMON_BLOCKS.has(type))
      return textsOf({ ...block, [TEXT_OF_BLOCK.get(type) ?? '']: '' }).length > 0 ? bodyOf(block) : undefined;
    this.#foreign.add(index);
    return bodyOf(block);
  }

  /** Written anew, as its place in the event is known. */
  withBody(event: StreamEvent, value: Readonly<Fields>): string {
    const { type, ...members } = fieldsIn(event.data);
    const place = FRAME.has(type) ? undefined : ['content_block', 'delta'].find((name) => name in members);
    const edited = place === undefined ? value : { ...members, [place]: value };
    this.#edited.set(event, { ...edited, type });
    const bytes = eventOf(String(type), edited);
    if (type !== 'message_stop') return bytes;
    this.#last = bytes;
    return '';
  }

  chunk(): string {
    return '';
  }

  end(): string {
    return this.#last === '' ? eventOf('message_stop', {}) : this.#last;
  }

  error(failure: ClientFailure): string {
    const type = this.#errorType;
    if (type === undefined || classOf(failure).isPrivate === true) return errorEvent(failure);
    const { message } = failure;
    return errorEvent(
      { ...failure, message: message.startsWith(`${type}: `) ? message.slice(type.length + 2) : message },
      type,
    );
  }
}

/** What an event is: some servers send an error without its type. */
function nameOf({ type, error }: Readonly<Fields>, named: string): string {
  if (typeof type === 'string') return type;
  return isFields(error) || typeof error === 'string' ? 'error' : named;
}

/** Whether the beginning of a call says nothing but which tool is called: its arguments follow. */
function isPlainCall({ id, name, input }: Readonly<Fields>): boolean {
  return (
    [id, name].every((word) => typeof word === 'string' && WORD.test(word)) &&
    (!isFields(input) || Object.keys(input).length === 0)
  );
}

/** What an event that stands around the blocks says; nothing as a rule. */
function frameAside({ type: _type, ...value }: Readonly<Fields>): Aside | undefined {
  return textsOf(value).length > 0 ? bodyOf(value) : undefined;
}

function fieldsIn(data: string): Readonly<Fields> {
  const value = tryParseJson(data);
  return isFields(value) ? value : {};
}

const bodyOf = (value: Readonly<Fields>): Aside => ({
  body: { wire: 'messages', operation: 'messages', value, texts: TEXTS },
});
