import { expect } from 'chai';
import { BatchedLookups } from '../../host/stores/batched-lookups.ts';
import { StoreLink, StoreUnavailable } from '../../host/stores/store-link.ts';
import { fakeClock } from '../kit/index.ts';
import { SILENT } from './backends.ts';

interface Asked {
  readonly digests: readonly string[];
  readonly answer: (found: readonly string[]) => void;
  readonly fail: (error: Error) => void;
}

function lookups() {
  const clock = fakeClock();
  const asked: Asked[] = [];
  const link = new StoreLink('the key store', { clock, log: SILENT, backend: () => 'test' });
  const batched = new BatchedLookups<string>(link, (digests) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
    asked.push({
      digests,
      answer: (found) => resolve(new Map(found.map((each) => [each, `key ${each}`]))),
      fail: reject,
    });
    return promise;
  });
  return { clock, asked, batched };
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('look-ups of credentials', () => {
  it('are one statement at a time, the next for all who came meanwhile', async () => {
    const { asked, batched } = lookups();
    const first = batched.find('a');
    const later = ['b', 'c', 'b', 'a'].map((digest) => batched.find(digest));
    expect(asked.map(({ digests }) => digests)).to.deep.equal([['a']]);
    asked[0]!.answer(['a']);
    expect(await first).to.equal('key a');
    await turn();
    expect(asked.map(({ digests }) => digests)).to.deep.equal([['a'], ['b', 'c']]);
    asked[1]!.answer(['c']);
    expect(await Promise.all(later)).to.deep.equal([undefined, 'key c', undefined, 'key a']);
    await turn();
    expect(asked).to.have.length(2);
  });

  it('are of 500 at most', async () => {
    const { asked, batched } = lookups();
    const all = Array.from({ length: 1201 }, (_, at) => batched.find(String(at)));
    for (let at = 0; at < 4; at += 1) {
      asked[at]!.answer([]);
      await turn();
    }
    expect(asked.map(({ digests }) => digests.length)).to.deep.equal([1, 500, 500, 200]);
    expect(new Set(await Promise.all(all))).to.deep.equal(new Set([undefined]));
  });

  it('are asked anew by who comes after a change', async () => {
    const { asked, batched } = lookups();
    const before = batched.find('a');
    batched.forget();
    const after = batched.find('a');
    asked[0]!.answer([]);
    await turn();
    asked[1]!.answer(['a']);
    expect([await before, await after]).to.deep.equal([undefined, 'key a']);
  });

  it('wait no longer than one statement for a store that does not answer', async () => {
    const { asked, batched, clock } = lookups();
    const ends = ['a', 'b', 'c'].map((digest) => batched.find(digest).catch((error: unknown) => error));
    clock.advance(2000);
    for (const end of ends) expect(await end).to.be.instanceOf(StoreUnavailable);
    expect(asked).to.have.length(1);
    await turn();
    const again = batched.find('b');
    asked[1]!.answer(['b']);
    expect(await again).to.equal('key b');
    asked[0]!.answer(['a']); // too late for anybody
    await turn();
  });

  it('fail together with the statement that they are in', async () => {
    const { asked, batched } = lookups();
    const end = batched.find('a').catch((error: unknown) => error);
    asked[0]!.fail(new Error('ECONNRESET'));
    expect(await end).to.be.instanceOf(StoreUnavailable);
  });
});
