import type { Clock, Timer } from '../../../host/common/clock.ts';
import { errorMessage } from '../../../host/common/error-message.ts';
import type { Fields, Log } from '../../../host/contract/index.ts';
import { Answers } from './answers.ts';
import type { Link, LinkCall, LinkEvents } from './link.ts';
import { isAnswer, isListChange, messagesOf, resultOf, ToolServerError } from './rpc.ts';
import { type ProcessOptions, ServerProcess } from './server-process.ts';

/** A server that has closed its stderr is asked whether it lives, this often and with this much time. See docs/mcp.md#servers. */
const PING_EVERY_MS = 1000;
const PING_LIMIT_MS = 5000;

interface Pending {
  readonly resolve: (answer: Fields) => void;
  readonly reject: (error: unknown) => void;
}

export interface StdioOptions extends ProcessOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly server: string;
  /** Takes secrets out of what the server says. */
  readonly clean: (text: string) => string;
}

/** A server that is a child of this process: one message a line, on its standard streams. */
export class StdioLink implements Link {
  readonly takesAnyVersion = false;
  readonly #options: StdioOptions;
  readonly #events: LinkEvents;
  readonly #process: ServerProcess;
  readonly #pending = new Map<unknown, Pending>();
  readonly #answers: Answers;
  #nextId = 1;
  /** Set once nothing can come of it any more. */
  #over: ToolServerError | undefined;
  #ping: Timer | undefined;
  #isAsking = false;

  constructor(options: StdioOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    const { log, server, clean } = options;
    this.#answers = new Answers({
      send: (answer) => this.#process.taken(`${answer}\n`),
      onTooMany: (error) => this.#lose(error),
    });
    this.#process = new ServerProcess(options, {
      onLine: (line) => this.#take(line),
      onErrorLine: (line) => log.debug('mcp server wrote to stderr', { server, line: clean(line) }),
      onErrorEnd: () => {
        if (!this.#ping) this.#askWhetherItLives();
      },
      onEnd: (why) => this.#lose(new ToolServerError('unavailable', why)),
    });
  }

  /** For tests and logs: it is the same for as long as the child lives. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  request({ method, params, limitMs, cancellation }: LinkCall): Promise<Fields> {
    const ended = this.#over ?? cancellation?.cause;
    if (ended) return Promise.reject(ended);
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = Promise.withResolvers<Fields>();
    this.#pending.set(id, answer);
    const giveUp = (cause: Error): void => {
      answer.reject(cause);
      if (method === 'tools/call')
        this.notify('notifications/cancelled', { requestId: id, reason: 'the gateway does not wait any longer' });
    };
    const timer = this.#options.clock.timer(limitMs, () =>
      giveUp(new ToolServerError('timeout', `no answer to ${method} within ${limitMs} ms`)),
    );
    const stop = cancellation?.onCancel(giveUp);
    if (!this.#send({ jsonrpc: '2.0', id, method, ...(params && { params }) }))
      answer.reject(new ToolServerError('unavailable', 'its input is closed, or it does not read it'));
    return answer.promise.finally(() => {
      this.#pending.delete(id);
      timer.cancel();
      stop?.();
    });
  }

  notify(method: string, params?: Readonly<Fields>): void {
    this.#send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  useVersion(): void {}

  begin(): void {}

  async close(): Promise<void> {
    this.#end(new ToolServerError('unavailable', 'the gateway has closed it'));
    await this.#process.end();
  }

  kill(): void {
    this.#end(new ToolServerError('unavailable', 'the gateway has ended it'));
    this.#process.kill();
  }

  #send(message: Fields): boolean {
    return this.#process.write(`${JSON.stringify(message)}\n`);
  }

  #take(line: string): void {
    if (this.#over) return;
    for (const message of this.#messagesOf(line)) {
      if (isAnswer(message)) this.#settle(message);
      else if (isListChange(message)) this.#events.onListChanged();
      else if (message['id'] !== undefined) this.#answers.give(message);
    }
  }

  /** It is not known which request a message answers that is not read, so its caller would wait in vain. */
  #messagesOf(line: string): readonly Fields[] {
    try {
      return messagesOf(line);
    } catch (error) {
      this.#lose(new ToolServerError('unavailable', errorMessage(error)));
      return [];
    }
  }

  #settle(message: Fields): void {
    const pending = this.#pending.get(message['id']);
    if (!pending) return; // it was given up
    try {
      pending.resolve(resultOf(message, this.#options.clean));
    } catch (error) {
      pending.reject(error);
    }
  }

  /** A server that lives may close its stderr: only one that does not answer is dead. From now on it is asked again and again. */
  #askWhetherItLives(): void {
    if (this.#isAsking || this.#over) return;
    this.#isAsking = true;
    const again = (): void => {
      this.#isAsking = false;
      if (!this.#over) this.#ping = this.#options.clock.timer(PING_EVERY_MS, () => this.#askWhetherItLives());
    };
    this.request({ method: 'ping', limitMs: PING_LIMIT_MS }).then(again, (error: ToolServerError) => {
      if (error.trouble === 'failed') again(); // an error is an answer, too
      else
        this.#lose(
          new ToolServerError('unavailable', 'it has closed its stderr and does not answer', { cause: error }),
        );
    });
  }

  #lose(error: ToolServerError): void {
    if (this.#over) return;
    this.#end(error);
    this.#process.kill();
    this.#events.onLost(error);
  }

  #end(error: ToolServerError): void {
    this.#over ??= error;
    this.#answers.end();
    this.#ping?.cancel();
    for (const { reject } of this.#pending.values()) reject(error);
  }
}
