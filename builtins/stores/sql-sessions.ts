import type { Knex } from 'knex';
import type { Scope } from '../../host/contract/index.ts';
import type { PendingChange } from '../../host/stores/changes.ts';
import type {
  SessionPage,
  SessionPlace,
  SessionRepository,
  StoredSession,
} from '../../host/stores/sessions/session-record.ts';
import { type Database, exclusively, listOf, placeIn, timeOf } from './database/database.ts';
import type { Row } from './key-rows.ts';
import type { Tell } from './database/listen.ts';

const TABLE = 'sessions';
const COLUMNS: readonly string[] = [
  'id',
  'token_hash',
  'subject',
  'credential_id',
  'scopes',
  'created_at',
  'last_seen_at',
  'expires_at',
];

/** Sessions in one table of SQLite or Postgres. */
export class SqlSessions implements SessionRepository {
  readonly #database: Database;
  readonly #tell: Tell;

  constructor(database: Database, tell: Tell) {
    this.#database = database;
    this.#tell = tell;
  }

  insert(session: StoredSession, change?: PendingChange): Promise<void> {
    const { id, digest, subject, credentialId, scopes, createdAt, lastSeenAt, expiresAt } = session;
    const { time } = this.#database.dialect;
    const row = {
      id,
      token_hash: digest,
      subject,
      credential_id: credentialId,
      scopes: JSON.stringify(scopes),
      created_at: time(createdAt),
      last_seen_at: lastSeenAt === undefined ? null : time(lastSeenAt),
      expires_at: time(expiresAt),
    };
    const insert = async (trx: Knex.Transaction): Promise<void> => {
      await trx(TABLE).insert(row);
    };
    return exclusively(this.#database, TABLE, insert, change);
  }

  look(id: string): Promise<StoredSession | undefined> {
    return exclusively(this.#database, TABLE, async (trx) => {
      const row = (await trx(TABLE).where({ id }).first(COLUMNS)) as Row | undefined;
      return row && sessionOf(row);
    });
  }

  async findAll(digests: readonly string[]): Promise<readonly StoredSession[]> {
    const rows = (await this.#database.on('lookups')(TABLE).whereIn('token_hash', digests).select(COLUMNS)) as Row[];
    return rows.map(sessionOf);
  }

  async page(limit: number, after?: SessionPlace): Promise<SessionPage<StoredSession>> {
    const query = this.#database.on('reads')(TABLE);
    if (after) void query.whereRaw('(created_at, id) < (?, ?)', [after.createdAt, after.id]);
    const rows = (await query
      .select(COLUMNS)
      .orderBy([
        { column: 'created_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(limit + 1)) as Row[];
    const page = rows.slice(0, limit);
    return { sessions: page.map(sessionOf), next: rows.length > limit ? placeIn(page.at(-1)) : undefined };
  }

  async placeOf(id: string): Promise<SessionPlace | undefined> {
    return placeIn(await this.#database.on('reads')(TABLE).where({ id }).first('created_at', 'id'));
  }

  async newestOf(credentialId: string): Promise<number | undefined> {
    const row = (await this.#database
      .on('lookups')(TABLE)
      .where({ credential_id: credentialId })
      .orderBy('created_at', 'desc')
      .first('created_at')) as Row | undefined;
    return timeOf(row?.['created_at']);
  }

  async touch(id: string, at: number): Promise<void> {
    const moment = this.#database.dialect.time(at);
    await this.#database
      .on('ledger')(TABLE)
      .where({ id })
      .whereRaw('(last_seen_at IS NULL OR last_seen_at < ?)', [moment])
      .update({ last_seen_at: moment });
  }

  delete(id: string, change?: PendingChange): Promise<boolean> {
    const end = async (trx: Knex.Transaction): Promise<boolean> => {
      const count = await trx(TABLE).where({ id }).delete();
      if (count > 0) await this.#tell(trx, 'session', id); // a notification has room for an id, and not for whatever a path holds
      return count > 0;
    };
    return exclusively(this.#database, TABLE, end, change);
  }

  deleteAll(change?: PendingChange): Promise<number> {
    const end = async (trx: Knex.Transaction): Promise<number> => {
      const count = await trx(TABLE).delete();
      await this.#tell(trx, 'session', undefined);
      return count;
    };
    return exclusively(this.#database, TABLE, end, change);
  }

  async sweep(now: number, idleMs: number, most: number): Promise<number> {
    const { ago } = this.#database.dialect;
    const over = this.#table
      .whereRaw(`(expires_at <= ${ago(0, now)} OR COALESCE(last_seen_at, created_at) <= ${ago(idleMs, now)})`)
      .select('id')
      .limit(most);
    return this.#table.whereIn('id', over).delete();
  }

  async ping(): Promise<void> {
    await this.#database.verify?.();
    await this.#database.on('lookups')(TABLE).select('id').limit(1);
  }

  get #table(): Knex.QueryBuilder {
    return this.#database.knex(TABLE);
  }
}

function sessionOf(row: Row): StoredSession {
  return {
    id: String(row['id']),
    digest: String(row['token_hash']),
    subject: String(row['subject']),
    credentialId: String(row['credential_id']),
    scopes: (listOf(row['scopes']) ?? []) as readonly Scope[],
    createdAt: timeOf(row['created_at']) ?? 0,
    lastSeenAt: timeOf(row['last_seen_at']),
    expiresAt: timeOf(row['expires_at']) ?? 0,
  };
}
