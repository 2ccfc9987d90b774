import type { Knex } from 'knex';
import { isFields, tryParseJson } from '../../../host/contract/index.ts';
import type { PendingChange } from '../../../host/stores/changes.ts';
import type {
  IdentityFilters,
  IdentityPage,
  IdentityRepository,
  IdentityStep,
  StoredIdentity,
} from '../../../host/stores/identities/identity-record.ts';
import { type Database, type Dialect, exclusively, timeOf } from '../database/database.ts';
import type { Tell } from '../database/listen.ts';
import { IDENTITIES } from './identity-schema.ts';

type Row = Readonly<Record<string, unknown>>;

const COLUMNS = [
  'id',
  'issuer',
  'issuer_name',
  'subject',
  'name',
  'claims',
  'first_seen_at',
  'signed_in_at',
  'blocked_at',
  'blocked_by',
];

/** Identities in a table of SQLite or Postgres. */
export class SqlIdentities implements IdentityRepository {
  readonly #database: Database;
  readonly #tell: Tell;

  /** `tell` lets other processes know, in the transaction of the change. */
  constructor(database: Database, tell: Tell) {
    this.#database = database;
    this.#tell = tell;
  }

  async findAll(ids: readonly string[]): Promise<readonly StoredIdentity[]> {
    const rows = (await this.#database.on('lookups')(IDENTITIES).whereIn('id', ids).select(COLUMNS)) as Row[];
    return rows.map(identityIn);
  }

  change(id: string, step: IdentityStep, change?: PendingChange): Promise<StoredIdentity | undefined> {
    const work = async (trx: Knex.Transaction): Promise<StoredIdentity | undefined> => {
      const row = (await trx(IDENTITIES).where({ id }).first(COLUMNS)) as Row | undefined;
      const after = step(row && identityIn(row));
      if (after && row) await trx(IDENTITIES).where({ id }).update(rowOf(after, this.#database.dialect));
      else if (after) await trx(IDENTITIES).insert(rowOf(after, this.#database.dialect));
      else await trx(IDENTITIES).where({ id }).delete();
      await this.#tell(trx, 'identity', id);
      return after;
    };
    return exclusively(this.#database, IDENTITIES, work, change);
  }

  async page(filters: IdentityFilters, limit: number, offset: number): Promise<IdentityPage> {
    const fitting = (): Knex.QueryBuilder => {
      const query = this.#database.on('reads')(IDENTITIES);
      if (filters.issuer !== undefined) void query.where({ issuer_name: filters.issuer });
      if (filters.blocked === true) void query.whereNotNull('blocked_at');
      if (filters.blocked === false) void query.whereNull('blocked_at');
      if (filters.q !== undefined)
        void query.whereRaw(`LOWER(name) LIKE ? ESCAPE '\\'`, [`%${likeText(filters.q.toLowerCase())}%`]);
      return query;
    };
    const rows = (await fitting()
      .select(COLUMNS)
      .orderByRaw('COALESCE(signed_in_at, first_seen_at) DESC, id')
      .limit(limit)
      .offset(offset)) as Row[];
    const [counted] = (await fitting().count({ total: '*' })) as Row[];
    return { identities: rows.map(identityIn), total: Number(counted?.['total'] ?? 0) };
  }
}

const likeText = (text: string): string => text.replace(/[\\%_]/g, String.raw`\$&`);

function rowOf(identity: StoredIdentity, { time }: Dialect): Row {
  const { id, issuerUrl, issuer, subject, name, claims, firstSeenAt, signedInAt, blockedAt, blockedBy } = identity;
  const timed = (at: number | undefined): unknown => (at === undefined ? null : time(at));
  return {
    id,
    issuer: issuerUrl,
    issuer_name: issuer,
    subject,
    name,
    claims: claims ? JSON.stringify(claims) : null,
    first_seen_at: time(firstSeenAt),
    signed_in_at: timed(signedInAt),
    blocked_at: timed(blockedAt),
    blocked_by: blockedBy ?? null,
  };
}

/** Claims that cannot be read are none: then no rule matches. */
function identityIn(row: Row): StoredIdentity {
  const { claims: kept } = row;
  const claims = typeof kept === 'string' ? tryParseJson(kept) : undefined;
  const text = (name: string): string => {
    const value = row[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    id: text('id'),
    issuerUrl: text('issuer'),
    issuer: text('issuer_name'),
    subject: text('subject'),
    name: text('name'),
    claims: isFields(claims) ? claims : undefined,
    firstSeenAt: timeOf(row['first_seen_at']) ?? 0,
    signedInAt: timeOf(row['signed_in_at']),
    blockedAt: timeOf(row['blocked_at']),
    blockedBy: row['blocked_by'] === null ? undefined : text('blocked_by'),
  };
}
