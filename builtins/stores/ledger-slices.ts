import type { DrawAnswer, DrawCall, Drawn } from '../../host/stores/ledgers/ledger-repository.ts';
import { type Database, rowsOf } from './database/database.ts';
import type { Schema } from './database/migrate.ts';
import type { Sweep } from './replicas/upkeep.ts';

export const SLICES = 'ledger_slices';
const HOLDERS = 'ledger_holders';
/** For how long a process counts as alive after it was heard of, by the database's clock. Its own limit is less (`SLICE_FENCE_MS`). */
const LEASE = "interval '15 seconds'";

/**
 * What a process holds is what it says, so that a word which got lost is mended by the next. Draws of one account go one after another; a booking moves sum and slice in one
 * step, so that what is read here is never one without the other. Of a process that is lost the slice counts no more, unless nothing may cross the limit.
 */
const DRAW = `CREATE OR REPLACE FUNCTION gw_draw_1(asker TEXT, holdings JSONB, draws JSONB)
RETURNS TABLE (place INTEGER, is_granted BOOLEAN, more BIGINT, committed BIGINT, outstanding BIGINT, replicas BIGINT)
LANGUAGE plpgsql SET search_path FROM CURRENT SET lock_timeout = '1s' AS $$
#variable_conflict use_column
DECLARE
  asked RECORD;
  sums RECORD;
  total NUMERIC;
  rest NUMERIC;
  beyond BIGINT;
  alive BIGINT;
  fits BOOLEAN;
BEGIN
  INSERT INTO ${HOLDERS} (holder, until) VALUES (asker, clock_timestamp() + ${LEASE}) ON CONFLICT (holder) DO UPDATE SET until = excluded.until;
  SELECT count(*) INTO alive FROM ${HOLDERS} AS known WHERE known.until > clock_timestamp();
  FOR asked IN SELECT DISTINCT hashtextextended(given.ledger || ' ' || given.account, 0) AS number FROM jsonb_to_recordset(draws) AS given (ledger TEXT, account TEXT) ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock(asked.number);
  END LOOP;
  DELETE FROM ${SLICES} AS known USING jsonb_to_recordset(holdings) AS given (ledger TEXT, account TEXT, held BIGINT)
  WHERE known.holder = asker AND known.ledger = given.ledger AND known.account = given.account AND given.held = 0;
  INSERT INTO ${SLICES} (ledger, account, holder, amount, is_whole, ends_at)
  SELECT given.ledger, given.account, asker, given.held, given.is_whole, given.ends_at
  FROM jsonb_to_recordset(holdings) AS given (ledger TEXT, account TEXT, held BIGINT, is_whole BOOLEAN, ends_at TIMESTAMPTZ) WHERE given.held > 0
  ON CONFLICT (ledger, account, holder) DO UPDATE SET amount = excluded.amount, is_whole = excluded.is_whole, ends_at = excluded.ends_at;
  FOR asked IN SELECT given.place, given.ledger, given.account, given.spend_limit, given.need, given.running, given.free, given.more, given.beyond, given.is_whole, given.ends_at
    FROM jsonb_to_recordset(draws) AS given (place INTEGER, ledger TEXT, account TEXT, spend_limit BIGINT, need BIGINT, running BIGINT,
      free BIGINT, more BIGINT, beyond BIGINT, is_whole BOOLEAN, ends_at TIMESTAMPTZ) ORDER BY given.place LOOP
    SELECT coalesce((SELECT CAST(known.committed AS NUMERIC) FROM ledger_accounts AS known WHERE known.ledger = asked.ledger AND known.account = asked.account), 0) AS spent,
      coalesce((SELECT sum(slices.amount) FROM ${SLICES} AS slices LEFT JOIN ${HOLDERS} AS holders ON holders.holder = slices.holder
        WHERE slices.ledger = asked.ledger AND slices.account = asked.account
        AND (slices.holder = asker OR slices.is_whole OR holders.until > clock_timestamp())), 0) AS held INTO sums;
    total := sums.spent + sums.held + asked.beyond;
    fits := CASE WHEN asked.is_whole THEN total + asked.need <= asked.spend_limit ELSE total - asked.free + asked.running < asked.spend_limit END;
    beyond := 0;
    IF fits THEN
      rest := asked.spend_limit - total - asked.need;
      IF rest > 20 * alive * (asked.need + asked.free) THEN
        beyond := least(asked.more, floor(rest / (4 * alive)));
      END IF;
      INSERT INTO ${SLICES} (ledger, account, holder, amount, is_whole, ends_at)
      VALUES (asked.ledger, asked.account, asker, asked.need + beyond, asked.is_whole, asked.ends_at)
      ON CONFLICT (ledger, account, holder) DO UPDATE SET amount = ${SLICES}.amount + excluded.amount, is_whole = excluded.is_whole;
    END IF;
    RETURN QUERY SELECT asked.place, fits, beyond, CAST(least(sums.spent, 9007199254740991) AS BIGINT), CAST(least(sums.held, 9007199254740991) AS BIGINT), alive;
  END LOOP;
  RETURN QUERY SELECT -1, FALSE, CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(0 AS BIGINT), alive;
END $$`;

/** On Postgres alone: what processes hold of budgets for their calls. */
export const SLICE_SCHEMA: Schema = {
  ledger: 'slice_schema_migrations',
  table: SLICES,
  migrations: [
    {
      version: 1,
      name: 'slices of budgets',
      readsFrom: null,
      up: async (trx, { moment, integer }) => {
        await trx.raw(`CREATE TABLE ${HOLDERS} (holder TEXT PRIMARY KEY, until ${moment} NOT NULL)`);
        await trx.raw(`CREATE TABLE ${SLICES} (
          ledger TEXT NOT NULL, account TEXT NOT NULL, holder TEXT NOT NULL, amount ${integer} NOT NULL, is_whole BOOLEAN NOT NULL, ends_at ${moment},
          PRIMARY KEY (ledger, account, holder))`);
        await trx.raw(DRAW);
      },
    },
  ],
};

/** Draws for one process. */
export async function drawSlices(
  { on, dialect }: Database,
  holder: string,
  { holdings, draws }: DrawCall,
): Promise<DrawAnswer> {
  const moment = (at: number | undefined): unknown => (at === undefined ? null : dialect.time(at));
  const text = (value: string): string => value.toWellFormed().replaceAll('\0', '\ufffd'); // as the driver writes it elsewhere
  const rows = rowsOf(
    await on('ledger').raw(
      'SELECT place, is_granted, more, committed, outstanding, replicas FROM gw_draw_1(?, CAST(? AS JSONB), CAST(? AS JSONB))',
      [
        holder,
        JSON.stringify(
          holdings.map(({ ledger, key, held, isWhole, endsAt }) => ({
            ledger: text(ledger),
            account: text(key),
            held,
            is_whole: isWhole,
            ends_at: moment(endsAt),
          })),
        ),
        JSON.stringify(
          draws.map(({ ledger, key, limit, need, running, free, more, beyond, isWhole, endsAt }, place) => ({
            place,
            ledger: text(ledger),
            account: text(key),
            spend_limit: limit,
            need,
            running,
            free,
            more,
            beyond,
            is_whole: isWhole,
            ends_at: moment(endsAt),
          })),
        ),
      ],
    ),
  );
  const drawn = rows
    .filter((row) => Number(row['place']) >= 0)
    .toSorted((one, other) => Number(one['place']) - Number(other['place']))
    .map((row): Drawn => ({
      isGranted: row['is_granted'] === true,
      more: Number(row['more']),
      committed: Number(row['committed']),
      outstanding: Number(row['outstanding']),
    }));
  return { drawn, replicas: Number(rows[0]?.['replicas'] ?? 1) };
}

/** What processes left behind that are lost, a day after they were heard of; and of budgets that ended. */
export function sliceSweeps({ knex }: Database): readonly Sweep[] {
  const removed = async (sql: string, most: number): Promise<number> => rowsOf(await knex.raw(sql, [most])).length;
  const isOver = `NOT is_whole AND NOT EXISTS (SELECT 1 FROM ${HOLDERS} AS known WHERE known.holder = ${SLICES}.holder AND known.until > now() - interval '1 day')`;
  return [
    {
      what: 'slices of replicas that ended',
      slice: (most) =>
        removed(
          `DELETE FROM ${SLICES} WHERE (ledger, account, holder) IN (SELECT ledger, account, holder FROM ${SLICES} WHERE ${isOver} OR ends_at < now() - interval '35 days' LIMIT ?) RETURNING holder`,
          most,
        ),
    },
    {
      what: 'holders of slices that ended',
      slice: (most) =>
        removed(
          `DELETE FROM ${HOLDERS} WHERE holder IN (SELECT holder FROM ${HOLDERS} WHERE until < now() - interval '1 day' LIMIT ?) RETURNING holder`,
          most,
        ),
    },
  ];
}
