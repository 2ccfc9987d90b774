import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import buildConnect from 'undici/lib/core/connect.js';
import symbols from 'undici/lib/core/symbols.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { systemClock } from '../common/clock.ts';

const KEEP_ALIVE_MS = 90_000;
/** Bytes of an answer's headers; as many as a client may send. */
const MAX_HEADER_BYTES = 1024 * 1024;

/**
 * One connection pool per upstream origin. It goes with its last connection: plugins may call any number of hosts, and a
 * pool without connections costs nothing.
 */
export class Pools {
  readonly #byOrigin = new Map<string, OriginPool>();
  /** One for all, so that TLS sessions outlive the pools they were opened in; it bounds no time by itself. */
  readonly #connect = buildConnect({ allowH2: false, timeout: 0, rejectUnauthorized: true }); // whatever NODE_TLS_REJECT_UNAUTHORIZED says

  /** Origins with a connection or a call. */
  get size(): number {
    return this.#byOrigin.size;
  }

  /** Sends a request; `connectTimeoutMs` bounds the connection that this call has to open. Returns that connection while it is being made: only this call waits for it. */
  dispatch(
    origin: string,
    connectTimeoutMs: number,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): Socket | undefined {
    let pool = this.#byOrigin.get(origin);
    if (!pool) {
      pool = new OriginPool(origin, this.#connect, () => this.#byOrigin.delete(origin));
      this.#byOrigin.set(origin, pool);
    }
    return pool.dispatch(connectTimeoutMs, options, handler);
  }

  async close(): Promise<void> {
    const pools = [...this.#byOrigin.values()];
    this.#byOrigin.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

type Connect = ReturnType<typeof buildConnect>;

class OriginPool {
  readonly #pool: Pool;
  readonly #connect: Connect;
  /** The time limit of the call that is being dispatched: undici asks for its connection before `dispatch` returns. */
  #connectTimeoutMs = 0;
  #opened: Socket | undefined;
  /** Sockets that undici does not know yet: it neither bounds nor destroys them. */
  readonly #connecting = new Set<Socket>();
  #connections = 0;

  constructor(origin: string, connect: Connect, onIdle: () => void) {
    this.#connect = connect;
    this.#pool = new Pool(origin, {
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: (options, callback) => this.#open(options, callback),
    });
    const endIfIdle = (): void => {
      if (this.#connections > 0 || this.#pool.stats.size > 0 || this.#pool.closed || this.#pool.destroyed) return;
      onIdle();
      void this.#pool.close();
    };
    this.#pool.on('connect', () => {
      this.#connections += 1;
    });
    this.#pool.on('disconnect', () => {
      this.#connections -= 1;
      endIfIdle();
    });
    this.#pool.on('connectionError', endIfIdle);
  }

  dispatch(
    connectTimeoutMs: number,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): Socket | undefined {
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#opened = undefined; // undici may have opened one for a call that it took up again
    this.#pool.dispatch(options, handler);
    const opened = this.#opened;
    this.#opened = undefined;
    return opened;
  }

  destroy(): Promise<void> {
    const ended = this.#pool.destroy();
    for (const socket of this.#connecting) socket.destroy();
    return ended;
  }

  #open(options: buildConnector.Options, callback: buildConnector.Callback): void {
    const ms = this.#connectTimeoutMs;
    const socket = this.#connect(options, (...result) => {
      callback(...result);
      if (result[1]) passOverContinue(result[1]);
    });
    this.#opened = socket;
    this.#connecting.add(socket);
    const timer = systemClock.timer(ms, () =>
      socket.destroy(Object.assign(new Error(`no connection within ${ms} ms`), { code: 'ETIMEDOUT' })),
    );
    const settle = (): void => {
      timer.cancel();
      this.#connecting.delete(socket);
    };
    socket.once('close', settle).once(options.protocol === 'https:' ? 'secureConnect' : 'connect', settle);
  }
}

/** The part of undici's parser that hears of the end of a reply's headers. */
interface Parser {
  onHeadersComplete(status: number, isUpgrade: boolean, isKeptAlive: boolean): number;
}

const CONTINUE = 100;
const PROCESSING = 102;

/**
 * A client must be able to read informational replies it did not ask for (RFC 9110 15.2). undici (8.12) does, but for 100,
 * which it takes as the end of the connection; so each parser reports 102 in its place, which undici passes over.
 */
function passOverContinue(socket: Socket): void {
  const { [symbols.kParser]: parser } = socket as { [symbols.kParser]?: Parser };
  if (!parser) return; // the connection has ended already
  const tell = parser.onHeadersComplete.bind(parser);
  parser.onHeadersComplete = (status, isUpgrade, isKeptAlive) =>
    tell(status === CONTINUE ? PROCESSING : status, isUpgrade, isKeptAlive);
}
