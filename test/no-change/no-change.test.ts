import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { cases } from '../kit/index.ts';
import { canonical } from './canonical.ts';
import { makeCase } from './documents.ts';
import { digestOf, observeAll } from './observe.ts';
import { readRecorded } from './recorded.ts';
import { observeUnused } from './unused.ts';
import { parting } from './parting.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { revision, digests, unused } = readRecorded();
const CASES = cases(digests.length, 250);

/** Every seventy-first seed: a slice that meets all modes and plugins. */
const STEP = 71;
const seeds = Array.from({ length: CASES }, (_none, at) =>
  CASES === digests.length ? at + 1 : 1 + ((at * STEP) % digests.length),
);

describe('a configuration without instances, groups and affinity', function ofTheFormerSchema() {
  this.timeout(1_200_000);

  it(`gives the report, pages, explanations, answers, calls, rows and figures of ${revision}, in ${CASES} generated ones`, async () => {
    const other: number[] = [];
    await observeAll(ROOT, seeds, (seed, text) => {
      if (digestOf(text) !== digests[seed - 1]) other.push(seed);
    });
    expect(other, 'seeds that differ: npm run no-change -- --compare <seed> shows where').to.deep.equal([]);
  });

  it('looks up nothing more for a request, and adds no series and no attribute of spans', async () => {
    const { lookups, series, attributes } = await observeUnused(ROOT);
    expect(lookups.whole, 'look-ups of a whole answer').to.be.at.most(unused.lookups.whole);
    expect(lookups.stream, 'look-ups of a stream').to.be.at.most(unused.lookups.stream);
    expect({ series, attributes }).to.deep.equal({ series: unused.series, attributes: unused.attributes });
  });

  it('is compared in 10,000 cases', () => {
    expect(digests.length).to.equal(10_000);
    expect(new Set(digests).size, 'cases that are not alike').to.be.above(8_000);
  });

  it('is made of every key of its schema', () => {
    const keys = new Set<string>();
    for (let seed = 1; seed <= 300; seed += 1) for (const key of Object.keys(makeCase(seed).document)) keys.add(key);
    expect([...keys]).to.include.members([
      'apiVersion',
      'strategy',
      'targets',
      'max_request_bytes',
      'request_timeout',
      'plugins',
      'aliases',
      'mcp',
      'mcp_servers',
      'observability',
      'compatibility',
      'streaming',
      'batch_target',
      'responses_target',
      'responses',
      'files',
      'money',
      'modules',
    ]);
    expect(keys).to.not.include.members(['providers', 'models']);
  });
});

describe('what is compared', () => {
  it('keeps a member that is new, and a value that is another', () => {
    expect(canonical({ a: 1 })).to.not.equal(canonical({ a: 1, b: null }));
    expect(canonical({ a: 1 })).to.not.equal(canonical({ a: 2 }));
  });

  it('leaves out the new kind in lists of kinds, and the new keys in lists of keys', () => {
    const fix = (keys: string): string => `use one of: mode, settings, ${keys}failover_on`;
    expect(canonical(['openai', 'openai-compatible'])).to.equal(canonical(['openai']));
    expect(canonical([{ id: 'openai-compatible' }])).to.equal(canonical([]));
    expect(canonical(fix('affinity, '))).to.equal(canonical(fix('')));
  });

  it('shows where two of them part', () => {
    expect(parting('a\nb', 'a\nc')).to.include('b').and.include('c');
    expect(parting('a', 'a')).to.equal('both are the same');
  });
});
