import { expect } from 'chai';
import { fakeClock } from '../kit/index.ts';
import { BAD_KEY, chat, providerOf, startPool, variablesOf, vendorOf } from './vendor.ts';

const HOUR = 3_600_000;

describe('credentials while the clock of the machine is set', () => {
  for (const leap of [-24 * HOUR, -1, 0, 24 * HOUR])
    it(`are benched, by whichever value: the clock leaps by ${leap} ms before another value`, async () => {
      const time = fakeClock();
      let offset = 0;
      const clock = { ...time, now: () => time.now() + offset };
      const vendor = await vendorOf((key) => (key === 'b' ? BAD_KEY : undefined));
      const variables = variablesOf(['a', 'b']);
      const configOf = (variable: string): object => ({
        strategy: { mode: 'fallback' },
        providers: { acme: { ...providerOf(vendor, []), credentials: [{ name: 'one', api_key: `\${${variable}}` }] } },
        targets: [{ virtual_key: 'acme', models: ['m', 'n'] }],
      });
      const t = await startPool(vendor, ['a'], { clock, variables, config: configOf('KEY_A') });
      expect((await t.post('/v1/chat/completions', chat())).status).to.equal(200);
      offset += leap;
      time.advance(100);
      await t.apply(configOf('KEY_B'));
      expect((await t.post('/v1/chat/completions', chat())).status).to.equal(502);
      expect(t.lines.filter(({ msg }) => msg === 'credential benched')).to.have.lengthOf(1);
      expect((await t.post('/v1/chat/completions', chat())).status).to.equal(503);
      expect(vendor.keys).to.deep.equal(['a', 'b']);
    });
});
