import { expect } from 'chai';
import type { ProviderModule } from 'gw/contract';
import { Client } from 'pg';
import {
  atEnd,
  eventually,
  type FakeClock,
  fakeClock,
  forSuite,
  inSoak,
  type PostgresServer,
  replyJson,
  startHost,
  startPostgres,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const discovery: ProviderModule['discovery'] = {
  path: '/models',
  read: (body) => (body as { data: { id: string; created?: number }[] }).data,
};
const INTERVAL_MS = 60_000;
/** A clock that is more than a minute away from that of the database does no jobs; this one passes it by and stays near. */
const BEHIND_MS = 50_000;
/** A model of the configuration, which is listed whatever is live. */
const DECLARED = 'declared';

const ids = async (t: TestHost): Promise<string[]> =>
  (await t.get('/v1/models')).json().data.map(({ id }: { id: string }) => id);

interface Replica {
  readonly t: TestHost;
  readonly clock: FakeClock;
}

describe('live models of replicas on one Postgres', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite<PostgresServer>(startPostgres);

  /** A vendor that can be asked, and replicas of one database that ask it. */
  async function scene() {
    const dsn = await server().createDatabase();
    const state = { listed: ['first'], isDown: false, asked: 0 };
    const upstream = await stubUpstream((_request, response) => {
      state.asked += 1;
      if (state.isDown) response.destroy();
      else replyJson(response, 200, { data: state.listed.map((id) => ({ id, created: 7 })) });
    });
    const replica = async (): Promise<Replica> => {
      const clock = fakeClock(Date.now() - BEHIND_MS);
      const t = await startHost(
        { targets: [upstream.target('a', { models: [DECLARED] }, { discovery })] },
        {
          clock,
          variables: {
            CONFIG_STORE_BACKEND: 'postgres',
            CONFIG_STORE_DSN: dsn,
            GW_MODEL_DISCOVERY_INTERVAL: '1m',
          },
        },
      );
      return { t, clock };
    };
    const client = new Client({ connectionString: dsn });
    await client.connect();
    atEnd(() => client.end());
    return { state, replica, client };
  }

  /** All say the same, as soon as they have heard of it: no time passes. */
  async function expectAll(replicas: readonly Replica[], wanted: readonly string[]): Promise<void> {
    const list = async ({ t }: Replica): Promise<string[]> => (await ids(t)).filter((id) => id !== DECLARED);
    const isSame = async (): Promise<boolean> =>
      (await Promise.all(replicas.map(list))).every((each) => each.join() === wanted.join());
    await eventually(isSame, 20_000);
    expect(await Promise.all(replicas.map(list))).to.deep.equal(replicas.map(() => wanted));
  }

  it('are asked for by one of them, and listed by all, again after each interval', async () => {
    const { state, replica } = await scene();
    const replicas = [await replica()];
    await expectAll(replicas, ['first']);
    replicas.push(await replica(), await replica());
    await expectAll(replicas, ['first']);
    expect(state.asked).to.equal(1);
    state.listed = ['second', 'third'];
    // In steps, so that the replica which leads has its lease renewed. On a busy machine its beats lag behind a clock that
    // is moved on, and it may be without its lease when the interval has passed: then it asks after the next one.
    let passed = 0;
    for (; state.asked < 2 && passed <= INTERVAL_MS * 10; passed += 1000) {
      for (const { clock } of replicas) clock.advance(1000);
      await Promise.all(replicas.map(({ t }) => ids(t)));
    }
    await expectAll(replicas, ['second', 'third']);
    expect(state.asked).to.equal(2);
    expect(passed).to.be.at.least(INTERVAL_MS * 0.9);
  });

  it('are what was found last, for a replica that starts while the vendor is away', async () => {
    const { state, replica, client } = await scene();
    const first = await replica();
    await expectAll([first], ['first']);
    await first.t.close();
    state.isDown = true;
    await expectAll([await replica()], ['first']);
    const { rows } = await client.query('SELECT instance, models, version FROM live_models');
    expect(rows).to.deep.equal([{ instance: 'a', models: '[{"id":"first","created":7}]', version: '1' }]);
  });

  inSoak('are not taken from what another program wrote there and cannot be read', async () => {
    const { replica, client } = await scene();
    const first = await replica();
    await expectAll([first], ['first']);
    for (const models of ['not JSON', '{}', '[5, null, {"id": ""}, {"id": 7}]']) {
      await client.query('UPDATE live_models SET models = $1, version = version + 1', [models]);
      await client.query('NOTIFY gw_config_changes');
      await expectAll([first], ['first']);
    }
    await client.query(`UPDATE live_models SET models = '[{"id": "other", "created": "x"}]', version = version + 1`);
    await client.query('NOTIFY gw_config_changes');
    await expectAll([first], ['other']);
  });
});
