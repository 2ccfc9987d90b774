import { expect } from 'chai';
import type { SpendSums } from '../../host/stores/spend/spend-ledger.ts';
import { eventually } from '../kit/index.ts';
import { type Gateway, gateway, type Probe, PROBES } from '../money/route-limits.ts';

const ALL = { from: 0, to: 1e7, edges: [], filters: {} } as const;
const isCounting = ({ path }: Probe): boolean => /count|input_tokens/i.test(path);

async function rowsOf({ t }: Gateway): Promise<readonly SpendSums[]> {
  await eventually(() => t.host.slot.leases === 0);
  return (await t.host.stores.spend.value!.read({ ...ALL, by: ['key_id', 'model', 'target', 'tags', 'source'] }))
    .groups;
}

describe('what a request has cost', () => {
  for (const probe of PROBES)
    it(`is one request in the ledger of spend, with what its key has booked: ${probe.path}${probe.stream ? ', streamed' : ''}${probe.name.includes('background') ? ', in the background' : ''}`, async () => {
      const g = await gateway();
      const key = await g.key({ budget_usd: 1000, tags: ['b', 'a', 'a', '#no'] });
      expect(await g.send(probe, key.bearer)).to.be.below(300);
      const spent = await key.spent();
      const rows = await rowsOf(g);
      const sum = (name: 'requests' | 'micro_usd'): number => rows.reduce((total, row) => total + row[name], 0);
      expect([sum('requests'), sum('micro_usd')]).to.deep.equal([
        rows.length === 0 && isCounting(probe) ? 0 : 1,
        spent,
      ]);
      for (const { tags, target } of rows) expect([tags, target]).to.deep.equal(['a,b', 'a']);
    });

  it('is nothing for what is refused before a target is tried', async () => {
    const g = await gateway();
    const poor = await g.key({ budgets: [{ requests: 0 }] });
    const listed = await g.key({ models: ['other'] });
    for (const probe of PROBES.filter((each) => !isCounting(each)))
      for (const { bearer } of [poor, listed]) expect(await g.send(probe, bearer)).to.be.oneOf([402, 404]);
    expect(await rowsOf(g)).to.deep.equal([]);
  });
});
