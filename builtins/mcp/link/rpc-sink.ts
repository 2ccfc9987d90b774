import type { Fields, GatewayError } from '../../../host/contract/index.ts';
import { bytePile } from '../../../host/upstream/pile.ts';
import { EventReader } from '../../../host/upstream/sse.ts';
import type { ReplyControl, ReplyHeaders, ReplySink } from '../../../host/upstream/upstream-call.ts';
import { shownAddress } from './http-address.ts';
import { isAnswer, MAX_MESSAGE_BYTES, messagesOf, saying, ToolServerError } from './rpc.ts';

/** Bytes of a refusal's body that are quoted in the log. */
const MAX_QUOTED_BYTES = 4096;

/** An answer with a status that is not 200. */
export class RefusedStatus extends ToolServerError {
  readonly status: number;

  /** `said` is what the body says: the log alone has it. */
  constructor(status: number, message: string, said = '') {
    super('failed', message, saying(said));
    this.status = status;
  }
}

export interface RpcSinkOptions {
  readonly url: string;
  readonly clean: (text: string) => string;
  /** Gets the headers of an answer before its body. */
  readonly onHeaders: (headers: ReplyHeaders) => void;
  /** Gets what a server sends beside the answer: its own requests and notifications. */
  readonly onMessage: (message: Fields) => void;
  /** Gets the control of an answer that has served its purpose and has not ended. */
  readonly onRest: (control: ReplyControl) => void;
  /** Called once the connection is free or gone. */
  readonly onEnd: () => void;
}

/** Reads one answer over HTTP up to the JSON-RPC answer in it: a JSON body, or an event of a stream. */
export class RpcSink implements ReplySink {
  readonly answer: Promise<Fields>;
  readonly #options: RpcSinkOptions;
  readonly #settled = Promise.withResolvers<Fields>();
  readonly #body = bytePile();
  #events: EventReader | undefined;
  #control: ReplyControl | undefined;
  #status = 0;
  #location: string | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(options: RpcSinkOptions) {
    this.#options = options;
    this.answer = this.#settled.promise;
  }

  onReply(status: number, headers: ReplyHeaders, control: ReplyControl): void {
    this.#status = status;
    this.#control = control;
    this.#location = headers['location'];
    this.#options.onHeaders(headers);
    if (status === 200 && /^\s*text\/event-stream\b/i.test(headers['content-type'] ?? ''))
      this.#events = new EventReader();
  }

  onData(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += bytes.length;
    if (this.#status !== 200) {
      this.#body.push(bytes);
      if (this.#bytes >= MAX_QUOTED_BYTES) this.#fail(this.#refusal());
    } else if (this.#bytes > MAX_MESSAGE_BYTES)
      this.#fail(new ToolServerError('failed', `the answer exceeds the limit of ${MAX_MESSAGE_BYTES} bytes`));
    else if (this.#events) this.#read(this.#events.push(bytes));
    else this.#body.push(bytes);
  }

  onEnd(): void {
    this.#control = undefined;
    this.#options.onEnd();
    if (this.#isOver) return;
    if (this.#status !== 200) this.#fail(this.#refusal());
    else if (this.#events) this.#read(this.#events.end());
    else this.#readMessages(this.#body.take().toString('utf8'));
    if (!this.#isOver) this.#fail(new ToolServerError('failed', 'the answer holds no JSON-RPC answer'));
  }

  onError(error: GatewayError): void {
    this.#control = undefined;
    this.#options.onEnd();
    if (this.#status !== 0 && this.#status !== 200) this.#fail(this.#refusal());
    else this.#fail(error);
  }

  /** The wait has ended before the answer came. */
  giveUp(cause: Error): void {
    this.#fail(cause);
  }

  #read(events: readonly { readonly data: string }[]): void {
    for (const { data } of events) {
      if (this.#isOver) return;
      this.#readMessages(data);
    }
  }

  #readMessages(text: string): void {
    for (const message of this.#messagesOf(text)) {
      if (this.#isOver) return;
      if (isAnswer(message)) this.#finish(message);
      else this.#options.onMessage(message);
    }
  }

  #messagesOf(text: string): readonly Fields[] {
    try {
      return messagesOf(text);
    } catch (error) {
      this.#fail(error as Error);
      return [];
    }
  }

  #finish(message: Fields): void {
    this.#isOver = true;
    this.#settled.resolve(message);
    if (this.#control) this.#options.onRest(this.#control);
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settled.reject(error);
    this.#control?.abort();
    if (this.#control) this.#options.onEnd();
    this.#control = undefined;
  }

  #refusal(): RefusedStatus {
    const { url, clean } = this.#options;
    if (this.#status >= 300 && this.#status < 400) {
      return new RefusedStatus(
        this.#status,
        `the server redirects to ${clean(shownAddress(this.#location, url))}, and redirects are not followed`,
      );
    }
    const text = this.#body.take().subarray(0, MAX_QUOTED_BYTES).toString('utf8').trim();
    return new RefusedStatus(this.#status, `the server answered with status ${this.#status}`, clean(text));
  }
}
