import { expect } from 'chai';
import { decodeText } from '../../host/config/decode.ts';
import { checkConfig } from '../../host/generation/check.ts';
import { buildOffline } from '../../host/generation/offline.ts';
import type { Host } from '../../host/host.ts';
import { commandHost } from '../cli/commands.ts';
import { expectProportion, temporaryFolder } from '../kit/index.ts';
import { startFleet } from './fleet.ts';

const MODES = ['fallback', 'loadbalance', 'least-latency', 'single'];

/** So many groups of ten routes each, every one of which falls back to the next. */
function documentOf(count: number, targets: readonly string[]): object {
  return {
    targets: targets.map((virtual_key) => ({ virtual_key })),
    models: Array.from({ length: count }, (_, at) => ({
      name: at % 2 === 0 ? `group-${at}` : `group-${at}/*`,
      routes: Array.from({ length: 10 }, (__, route) => ({
        target: targets[route % targets.length],
        model: `upstream-${route}`,
        weight: 1,
      })),
      strategy: { mode: MODES[at % MODES.length] },
      fallbacks: [`group-${at + 1}${at % 2 === 0 ? '/x' : ''}`],
    })),
  };
}

async function build(host: Host, text: string): Promise<void> {
  const decoded = decodeText(text, 'json');
  expect(checkConfig(host, decoded)).to.deep.equal([]);
  await (await buildOffline(host, decoded.config!)).dispose();
}

describe('many groups', function () {
  this.timeout(120_000);

  it('are checked and built in proportion to their number, up to 1,000 with 10,000 routes', async () => {
    const host = commandHost({ cwd: await temporaryFolder() });
    await expectProportion(
      125,
      (count) => {
        const text = JSON.stringify(documentOf(count, ['openai', 'anthropic', 'groq']));
        return () => build(host, text);
      },
      500,
    );
  });

  it('are each behind the one before it: a request that nothing serves asks all of them, and no more', async () => {
    const fleet = await startFleet(['a', 'b'], { ...documentOf(1000, ['a', 'b']), targets: undefined });
    fleet.does.set('a', 503);
    fleet.does.set('b', 503);
    const { status, calls } = await fleet.ask('group-0');
    expect(status).to.equal(502);
    expect(calls.length, 'ten upstream models, each once at its target').to.equal(10);
  });
});
