import {
  type CallInfo,
  type ChatChunk,
  type ChatRequest,
  isText,
  responseToolCounts,
  type StreamDecoder,
  type StreamEvent,
  tryParseJson,
  withFacts,
} from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';
import { createdOf, finishOf } from './answer.ts';
import { plainText } from './deltas.ts';
import { failureOf } from './failure.ts';
import { Output } from './output.ts';
import type { Piece } from './texts.ts';
import { toUsage } from './usage.ts';

/** A decoder for one streamed response. Each event's data is one event of this API as JSON. See docs/providers.md#chats-by-the-responses-api. */
export function openResponsesStream(call: CallInfo, request: ChatRequest): StreamDecoder {
  const stream = new ResponsesStream(call, request);
  return (event) => stream.read(event);
}

class ResponsesStream {
  readonly #output: Output;
  /** What every chunk begins with. */
  #head: Fields;
  #isFinished = false;
  #hasUsage = false;
  /** Items that are over, of tools that the vendor ran itself. */
  readonly #ran: Fields[] = [];

  constructor(call: CallInfo, request: ChatRequest) {
    this.#output = new Output(call, request);
    this.#head = { model: call.model };
  }

  read({ type: named, data }: StreamEvent): readonly ChatChunk[] {
    const plain = this.#isFinished ? undefined : plainText(data);
    if (plain) return this.#chunks(this.#output.text(plain.item, plain.part, plain.text));
    const event = tryParseJson(data);
    if (!isFields(event)) return [];
    const type = isText(event['type']) ? event['type'] : named;
    if (this.#isFinished) return this.#late(type, event);
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.#begin(event['response']);
        return [];
      case 'response.completed':
      case 'response.incomplete':
        return this.#end(type, event['response']);
      case 'response.failed':
        throw failureOf(isFields(event['response']) ? event['response']['error'] : undefined);
      case 'error':
        throw failureOf(event['error'] ?? event);
      default:
        if (type === '' && event['error']) throw failureOf(event['error']);
        return this.#chunks(this.#said(type, event) ?? this.#whole(type, event) ?? []);
    }
  }

  /** Pieces of what is being said. */
  #said(type: string, event: Fields): Piece[] | undefined {
    const output = this.#output;
    const { content_index: part, summary_index: summary, delta, item } = event;
    const at = output.placeOf(event['output_index'], type === 'response.output_item.added');
    switch (type) {
      case 'response.output_item.added':
        return isFields(item) ? output.open(at, item) : [];
      case 'response.output_text.delta':
        return output.text(at, part, delta, event['logprobs']);
      case 'response.refusal.delta':
        return output.refusal(at, part, delta);
      case 'response.output_text.annotation.added':
        return output.citation(at, part, event['annotation']);
      case 'response.function_call_arguments.delta':
        return output.arguments(at, 'function', delta);
      case 'response.custom_tool_call_input.delta':
        return output.arguments(at, 'custom', delta);
      case 'response.reasoning_summary_text.delta':
        return output.thought(at, 'summary', summary, delta);
      case 'response.reasoning_text.delta':
        return output.thought(at, 'content', part, delta);
      default:
        return undefined;
    }
  }

  /** Pieces of what comes whole: it counts where no piece of it has come. */
  #whole(type: string, event: Fields): Piece[] | undefined {
    const output = this.#output;
    const { content_index: part, summary_index: summary, text, item } = event;
    const at = output.placeOf(event['output_index']);
    switch (type) {
      case 'response.output_text.done':
        return output.closePart(at, part, { type: 'output_text', text, logprobs: event['logprobs'] });
      case 'response.refusal.done':
        return output.closePart(at, part, { type: 'refusal', refusal: event['refusal'] });
      case 'response.content_part.done':
        return output.closePart(at, part, event['part']);
      case 'response.function_call_arguments.done':
        return output.wholeArguments(at, 'function', event['arguments']);
      case 'response.custom_tool_call_input.done':
        return output.wholeArguments(at, 'custom', event['input']);
      case 'response.reasoning_summary_text.done':
        return output.closeThought(at, 'summary', summary, text);
      case 'response.reasoning_summary_part.done':
        return output.closeThought(at, 'summary', summary, isFields(event['part']) ? event['part']['text'] : undefined);
      case 'response.reasoning_text.done':
        return output.closeThought(at, 'content', part, text);
      case 'response.output_item.done':
        return isFields(item) ? this.#close(at, item) : [];
      default:
        return undefined;
    }
  }

  #close(at: number, item: Fields): Piece[] {
    if (isText(item['type']) && item['type'].endsWith('_call')) this.#ran.push(withoutResult(item));
    return this.#output.close(at, item);
  }

  /** What the response says of itself; its id is that of the first event. */
  #begin(response: unknown): void {
    if (!isFields(response)) return;
    const { id, model, service_tier: tier } = response;
    this.#head = {
      ...this.#head,
      ...(isText(id) && this.#head['id'] === undefined && { id }),
      ...(isText(model) && { model }),
      ...createdOf(response),
      ...(isText(tier) && { service_tier: tier }),
    };
  }

  /** What has not been said yet, then why the answer ended, then its usage. */
  #end(type: string, response: unknown): readonly ChatChunk[] {
    const whole = {
      ...(type === 'response.incomplete' && { status: 'incomplete' }),
      ...(isFields(response) && response),
    } as Fields;
    if (isFields(whole['error'])) throw failureOf(whole['error']);
    this.#begin(whole);
    const pieces = this.#chunks(this.#output.end(whole['output']));
    const finish = finishOf(whole, this.#output.hasCalls);
    this.#isFinished = true;
    return [
      ...pieces,
      { ...this.#head, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
      ...this.#usage(whole),
    ];
  }

  /** Only usage counts behind the end. */
  #late(type: string, { response }: Fields): readonly ChatChunk[] {
    const isEnd = type === 'response.completed' || type === 'response.incomplete';
    return isEnd && isFields(response) ? this.#usage(response) : [];
  }

  /** Some servers leave the output out of the last event: then what ended before counts. */
  #usage({ usage: given, output, tools }: Fields): readonly ChatChunk[] {
    const usage = this.#hasUsage ? undefined : toUsage(given);
    if (!usage) return [];
    this.#hasUsage = true;
    const ran = Array.isArray(output) && output.length > 0 ? output : this.#ran;
    return [{ ...this.#head, choices: [], usage: withFacts(usage, responseToolCounts(ran, tools)) }];
  }

  #chunks(pieces: readonly Piece[]): ChatChunk[] {
    return pieces.map(({ delta, logprobs }) => ({
      ...this.#head,
      choices: [{ index: 0, delta, ...(logprobs && { logprobs }), finish_reason: null }],
    }));
  }
}

/** An image is not kept, only that it was made. */
const withoutResult = ({ result: _result, ...item }: Fields): Fields => item;
