import { expect } from 'chai';
import { decodeText } from '../../host/config/decode.ts';
import { checkConfig } from '../../host/generation/check.ts';
import { buildOffline } from '../../host/generation/offline.ts';
import { commandHost } from '../cli/commands.ts';
import { atEnd, expectProportion, startHost } from '../kit/index.ts';
import { rules } from './support.ts';

const MOST = 256;
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** So many instances, four groups for each, of two routes. */
const fleet = (count: number): string =>
  JSON.stringify({
    strategy: { mode: 'fallback' },
    providers: Object.fromEntries(
      range(count).map((at) => [
        `gpu-${at}`,
        {
          kind: 'openai',
          base_url: `http://10.0.0.1:${8000 + at}`,
          api_key: '${KEY_A}',
          catalog: 'none',
          models: [`m-${at}`],
        },
      ]),
    ),
    targets: range(count).map((at) => ({ virtual_key: `gpu-${at}` })),
    models: range(Math.min(4 * count, 1000)).map((at) => ({
      name: `group-${at}`,
      routes: [0, 1].map((route) => ({ target: `gpu-${(at + route) % count}`, model: `m-${at}-${route}` })),
    })),
  });

describe('a fleet as large as it may be', () => {
  it('is checked and built in proportion to its size', async function proportion() {
    this.timeout(60_000);
    const host = commandHost({ cwd: '/' });
    host.registry.seal();
    atEnd(() => host.close());
    await expectProportion(
      MOST / 4,
      (size) => {
        const text = fleet(size);
        return async () => {
          const decoded = decodeText(text, 'json');
          expect(checkConfig(host, decoded)).to.deep.equal([]);
          if (decoded.config) await (await buildOffline(host, decoded.config)).dispose();
        };
      },
      MOST / 2,
    );
  });

  it('serves all of it, and a change of one entry opens that one alone', async () => {
    const t = await startHost(JSON.parse(fleet(MOST)), { variables: { KEY_A: 'sk-of-all-0123456789' } });
    expect(t.host.current?.instances.size).to.equal(MOST);
    expect((await t.get('/health')).json().providers).to.have.lengthOf(MOST);
    const before = t.host.current?.instances;
    const changed = JSON.parse(fleet(MOST));
    changed.providers['gpu-7'].headers = { 'x-a': 'b' };
    await t.apply(changed);
    const opened = [...(t.host.current?.instances ?? [])].filter(([name, instance]) => instance !== before?.get(name));
    expect(opened.map(([name]) => name)).to.deep.equal(['gpu-7']);
    expect(rules(t, 'WN13')).to.deep.equal([]);
  });
});
