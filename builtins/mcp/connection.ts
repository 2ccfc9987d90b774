import { setImmediate } from 'node:timers/promises';
import type { Timer } from '../../host/common/clock.ts';
import { nextRound } from '../../host/common/next-turn.ts';
import { errorMessage } from '../../host/common/error-message.ts';
import { type Fields, GatewayError, type Log } from '../../host/contract/index.ts';
import type { Handshake, ServerTool, ToolResult } from '../../host/pipeline/tool-servers.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import type { Clock } from '../../host/common/clock.ts';
import { listTools, shakeHands } from './link/handshake.ts';
import type { Link, LinkEvents } from './link/link.ts';
import { ToolServerError } from './link/rpc.ts';

/** For a whole handshake, list of tools included. See docs/mcp.md#servers. */
const HANDSHAKE_LIMIT_MS = 60_000;

/** How long after a failure it is tried again; twice as long each time. See docs/mcp.md#servers. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/** A server that is lost sooner than this after it became ready is as good as one that fails: its waits grow from loss to loss. */
const STEADY_AFTER_MS = 30_000;

/** A list that changes again and again is read no more often than this. */
const RELIST_EVERY_MS = 1000;

export interface ConnectionOptions {
  readonly name: string;
  /** Per call, `initialize` and `tools/list` included. */
  readonly limitMs: number;
  /** Names of the tools that are used; all where it is empty. */
  readonly allowedTools: readonly string[];
  readonly gatewayVersion: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes secrets out of a text. */
  readonly clean: (text: string) => string;
  /** Opens a link. Throws for an address or a command that cannot be used. */
  readonly open: (events: LinkEvents, renew: (link: Link) => Promise<void>) => Link;
  readonly onHandshake: (handshake: Handshake) => void;
  /** Its tools, or whether it is ready, have changed. */
  readonly onChange?: (() => void) | undefined;
}

/** A server as the servers of a configuration use it, wherever its connection is. */
export interface ToolConnection {
  readonly isReady: boolean;
  /** None while it is not ready; the same array for as long as it has the same tools. */
  readonly tools: readonly ServerTool[];
  readonly lastError: string;
  /** Rejects with a `ToolServerError`, or with the cause of the cancellation. */
  call(name: string, args: Readonly<Fields>, cancellation: Cancellation): Promise<ToolResult>;
}

/** One server for as long as some configuration names it: shaken hands with in the background, and again whenever it is lost. */
export class ServerConnection implements ToolConnection {
  readonly #options: ConnectionOptions;
  #link: Link | undefined;
  #tools: readonly ServerTool[] | undefined;
  /** Names of its tools, in the order in which they first came. */
  #order: readonly string[] = [];
  #lastError = 'the handshake is not over yet';
  #retry: Timer | undefined;
  #waitMs = FIRST_WAIT_MS;
  /** The wait after the next loss, when that comes soon. */
  #lossWaitMs = FIRST_WAIT_MS;
  #readyAt = 0;
  #relisting: Timer | undefined;
  #isStale = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    void this.#connect();
  }

  get isReady(): boolean {
    return this.#tools !== undefined;
  }

  /** None while it is not ready. */
  get tools(): readonly ServerTool[] {
    return this.#tools ?? NONE;
  }

  get lastError(): string {
    return this.isReady ? '' : this.#lastError;
  }

  get link(): Link | undefined {
    return this.#link;
  }

  /** Rejects with a `ToolServerError`, or with the cause of the cancellation. */
  async call(name: string, args: Readonly<Fields>, cancellation: Cancellation): Promise<ToolResult> {
    const { limitMs } = this.#options;
    if (!this.#link || !this.isReady) throw new ToolServerError('unavailable', this.lastError);
    const result = await this.#link.request({
      method: 'tools/call',
      params: { name, arguments: args },
      limitMs,
      cancellation,
    });
    await nextRound(); // a result may be long: what is made of it is not made in the turn that read it
    const { content } = result;
    return { ...result, content: Array.isArray(content) ? content : [] };
  }

  /** In the server's own time, within some seconds; once. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end()?.close() ?? Promise.resolve());
  }

  kill(): void {
    this.#end()?.kill();
  }

  #end(): Link | undefined {
    this.#isClosed = true;
    this.#tools = undefined;
    this.#lastError = 'it is closed';
    this.#retry?.cancel();
    this.#relisting?.cancel();
    return this.#link;
  }

  async #connect(): Promise<void> {
    await setImmediate(); // a configuration does not wait for its servers to be started
    if (this.#isClosed) return;
    const { clock, name, onHandshake } = this.#options;
    const startedAt = clock.monotonic();
    const cancellation = new Cancellation();
    const timer = clock.timer(HANDSHAKE_LIMIT_MS, () =>
      cancellation.cancel(
        new GatewayError('upstream_timeout', `the handshake did not end within ${HANDSHAKE_LIMIT_MS} ms`),
      ),
    );
    let initializedAt: number | undefined;
    let error: unknown;
    let link: Link | undefined;
    try {
      link = this.#open();
      await this.#shake(link, cancellation);
      initializedAt = clock.monotonic();
      this.#take(link, await listTools(link, { limitMs: this.#options.limitMs, cancellation }));
    } catch (cause) {
      error = cause;
      this.#lose(link, cause);
    } finally {
      timer.cancel();
    }
    if (this.#isClosed) return;
    onHandshake({
      server: name,
      startedAt,
      initializedAt,
      endedAt: clock.monotonic(),
      tools: this.#tools?.length,
      error,
    });
  }

  #open(): Link {
    const events: LinkEvents = {
      onListChanged: () => {
        if (this.#link === link) this.#relist();
      },
      onLost: (error) => this.#lose(link, error),
    };
    const link = this.#options.open(events, (renewed) => this.#shake(renewed));
    this.#link = link;
    return link;
  }

  #shake(link: Link, cancellation?: Cancellation): Promise<void> {
    const { limitMs, gatewayVersion, log, name } = this.#options;
    return shakeHands(link, {
      limitMs,
      gatewayVersion,
      ...(cancellation && { cancellation }),
      onUnknownVersion: (version) =>
        log.warn('mcp server speaks a protocol version that is not known', { server: name, version }),
    });
  }

  #take(link: Link, tools: readonly ServerTool[]): void {
    const { name, log, clock } = this.#options;
    if (this.#isClosed || this.#link !== link) return;
    this.#tools = this.#allowed(tools);
    this.#readyAt = clock.monotonic();
    log.info('mcp server is ready', { server: name, tools: this.#tools.length });
    this.#options.onChange?.();
    link.begin();
    if (this.#isStale) this.#relist();
  }

  /** In the order that they had: vendors read a request from their caches, and take thoughts back, only where it begins as before. */
  #allowed(tools: readonly ServerTool[]): readonly ServerTool[] {
    const { allowedTools } = this.#options;
    const own = allowedTools.length === 0 ? tools : tools.filter(({ name }) => allowedTools.includes(name));
    const places = new Map(this.#order.map((name, at) => [name, at]));
    const placeOf = ({ name }: ServerTool): number => places.get(name) ?? places.size;
    const ordered = own.toSorted((one, other) => placeOf(one) - placeOf(other));
    this.#order = ordered.map(({ name }) => name);
    return ordered;
  }

  /** A link that has been replaced by another has nothing to say any more. */
  #lose(link: Link | undefined, cause: unknown): void {
    if (this.#isClosed || this.#link !== link || this.#retry) return;
    const { name, log, clock, clean } = this.#options;
    if (this.isReady) this.#waitAfterLoss(clock.monotonic() - this.#readyAt);
    this.#link = undefined;
    this.#tools = undefined;
    this.#lastError = clean(errorMessage(cause));
    this.#relisting?.cancel();
    this.#relisting = undefined;
    this.#isStale = false;
    link?.kill();
    log.warn('mcp server is not ready', { server: name, error: cause, retry_ms: this.#waitMs });
    this.#options.onChange?.();
    this.#retry = clock.timer(this.#waitMs, () => {
      this.#retry = undefined;
      void this.#connect();
    });
    this.#waitMs = Math.min(LONGEST_WAIT_MS, 2 * this.#waitMs);
  }

  #waitAfterLoss(readyForMs: number): void {
    this.#waitMs = readyForMs < STEADY_AFTER_MS ? this.#lossWaitMs : FIRST_WAIT_MS;
    this.#lossWaitMs = Math.min(LONGEST_WAIT_MS, 2 * this.#waitMs);
  }

  /** Reads the list again; until it is there the old one stands, and where it cannot be read. */
  #relist(): void {
    if (this.#relisting || !this.isReady) {
      this.#isStale = true;
      return;
    }
    const link = this.#link;
    if (!link) return;
    const { clock, limitMs, log, name, clean } = this.#options;
    this.#isStale = false;
    this.#relisting = clock.timer(RELIST_EVERY_MS, () => {
      this.#relisting = undefined;
      if (this.#isStale) this.#relist();
    });
    listTools(link, { limitMs }).then(
      (tools) => {
        if (this.#link !== link || !this.isReady) return;
        this.#tools = this.#allowed(tools);
        this.#options.onChange?.();
      },
      (error: unknown) => {
        if (this.#link === link)
          log.warn('the changed tools of an mcp server could not be read', {
            server: name,
            error: clean(errorMessage(error)),
          });
      },
    );
  }
}

const NONE: readonly ServerTool[] = Object.freeze([]);
