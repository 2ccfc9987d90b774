import {
  type ChatChunk,
  type ChunkDelta,
  failedAnswer,
  type StreamDecoder,
  type StreamEvent,
  type ToolCallDelta,
  tryParseJson,
  type Usage,
} from 'gw/contract';
import { addAll, type Fields, isFields } from 'gw/common-wire';
import { annotationsOf } from './citations.ts';
import { argumentsText, readUsage, textOf } from './response.ts';

/** A decoder for one streamed answer. See docs/providers.md#cohere-models. Source: Cohere documentation, "Streaming", v2, 2026-11-21. */
export function openStream(): StreamDecoder {
  const decoder = new Decoder();
  return (event) => decoder.read(event);
}

interface OpenCall {
  readonly index: number;
  hasArguments: boolean;
  /** What came of the arguments before they say something. */
  held: string;
}

class Decoder {
  #id: string | undefined;
  #isOver = false;
  /** In the order they began, so that their indices run from 0 without a gap. */
  readonly #calls: OpenCall[] = [];
  /** Calls by the index of their events. */
  readonly #callsByEvent = new Map<unknown, OpenCall>();
  readonly #citations: unknown[] = [];
  /** Where the text of each content block begins in the whole text, by the index of its events. */
  readonly #offsets = new Map<unknown, number>();
  #textLength = 0;

  read({ data }: StreamEvent): readonly ChatChunk[] {
    const event = parsed(data);
    if (!event || this.#isOver) return [];
    const delta = fieldsIn(event, 'delta');
    const message = fieldsIn(delta, 'message');
    switch (event['type']) {
      case 'message-start':
        return this.#start(event);
      case 'content-start':
      case 'content-delta':
        return this.#content(event['index'], fieldsIn(message, 'content'));
      case 'citation-start':
        return this.#cite(message['citations']);
      case 'tool-plan-delta':
        return this.#text('reasoning_content', message['tool_plan']);
      case 'tool-call-start':
        return this.#openCall(event['index'], callOf(message));
      case 'tool-call-delta':
        return this.#callArguments(event['index'], callOf(message));
      case 'tool-call-end':
        return this.#closeCall(event['index']);
      case 'message-end':
        return this.#end(delta);
      default:
        return [];
    }
  }

  #start({ id }: Fields): readonly ChatChunk[] {
    if (typeof id === 'string') this.#id = id;
    return [];
  }

  #content(at: unknown, { text, thinking }: Fields): readonly ChatChunk[] {
    if (!this.#offsets.has(at)) this.#offsets.set(at, this.#textLength);
    this.#textLength += textOf(text).length;
    return [...this.#text('reasoning_content', thinking), ...this.#text('content', text)];
  }

  #text(kind: 'content' | 'reasoning_content', value: unknown): readonly ChatChunk[] {
    const text = textOf(value);
    return text === '' ? [] : [this.#chunk({ [kind]: text })];
  }

  #cite(citations: unknown): readonly ChatChunk[] {
    addAll(this.#citations, [citations].flat());
    return [];
  }

  #openCall(at: unknown, call: Fields): readonly ChatChunk[] {
    const target = fieldsIn(call, 'function');
    const { id } = call;
    const piece = argumentsText(target['arguments']);
    const open = { index: this.#calls.length, hasArguments: false, held: '' };
    this.#calls.push(open);
    this.#callsByEvent.set(at, open);
    const name = textOf(target['name']);
    const said = this.#argumentsOf(open, piece);
    return [
      this.#callChunk({
        index: open.index,
        ...(typeof id === 'string' && { id }),
        type: 'function',
        function: { ...(name !== '' && { name }), arguments: said },
      }),
    ];
  }

  #callArguments(at: unknown, call: Fields): readonly ChatChunk[] {
    const piece = argumentsText(fieldsIn(call, 'function')['arguments']);
    const open = this.#callsByEvent.get(at);
    const said = open ? this.#argumentsOf(open, piece) : ''; // a fragment of no call that has begun belongs nowhere
    return open && said !== '' ? [this.#callChunk({ index: open.index, function: { arguments: said } })] : [];
  }

  #closeCall(at: unknown): readonly ChatChunk[] {
    const open = this.#callsByEvent.get(at);
    return open ? this.#noArguments(open) : [];
  }

  /** The arguments of a call without any, once: clients of other wires end it before what comes next. */
  #noArguments(call: OpenCall): readonly ChatChunk[] {
    if (call.hasArguments) return [];
    call.hasArguments = true;
    return [this.#callChunk({ index: call.index, function: { arguments: '{}' } })];
  }

  /** Arguments that begin like the word `null` are held until more follows: `null` alone means that there are no arguments. */
  #argumentsOf(open: OpenCall, piece: string): string {
    if (open.hasArguments) return piece;
    open.held += piece;
    if ('null'.startsWith(open.held.trim())) return '';
    open.hasArguments = true;
    return open.held;
  }

  #end({ error, finish_reason: finish, usage }: Fields): readonly ChatChunk[] {
    const failure = textOf(error).trim();
    if (failure !== '') throw failedAnswer(failure);
    this.#isOver = true;
    const empty = this.#calls.flatMap((call) => this.#noArguments(call));
    const annotations = annotationsOf(this.#citations, (at) => this.#offsets.get(at) ?? this.#textLength);
    return [
      ...empty,
      this.#chunk(annotations.length > 0 ? { annotations } : {}, textOf(finish) || null, readUsage(usage)),
    ];
  }

  #callChunk(call: ToolCallDelta): ChatChunk {
    return this.#chunk({ tool_calls: [call] });
  }

  #chunk(delta: ChunkDelta, finish: string | null = null, usage?: Usage): ChatChunk {
    return {
      ...(this.#id !== undefined && { id: this.#id }),
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(usage && { usage }),
    };
  }
}

/** Events send their one call as an object or in a list. */
function callOf({ tool_calls: calls }: Fields): Fields {
  const [call]: readonly unknown[] = [calls].flat();
  return isFields(call) ? call : {};
}

function fieldsIn(holder: Fields, name: string): Fields {
  const value = holder[name];
  return isFields(value) ? value : {};
}

/** `undefined` for what is not a JSON object: such events are skipped. */
function parsed(data: string): Fields | undefined {
  const value = tryParseJson(data);
  return isFields(value) ? value : undefined;
}
