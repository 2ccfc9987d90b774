import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dialogue, isNotification } from './postgres-units.ts';

export type Side = 'client' | 'server';

/** What happens once, as soon as a side says a text. */
export interface After {
  /** Who says it; the client unless said. */
  readonly by?: Side;
  /** To the connection: it stays open and nothing more is heard on it, or it ends. `silent` unless said. */
  readonly then?: 'silent' | 'cut';
  /** Whether the message with the text still arrives; it does unless said. Of a client that is all up to its `Sync`. */
  readonly arrives?: boolean;
  /** Not to this connection alone, but to every one that is open: as when a machine is lost. */
  readonly all?: boolean;
}

/** A text that is waited for. */
export interface Awaited {
  readonly text: string;
  readonly after: Required<After>;
  readonly happened: () => void;
}

export interface RelayedBy {
  readonly target: { readonly host: string; readonly port: number };
  readonly dialogue: Dialogue;
  readonly delayMs: () => number;
  readonly isDeaf: () => boolean;
  /** What was waited for and is in this message. */
  readonly heard: (by: Side, unit: Buffer) => Awaited | undefined;
  readonly silenceAll: () => void;
  readonly cutAll: () => void;
  readonly ended: () => void;
}

/** One connection through a relay: the two sockets, and what goes from one to the other. */
export class RelayedConnection {
  readonly #by: RelayedBy;
  readonly #sockets: Readonly<Record<Side, Socket>>;
  /** What is on its way to a side, in order; undefined where nothing is. */
  readonly #late: Record<Side, Promise<void> | undefined> = { client: undefined, server: undefined };
  #isSilent = false;
  #closed = 0;

  constructor(client: Socket, by: RelayedBy) {
    this.#by = by;
    this.#sockets = { client, server: connect({ ...by.target, allowHalfOpen: true, noDelay: true }) };
    this.#relay('client', 'server');
    this.#relay('server', 'client');
  }

  /** Its client has closed it. */
  get isLeft(): boolean {
    return this.#sockets.client.readableEnded || this.#sockets.client.destroyed;
  }

  /** Both sockets stay open; what one side says, also that it ends, does not reach the other. */
  silence(): void {
    this.#isSilent = true;
  }

  cut(): void {
    for (const socket of Object.values(this.#sockets)) socket.resetAndDestroy();
  }

  hold(isHeld: boolean): void {
    for (const socket of Object.values(this.#sockets)) {
      if (isHeld) socket.pause();
      else socket.resume();
    }
  }

  #relay(from: Side, to: Side): void {
    const { [from]: source, [to]: sink } = this.#sockets;
    const { [from]: cut } = this.#by.dialogue;
    source.on('data', (bytes: Buffer) => {
      for (const unit of this.#isSilent ? [] : cut(bytes)) this.#say(from, to, unit);
    });
    source.on('end', () => {
      if (!this.#isSilent) this.#later(to, () => sink.end());
    });
    source.on('error', () => {}); // what follows is 'close'
    source.on('close', (hasFailed) => {
      if (hasFailed && !this.#isSilent) sink.resetAndDestroy();
      this.#closed += 1;
      if (this.#closed === 2) this.#by.ended();
    });
  }

  #say(from: Side, to: Side, unit: Buffer): void {
    if (this.#isSilent || (from === 'server' && this.#by.isDeaf() && isNotification(unit))) return;
    const awaited = this.#by.heard(from, unit);
    if (!awaited || awaited.after.arrives)
      this.#later(to, () => {
        this.#sockets[to].write(unit);
      });
    if (!awaited) return;
    const { then, all } = awaited.after;
    if (then === 'silent') this.#silence(all);
    else this.#end(from, to, all);
    awaited.happened();
  }

  #silence(all: boolean): void {
    if (all) this.#by.silenceAll();
    else this.silence();
  }

  /** A reset may overtake what was said just before it, so that the side to which a last message goes reads the end after it. */
  #end(from: Side, to: Side, all: boolean): void {
    this.#sockets[from].resetAndDestroy();
    this.silence();
    this.#later(to, () => {
      this.#sockets[to].end();
      if (all) this.#by.cutAll();
    });
  }

  /** At once, unless something is on its way or takes longer. */
  #later(to: Side, act: () => void): void {
    const delayMs = this.#by.delayMs();
    const before = this.#late[to];
    if (delayMs === 0 && !before) {
      act();
      return;
    }
    const due = performance.now() + delayMs;
    const late: Promise<void> = (before ?? Promise.resolve())
      .then(() => sleep(Math.max(0, due - performance.now())))
      .then(() => {
        if (this.#late[to] === late) this.#late[to] = undefined;
        if (!this.#sockets[to].destroyed) act();
      });
    this.#late[to] = late;
  }
}
