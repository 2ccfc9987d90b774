import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import symbols from 'undici/lib/core/symbols.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { systemClock, type Timer } from '../common/clock.ts';
import { type Open, plainWay } from './egress/plain-way.ts';
import type { Way } from './egress/way.ts';
import type { EgressOfCall, UpstreamCall } from './upstream-call.ts';

const KEEP_ALIVE_MS = 90_000;
/** Bytes of an answer's headers; as many as a client may send. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** What a call says of the connection it is sent on. */
type Connecting = Pick<UpstreamCall, 'connectTimeoutMs' | 'egress'>;

/**
 * One connection pool per upstream origin, and per way there of declared instances. It goes with its last connection: plugins
 * may call any number of hosts, and a pool without connections costs nothing.
 */
export class Pools {
  readonly #byOrigin = new Map<string, OriginPool>();
  readonly #byWay = new Map<string, Map<string, OriginPool>>();
  /** Nothing new is sent by them. */
  readonly #ending = new Set<OriginPool>();
  /** How many instances call an origin by a way. */
  readonly #held = new Map<string, number>();
  /** One for all, so that TLS sessions outlive the pools they were opened in. */
  readonly #open = plainWay();

  /** Origins with a connection or a call, of each way by itself. */
  get size(): number {
    let size = this.#byOrigin.size;
    for (const pools of this.#byWay.values()) size += pools.size;
    return size;
  }

  /** Sends a request. Returns the connection that this call has to open, while it is being made: only this call waits for it. */
  dispatch(
    origin: string,
    { connectTimeoutMs, egress }: Connecting,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): Socket | undefined {
    const way = egress?.way;
    const pools = way ? this.#poolsOf(way) : this.#byOrigin;
    let pool = pools.get(origin);
    if (!pool) {
      const onIdle = (): void => {
        pools.delete(origin);
        if (way && pools.size === 0) this.#byWay.delete(way.key);
      };
      pool = new OriginPool(origin, way?.open ?? this.#open, onIdle);
      pools.set(origin, pool);
    }
    return pool.dispatch(connectTimeoutMs, options, handler);
  }

  /**
   * Says that an instance calls an origin by its way. Returns what takes that back: the connections of the last one that did
   * end then, once their calls have.
   */
  hold(origin: string, egress: EgressOfCall): () => void {
    const { key } = egress.way;
    const held = `${key} ${origin}`;
    this.#held.set(held, (this.#held.get(held) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#held.get(held) ?? 1) - 1;
      if (left > 0) this.#held.set(held, left);
      else this.#held.delete(held);
      for (const each of new Set([key, egress.way.key]))
        if (!this.#held.has(`${each} ${origin}`)) this.#end(each, origin);
    };
  }

  #end(key: string, origin: string): void {
    const pools = this.#byWay.get(key);
    const pool = pools?.get(origin);
    if (!pools || !pool) return;
    pools.delete(origin);
    if (pools.size === 0) this.#byWay.delete(key);
    this.#ending.add(pool);
    void pool.end().finally(() => this.#ending.delete(pool));
  }

  async close(): Promise<void> {
    const pools = [...[this.#byOrigin, ...this.#byWay.values()].flatMap((each) => [...each.values()]), ...this.#ending];
    this.#byOrigin.clear();
    this.#byWay.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #poolsOf({ key }: Way): Map<string, OriginPool> {
    const known = this.#byWay.get(key);
    if (known) return known;
    const made = new Map<string, OriginPool>();
    this.#byWay.set(key, made);
    return made;
  }
}

class OriginPool {
  readonly #pool: Pool;
  readonly #connect: Open;
  /** The time limit of the call that is being dispatched: undici asks for its connection before `dispatch` returns. */
  #connectTimeoutMs = 0;
  #opened: Socket | undefined;
  /** Sockets that undici does not know yet: it neither bounds nor destroys them. */
  readonly #connecting = new Set<Socket>();
  #connections = 0;

  constructor(origin: string, connect: Open, onIdle: () => void) {
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

  /** When the calls have ended. */
  end(): Promise<void> {
    return this.#pool.close();
  }

  destroy(): Promise<void> {
    const ended = this.#pool.destroy();
    for (const socket of this.#connecting) socket.destroy();
    return ended;
  }

  /** Bounds what the connection takes until the provider, or the proxy on the way to it, lets calls pass. */
  #open(options: buildConnector.Options, callback: buildConnector.Callback): void {
    const ms = this.#connectTimeoutMs;
    let ended: Error | undefined;
    let isSettled = false;
    const settle = (...result: Parameters<buildConnector.Callback>): void => {
      if (isSettled) return;
      isSettled = true;
      timer?.cancel();
      if (socket) this.#connecting.delete(socket);
      callback(...result);
      if (result[1]) passOverContinue(result[1]);
    };
    let timer: Timer | undefined;
    const socket = this.#connect(options, settle);
    if (!socket) return;
    this.#opened = socket;
    this.#connecting.add(socket);
    timer = systemClock.timer(ms, () => {
      ended = Object.assign(new Error(`no connection within ${ms} ms`), { code: 'ETIMEDOUT' });
      socket.destroy(ended);
    });
    socket.once('close', () => settle(ended ?? new Error('the connection closed while it was being made'), null));
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
