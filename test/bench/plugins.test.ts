import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { pluginCosts } from './plugins.ts';

describe('node test/bench/plugins.ts', () => {
  it('measures every shipped plugin except webhook, which waits for a service', async () => {
    const names = MODULES.filter(({ kind }) => kind === 'plugin')
      .map(({ name }) => name)
      .filter((name) => name !== 'webhook');
    const costs = await pluginCosts(20);
    expect(costs.map(({ name }) => name)).to.deep.equal(names);
    for (const { us, name } of costs) expect(us, name).to.be.at.least(0);
  });
});
