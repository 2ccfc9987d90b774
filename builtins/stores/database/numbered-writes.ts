import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { WRITERS } from '../replicas/replica-schema.ts';

/** What is bound in a statement. */
export type Bound = Knex.Value;

/**
 * A list as one value, which is an array in Postgres, without the one character that its texts do not hold. The driver writes `null` as
 * nothing, of which the types of its members know nothing.
 */
export function arrayOf(values: readonly (string | number | boolean | null)[]): Bound {
  return values.map((value) => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value)) as string[];
}

/** A part of a statement, and its values. */
export interface Part {
  readonly sql: string;
  readonly bindings: readonly Bound[];
}

/** What one process writes many rows of at a time. */
export type Stream = 'ledger' | 'uses' | 'audit' | 'log';

/** How a statement keeps its rows once: `moved` begins its list of `WITH`, and its rows are written only where `isFirst` holds. */
export interface Once {
  readonly moved: Part;
  readonly isFirst: string;
}

/** Each call counts. */
const UNNUMBERED: Once = { moved: { sql: 'moved AS (SELECT 1)', bindings: [] }, isFirst: 'TRUE' };

/**
 * A process that writes to Postgres what others write too, each batch once, however often it is sent (docs/stores.md#once-each). The statement that
 * writes the rows moves the number of its writer as well, and does neither where that number, or a higher one, stands there already. The name
 * is new at each start: no number of an earlier process is in its way, and a store that went back knows nothing of it, or a lower number.
 */
export class Writer {
  readonly #name = randomUUID();
  readonly #stream: Stream;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  once(number: number | undefined): Once {
    if (number === undefined) return UNNUMBERED;
    return {
      moved: {
        sql: `moved AS (INSERT INTO ${WRITERS} (writer, stream, seq, seen_at) VALUES (?, ?, ?, now())
          ON CONFLICT (writer, stream) DO UPDATE SET seq = excluded.seq, seen_at = excluded.seen_at WHERE ${WRITERS}.seq < excluded.seq RETURNING 1)`,
        bindings: [this.#name, this.#stream, number],
      },
      isFirst: 'EXISTS (SELECT 1 FROM moved)',
    };
  }
}

/**
 * Calls to a file of SQLite, which belongs to one process: its driver answers each of them in the end. So a number that comes again while its
 * first call is on its way, given up by who asked, gets the answer of that call. What failed was not kept, and is done again.
 */
export class SentOnce<T> {
  #sent: { readonly number: number; readonly answer: Promise<T> } | undefined;

  async send(number: number | undefined, call: () => Promise<T>): Promise<T> {
    if (number === undefined) return call();
    if (this.#sent?.number === number) return this.#sent.answer;
    const sent = { number, answer: call() };
    this.#sent = sent;
    sent.answer.catch(() => {
      if (this.#sent === sent) this.#sent = undefined;
    });
    return sent.answer;
  }
}
