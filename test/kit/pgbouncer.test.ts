import { expect } from 'chai';
import { Client } from 'pg';
import { atEnd, eventually, forSuite, type PgBouncerOptions, startPgBouncer, startPostgres } from './index.ts';

async function client(dsn: string, options: object = {}): Promise<Client> {
  const made = new Client({ connectionString: dsn, ...options });
  made.on('error', () => {});
  await made.connect();
  atEnd(() => made.end());
  return made;
}

describe('PgBouncer in front of Postgres', function onPostgres() {
  this.timeout(60_000);
  const started = (mode: Parameters<typeof startPgBouncer>[0], options?: PgBouncerOptions): (() => string) =>
    forSuite(async () => startPgBouncer(mode, await (await startPostgres()).createDatabase(), options));
  const session = started('session');
  const transaction = started('transaction');
  const forgiving = started('transaction', { ignores: ['statement_timeout'] });
  const statement = started('statement');

  /** How often a listener hears of what another sends. */
  async function heard(dsn: string): Promise<number> {
    const [listener, sender] = [await client(dsn), await client(dsn)];
    let count = 0;
    listener.on('notification', () => {
      count += 1;
    });
    await listener.query('LISTEN moves');
    for (let sent = 0; sent < 4; sent += 1) await sender.query("NOTIFY moves, 'x'");
    await listener.query('SELECT 1');
    if (count > 0) await eventually(() => count === 4);
    return count;
  }

  it('passes notifications on in session mode, and loses them in transaction mode', async () => {
    expect(await heard(session())).to.equal(4);
    expect(await heard(transaction())).to.be.lessThan(4);
  });

  it('refuses start-up parameters that it does not know, unless it may ignore them', async () => {
    const refused = await client(transaction(), { statement_timeout: 100 }).catch((error: unknown) => error);
    expect(refused).to.include({ code: '08P01' });
    const ignored = await client(forgiving(), { statement_timeout: 100 });
    expect((await ignored.query('SHOW statement_timeout')).rows).to.deep.equal([{ statement_timeout: '0' }]);
  });

  it('refuses transactions in statement mode', async () => {
    const { query } = await client(statement()).then((made) => ({ query: (text: string) => made.query(text) }));
    expect((await query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
    expect(await query('BEGIN').catch((error: unknown) => error)).to.include({ code: '08P01' });
  });
});
