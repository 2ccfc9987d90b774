import { expect } from 'chai';
import type { ProviderModule } from 'gw/contract';
import { Client } from 'pg';
import {
  atEnd,
  eventually,
  type FakeClock,
  fakeClock,
  forSuite,
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
      const clock = fakeClock();
      const t = await startHost(
        { targets: [upstream.target('a', {}, { discovery })] },
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

  /** All say the same, within looks that clocks are moved to. */
  async function expectAll(replicas: readonly Replica[], wanted: readonly string[]): Promise<void> {
    const list = async ({ t, clock }: Replica): Promise<string[]> => {
      clock.advance(500);
      return ids(t);
    };
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
    for (const { clock } of replicas) clock.advance(INTERVAL_MS * 1.1);
    await expectAll(replicas, ['second', 'third']);
    expect(state.asked).to.equal(2);
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

  it('are not taken from what another program wrote there and cannot be read', async () => {
    const { replica, client } = await scene();
    const first = await replica();
    await expectAll([first], ['first']);
    for (const models of ['not JSON', '{}', '[5, null, {"id": ""}, {"id": 7}]']) {
      await client.query('UPDATE live_models SET models = $1, version = version + 1', [models]);
      await expectAll([first], ['first']);
    }
    await client.query(`UPDATE live_models SET models = '[{"id": "other", "created": "x"}]', version = version + 1`);
    await expectAll([first], ['other']);
  });
});
