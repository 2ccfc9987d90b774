import type { Timer } from '../../../host/common/clock.ts';
import { type Fields, GatewayError } from '../../../host/contract/index.ts';
import { errorMessage } from '../../../host/common/error-message.ts';
import { Cancellation } from '../../../host/upstream/cancellation.ts';
import type { ReplyControl, ReplyHeaders } from '../../../host/upstream/upstream-call.ts';
import { Answers } from './answers.ts';
import { EventStream } from './event-stream.ts';
import type { HttpCalls } from './http-calls.ts';
import type { Link, LinkCall, LinkEvents } from './link.ts';
import { isListChange, resultOf, ToolServerError } from './rpc.ts';
import { RefusedStatus, RpcSink } from './rpc-sink.ts';

/** How long a message that is not answered, and the end of a session, may take. */
const NOTICE_LIMIT_MS = 2000;
/** So much longer than a call the transport waits: the call's own timer ends it, so that the server hears of that. */
const SPARE_MS = 5_000;

/** How long the rest of an answer may take, so that its connection can serve again. */
const LINGER_MS = 1000;

const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export interface HttpLinkOptions {
  readonly calls: HttpCalls;
  /** Takes secrets out of what the server says. */
  readonly clean: (text: string) => string;
  /** Shakes hands again, for a session that the server has forgotten. */
  readonly renew: (link: Link) => Promise<void>;
}

/** A server behind an address: each request a POST, its answer JSON or one event of a stream. */
export class HttpLink implements Link {
  readonly takesAnyVersion = true;
  readonly #options: HttpLinkOptions;
  readonly #events: LinkEvents;
  #stream: EventStream | undefined;
  /** What is under way: it ends with the link. */
  readonly #open = new Set<Cancellation>();
  /** Answers that have served their purpose, until their end. */
  readonly #lingering = new Map<ReplyControl, Timer>();
  readonly #answers: Answers;
  #nextId = 1;
  #renewing: Promise<void> | undefined;
  #isOver = false;

  constructor(options: HttpLinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#answers = new Answers({ send: (answer) => this.#tell(answer), onTooMany: (error) => this.#leave(error) });
  }

  async request(call: LinkCall): Promise<Fields> {
    const { session } = this.#options.calls;
    try {
      return await this.#request(call);
    } catch (error) {
      const isForgotten =
        error instanceof RefusedStatus && error.status === 404 && session !== undefined && call.method !== 'initialize';
      if (!isForgotten || this.#isOver) throw error;
    }
    await this.#renew(session);
    return this.#request(call);
  }

  notify(method: string, params?: Readonly<Fields>): void {
    if (!this.#isOver) void this.#tell(JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) }));
  }

  useVersion(version: string): void {
    this.#options.calls.version = version;
  }

  begin(): void {
    if (this.#isOver) return;
    this.#stream?.close(closed());
    this.#stream = new EventStream({
      calls: this.#options.calls,
      onMessage: (message) => this.#take(message),
      onUnreachable: (error) => this.#lose(error),
    });
    this.#stream.open();
  }

  async close(): Promise<void> {
    const { calls } = this.#options;
    this.kill();
    if (calls.session === undefined) return;
    const ended = Promise.withResolvers<void>();
    const cancellation = new Cancellation();
    const timer = calls.clock.timer(NOTICE_LIMIT_MS, () => cancellation.cancel(closed()));
    calls.send(
      { method: 'DELETE', headers: {} },
      cancellation,
      { headersTimeoutMs: NOTICE_LIMIT_MS, bodyIdleMs: NOTICE_LIMIT_MS },
      {
        onReply: () => {},
        onData: () => {},
        onEnd: () => ended.resolve(),
        onError: () => ended.resolve(),
      },
    );
    await ended.promise;
    timer.cancel();
  }

  kill(): void {
    this.#isOver = true;
    this.#answers.end();
    const cause = closed();
    this.#stream?.close(cause);
    for (const cancellation of this.#open) cancellation.cancel(cause);
    for (const [control, timer] of this.#lingering) {
      timer.cancel();
      control.abort();
    }
    this.#lingering.clear();
  }

  /** One session serves all calls: the first that finds it forgotten makes a new one. */
  #renew(session: string | undefined): Promise<void> {
    const { calls, renew } = this.#options;
    if (calls.session !== session && !this.#renewing) return Promise.resolve();
    calls.session = undefined;
    calls.version = undefined;
    return (this.#renewing ??= renew(this)
      .then(() => this.begin())
      .finally(() => {
        this.#renewing = undefined;
      }));
  }

  async #request({ method, params, limitMs, cancellation }: LinkCall): Promise<Fields> {
    const id = this.#nextId;
    this.#nextId += 1;
    const sink = this.#sink();
    const giveUp = (cause: Error): void => {
      sink.giveUp(cause);
      if (method === 'tools/call' && !this.#isOver)
        this.notify('notifications/cancelled', { requestId: id, reason: 'the gateway does not wait any longer' });
    };
    const timer = this.#options.calls.clock.timer(limitMs, () =>
      giveUp(new ToolServerError('timeout', `no answer to ${method} within ${limitMs} ms`)),
    );
    const stop = cancellation?.onCancel(giveUp);
    const own = this.#post(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) }), limitMs, sink);
    try {
      return resultOf(await sink.answer, this.#options.clean);
    } catch (error) {
      own.cancel(closed());
      throw error instanceof GatewayError && error !== cancellation?.cause ? this.#broken(error) : error;
    } finally {
      this.#open.delete(own);
      timer.cancel();
      stop?.();
    }
  }

  #post(body: string, limitMs: number, sink: RpcSink): Cancellation {
    const own = new Cancellation();
    this.#open.add(own);
    if (this.#isOver) own.cancel(closed());
    this.#options.calls.send(
      { method: 'POST', headers: POST_HEADERS, body },
      own,
      { headersTimeoutMs: limitMs + SPARE_MS, bodyIdleMs: limitMs + SPARE_MS },
      sink,
    );
    return own;
  }

  #sink(): RpcSink {
    const { calls, clean } = this.#options;
    let rest: ReplyControl | undefined;
    return new RpcSink({
      url: calls.url,
      clean,
      onHeaders: (headers) => this.#keepSession(headers),
      onMessage: (message) => this.#take(message),
      onRest: (control) => {
        rest = control;
        this.#lingering.set(
          control,
          calls.clock.timer(LINGER_MS, () => {
            this.#lingering.delete(control);
            control.abort();
          }),
        );
      },
      onEnd: () => {
        if (!rest) return;
        this.#lingering.get(rest)?.cancel();
        this.#lingering.delete(rest);
      },
    });
  }

  #keepSession(headers: ReplyHeaders): void {
    const session = headers['mcp-session-id'];
    if (session !== undefined && session !== '') this.#options.calls.session = session;
  }

  /** Something that is not answered, or an answer of the gateway's own. */
  #tell(message: string): Promise<unknown> {
    const sink = this.#sink();
    const own = this.#post(message, NOTICE_LIMIT_MS, sink);
    const timer = this.#options.calls.clock.timer(NOTICE_LIMIT_MS, () => own.cancel(closed()));
    return sink.answer
      .catch(() => {})
      .finally(() => {
        timer.cancel();
        this.#open.delete(own);
      });
  }

  #take(message: Fields): void {
    if (this.#isOver) return;
    if (isListChange(message)) this.#events.onListChanged();
    else if (message['id'] !== undefined && message['method'] !== undefined) this.#answers.give(message);
  }

  /** A connection that broke off, or that could not be made: then the server is lost. */
  #broken(error: GatewayError): ToolServerError {
    if (this.#isOver) return new ToolServerError('unavailable', 'the gateway has closed it');
    if (this.#options.calls.isUnreachable(error)) return this.#lose(error);
    return new ToolServerError(error.fault?.kind === 'timeout' ? 'timeout' : 'failed', this.#reason(error), {
      cause: error.cause,
    });
  }

  #lose(error: GatewayError): ToolServerError {
    const lost = new ToolServerError('unavailable', this.#reason(error), { cause: error.cause });
    if (!this.#isOver) this.#leave(lost);
    return lost;
  }

  #leave(lost: ToolServerError): void {
    this.kill();
    this.#events.onLost(lost);
  }

  /** From the cause alone: the transport's error speaks of a provider. */
  #reason({ cause }: GatewayError): string {
    const { code } = (cause ?? {}) as { readonly code?: unknown };
    return this.#options.clean(`the connection failed: ${typeof code === 'string' ? code : errorMessage(cause)}`);
  }
}

const closed = (): GatewayError => new GatewayError('upstream_unavailable', 'the gateway has closed the connection');
