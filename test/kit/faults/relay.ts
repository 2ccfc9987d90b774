import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { atEnd } from '../cleanup.ts';
import { type After, type Awaited, RelayedConnection, type Side } from './relayed-connection.ts';
import { asTheyCome, postgresDialogue } from './postgres-units.ts';

/**
 * What becomes of the connections through a relay.
 *
 * | Mode | Those that are open | New ones |
 * |---|---|---|
 * | `pass` | pass | pass |
 * | `cut` | are reset | are reset as they come |
 * | `silent` | stay open, and nothing more is heard on them, also once the mode is another: as where a firewall has forgotten them | pass |
 * | `dark` | as `silent` | are taken, and never answered |
 * | `held` | nothing passes until the mode is another; then all of it does, late | the same |
 * | `deaf` | pass, without the notifications of Postgres | the same |
 */
export type RelayMode = 'pass' | 'cut' | 'silent' | 'dark' | 'held' | 'deaf';

interface Counted {
  readonly text: string;
  readonly by: Side;
  count: number;
}

/** A TCP relay in front of a server, for its bad days. */
export class Relay {
  /** Milliseconds that everything takes longer on its way, both ways. */
  delayMs = 0;
  readonly #target: URL;
  readonly #server: Server;
  readonly #open = new Set<RelayedConnection>();
  readonly #awaited = new Set<Awaited>();
  readonly #counted: Counted[] = [];
  #mode: RelayMode = 'pass';
  #taken = 0;

  constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#take(client));
  }

  get mode(): RelayMode {
    return this.#mode;
  }

  set mode(mode: RelayMode) {
    this.#mode = mode;
    for (const connection of this.#open) {
      if (mode === 'cut') connection.cut();
      if (mode === 'silent' || mode === 'dark') connection.silence();
      connection.hold(mode === 'held');
    }
  }

  /** The address of the server with that of the relay in it. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Connections whose client has not closed them. */
  get open(): number {
    return this.#open
      .values()
      .filter(({ isLeft }) => !isLeft)
      .reduce((sum) => sum + 1, 0);
  }

  /** Connections that were made through it so far. */
  get taken(): number {
    return this.#taken;
  }

  /** Resolves when it has happened. */
  after(text: string, { by = 'client', then = 'silent', arrives = true, all = false }: After = {}): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awaited.add({ text, after: { by, then, arrives, all }, happened: resolve });
    return promise;
  }

  /** How many messages hold a text from here on: statements of a client, or answers of the server. */
  counts(text: string, by: Side = 'client'): { readonly count: number } {
    const counted = { text, by, count: 0 };
    this.#counted.push(counted);
    return counted;
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  async close(): Promise<void> {
    for (const connection of this.#open) connection.cut();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #take(client: Socket): void {
    this.#taken += 1;
    const isPostgres = this.#target.protocol.startsWith('postgres');
    const connection = new RelayedConnection(client, {
      target: { host: this.#target.hostname, port: Number(this.#target.port) },
      dialogue: isPostgres ? postgresDialogue() : asTheyCome(),
      delayMs: () => this.delayMs,
      isDeaf: () => isPostgres && this.#mode === 'deaf',
      heard: (by, unit) => this.#heard(by, unit),
      silenceAll: () => this.#open.forEach((each) => each.silence()),
      cutAll: () => this.#open.forEach((each) => each.cut()),
      ended: () => this.#open.delete(connection),
    });
    this.#open.add(connection);
    if (this.#mode === 'cut') connection.cut();
    if (this.#mode === 'dark') connection.silence();
    if (this.#mode === 'held') connection.hold(true);
  }

  #heard(by: Side, unit: Buffer): Awaited | undefined {
    for (const counted of this.#counted) if (counted.by === by && unit.includes(counted.text)) counted.count += 1;
    for (const awaited of this.#awaited) {
      if (awaited.after.by !== by || !unit.includes(awaited.text)) continue;
      this.#awaited.delete(awaited);
      return awaited;
    }
    return undefined;
  }
}

/** A relay in front of the server at an address such as `postgres://…` or `redis://…`, until the test or the suite ends. Only Postgres is cut into messages: of others a text must come in one piece. */
export async function startRelay(target: string): Promise<Relay> {
  const relay = new Relay(target);
  await relay.listen();
  atEnd(() => relay.close());
  return relay;
}
