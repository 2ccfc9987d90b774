import { type Fields, isFields, type StreamEvent, tryParseJson } from '../../../host/contract/index.ts';
import { bytesOfText } from '../../../host/upstream/sse.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { SameWireStream } from '../../../host/wire/client-wire.ts';
import { CONTENT_TYPE, errorEvent, eventOf } from './stream.ts';

/** What the vendor may call an error. Source: ingress reference 8.2. */
const ERROR_TYPES: ReadonlySet<unknown> = new Set([
  'invalid_request_error', 'authentication_error', 'billing_error', 'permission_error', 'not_found_error', 'request_too_large', 'rate_limit_error', 'api_error', 'overloaded_error', 'timeout_error',
]);

const TEXTS_OF: ReadonlyMap<unknown, string> = new Map([['text_delta', 'text'], ['thinking_delta', 'thinking'], ['input_json_delta', 'partial_json']]);

/** Passes the vendor's events on. The last one waits until guardrails have seen the whole answer. Source: ingress reference 9.1.3. */
export class VendorStream implements SameWireStream {
  readonly contentType = CONTENT_TYPE;
  readonly frames = undefined;
  #last = '';
  #errorType: string | undefined;

  event({ type, data }: StreamEvent, raw: string | undefined): string {
    if (this.#last !== '') {
      if (raw === '\n') this.#last += raw; // the rest of its own line end
      return ''; // nothing else follows the end
    }
    const isError = data.includes('"error"');
    const own: Readonly<Fields> = isError || type === '' || raw === undefined ? fieldsIn(data) : {};
    const name = typeof own['type'] === 'string' ? own['type'] : type;
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

  /** Each kind of delta holds its text under one name. */
  withText({ data }: StreamEvent, text: string): string {
    const event = fieldsIn(data);
    const delta = isFields(event['delta']) ? event['delta'] : {};
    const name = TEXTS_OF.get(delta['type']);
    if (name === undefined) return '';
    const { type, ...members } = event;
    return eventOf(String(type), { ...members, delta: { ...delta, [name]: text } });
  }

  chunk(): string {
    return '';
  }

  end(): string {
    return this.#last === '' ? eventOf('message_stop', {}) : this.#last;
  }

  error(failure: ClientFailure): string {
    const type = this.#errorType;
    if (type === undefined) return errorEvent(failure);
    const { message } = failure;
    return errorEvent({ ...failure, message: message.startsWith(`${type}: `) ? message.slice(type.length + 2) : message }, type);
  }
}

function fieldsIn(data: string): Readonly<Fields> {
  const value = tryParseJson(data);
  return isFields(value) ? value : {};
}
