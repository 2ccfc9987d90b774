import type { ChangeFeed } from '../../../host/stores/change-feed.ts';
import { type Changed, type Listener, STALE_MS, type Tell } from '../database/listen.ts';

/** A word says who changed it, what, and which. One that is not known is of a newer program, and is overlooked. */
export const KEY_CHANNEL = 'gw_key_changes';

/** Changes of keys and sessions: sent in their transactions, and heard of from other processes. */
export class KeyChanges {
  readonly #listener: Listener;
  /** Tells this process's own changes from those of others. */
  readonly #origin: string;
  readonly #told: Readonly<Record<Changed, ((id: string | undefined) => void)[]>> = {
    key: [],
    session: [],
    account: [],
    identity: [],
  };

  constructor(listener: Listener, origin: string) {
    this.#listener = listener;
    this.#origin = origin;
    listener.on(KEY_CHANNEL, (word) => this.#hear(word));
  }

  readonly tell: Tell = async (trx, what, id) => {
    await trx.raw('SELECT pg_notify(?, ?)', [KEY_CHANNEL, `${this.#origin} ${what} ${id ?? ''}`]);
  };

  feed(what: Changed): ChangeFeed {
    return {
      freshSince: () => this.#listener.freshSince(),
      onChange: (changed) => {
        this.#told[what].push(changed);
      },
      note: () => (this.#listener.hears ? undefined : `changes are heard of within ${STALE_MS / 1000} s`),
    };
  }

  #hear(word: string): void {
    const [origin, what = '', id = ''] = word.split(' ');
    if (origin === this.#origin || !isChanged(what)) return;
    for (const told of this.#told[what]) told(id === '' ? undefined : id);
  }
}

const isChanged = (what: string): what is Changed =>
  what === 'key' || what === 'session' || what === 'account' || what === 'identity';
