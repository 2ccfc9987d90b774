import { expect } from 'chai';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { rowsOf } from '../../builtins/stores/database/database.ts';
import { STALE_MS } from '../../builtins/stores/database/listen.ts';
import {
  ask,
  atEnd,
  eventually,
  fakeClock,
  type FakeClock,
  forSuite,
  type PostgresServer,
  startPostgres,
} from '../kit/index.ts';
import { arrived, endedFigures, isLeft, type Scene, scene } from './ended-kit.ts';

const CHAT = { path: '/v1/chat/completions', body: ask() };
/** How often a replica looks at all that runs. */
const SWEEP_MS = 5000;
const LISTENERS = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'";

describe('what runs on one replica under a key that another one ends', function onPostgres() {
  this.timeout(120_000);
  const server = forSuite<PostgresServer>(startPostgres);

  const ends: readonly (readonly [what: string, end: (one: Scene, id: string) => Promise<unknown>])[] = [
    ['revokes', ({ t }, id) => t.host.stores.keys.revoke(id, 'other')],
    ['deletes', ({ t }, id) => t.host.stores.keys.delete(id, 'other')],
    ['rotates', ({ t }, id) => t.host.stores.keys.rotate(id)],
  ];

  async function pair(clock: FakeClock): Promise<{ readonly one: Scene; readonly two: Scene; readonly dsn: string }> {
    const dsn = await server().createDatabase();
    const variables = { API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn };
    return { dsn, one: await scene({}, { variables }), two: await scene({}, { variables, clock }) };
  }

  for (const [what, end] of ends) {
    it(`ends as soon as it hears of it, and no time passes: it ${what}`, async () => {
      const { one, two } = await pair(fakeClock());
      const sent = two.send(CHAT);
      const call = await arrived(two);
      await end(one, two.id);
      expect((await sent).status).to.equal(401);
      await eventually(() => isLeft(call));
      expect(endedFigures(two)).to.deep.equal(['unary']);
    });
  }

  it('ends with its session there', async () => {
    const { one, two } = await pair(fakeClock());
    const { token, session } = await one.t.host.stores.sessions.create({
      credentialId: two.id,
      subject: 'x',
      scopes: ['read_only'],
    });
    const sent = two.t.post(CHAT.path, CHAT.body, { authorization: `Bearer ${token}` });
    await arrived(two);
    await one.t.host.stores.sessions.delete(session.id);
    expect((await sent).status).to.equal(401);
  });

  it('ends within twelve seconds where nothing can be heard', async () => {
    const clock = fakeClock();
    const { one, two, dsn } = await pair(clock);
    const sent = two.send(CHAT);
    const call = await arrived(two);
    const database = await openPostgres(dsn);
    atEnd(() => database.close());
    const isDeaf = async (): Promise<boolean> =>
      rowsOf(await database.knex.raw(`SELECT pid ${LISTENERS}`)).length === 0;
    await database.knex.raw(`SELECT pg_terminate_backend(pid) ${LISTENERS}`);
    await eventually(isDeaf);
    await one.t.host.stores.keys.revoke(two.id, 'other');
    expect(isLeft(call)).to.equal(false);
    for (const ms of [STALE_MS, SWEEP_MS]) {
      clock.advance(ms);
      await eventually(() => isLeft(call), 1000); // the store is asked meanwhile, which takes none of this clock's time
    }
    expect((await sent).status).to.equal(401);
  });
});
