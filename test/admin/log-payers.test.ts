import { join } from 'node:path';
import { expect } from 'chai';
import type { LogRow } from '../../host/stores/log/log-repository.ts';
import { eventually, temporaryFolder } from '../kit/index.ts';
import { type Gateway, gateway, type Probe, PROBES } from '../money/route-limits.ts';
import { logger } from './logs-kit.ts';

const CHAT = PROBES[0] as Probe;
const OVER = { use: 'cheap', more: 5 };
const STAGES = ['after_request', 'on_error'];
const MONEY = { money: { unpriced: 'warn', tags: { header: true } }, accounts: [{ path: '/acme' }] };

async function logged(more: object = MONEY): Promise<Gateway> {
  const folder = await temporaryFolder();
  const store = { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: join(folder, 'requests.db') };
  return gateway(logger(STAGES), more, store, ['m', 'cheap']);
}

async function rowsOf({ t }: Gateway, many: number): Promise<LogRow[]> {
  const list = async (): Promise<LogRow[]> =>
    [...(await t.host.stores.logReader.value!.list({ stages: STAGES }, 200, 0)).rows].toReversed();
  await eventually(async () => (await list()).length === many);
  return list();
}

const payerOf = ({ account, tags, over_from: from }: LogRow): unknown[] => [account, tags, from];

describe('rows of the request log say who pays', () => {
  it('on every surface, with the model that was asked for beyond a budget', async function surfaces() {
    this.timeout(60_000);
    const g = await logged();
    for (const [at, probe] of PROBES.entries()) {
      const budgets = [{ requests: 1, every: 'day', over: OVER }];
      const { bearer } = await g.key({ account: '/acme', tags: ['nightly', '#shown', 'b', 'nightly'], budgets });
      await g.ask(probe, bearer);
      await eventually(() => g.t.host.slot.leases === 0);
      const second = await g.ask(probe, bearer);
      const isOver = second.headers.get('x-gateway-budget')?.includes('over="cheap"') === true;
      const paid = ['/acme', '["b","nightly"]'];
      expect((await rowsOf(g, 2 * at + 2)).slice(-2).map(payerOf), `${probe.name} ${probe.path}`).to.deep.equal([
        [...paid, null],
        [...paid, isOver ? 'm' : null],
      ]);
    }
  });

  it('with the tags that the request brings', async () => {
    const g = await logged();
    const { bearer } = await g.key({ account: '/acme', tags: ['nightly'] });
    const ask = async (tags: string): Promise<void> => {
      const answer = await g.t.post(
        '/v1/chat/completions',
        { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
        { authorization: `Bearer ${bearer}`, 'x-gateway-tags': tags },
      );
      expect(answer.status).to.equal(200);
    };
    await ask('a,z');
    await ask('nightly');
    expect((await rowsOf(g, 2)).map(({ tags }) => tags)).to.deep.equal(['["a","nightly","z"]', '["nightly"]']);
  });

  it('and nothing where a key has neither', async () => {
    const g = await logged();
    const { bearer } = await g.key({ tags: ['#only shown'] });
    await g.ask(CHAT, bearer);
    expect((await rowsOf(g, 1)).map(payerOf)).to.deep.equal([[null, null, null]]);
  });
});
