import { createHash } from 'node:crypto';
import { expect } from 'chai';
import {
  accountWords,
  credentialWords,
  digestOf,
  drawnFor,
  fmix32,
  rendezvous,
  routeWords,
  scoreOf,
  type Words,
  wordsOf,
} from '../../builtins/routing/affinity/rendezvous.ts';
import { cases, seeded } from '../kit/index.ts';

/** The session of the vectors: header `key`, asked by `key_1` for `gpt-5`. */
const session = (key: string): Words => wordsOf(digestOf('gw-affinity-1', 'key_1', 'gpt-5', 'header', key));

interface Pair {
  readonly name: string;
  readonly words: Words;
  readonly weight: number;
}

const credentials = (weights: Readonly<Record<string, number>>): Pair[] =>
  Object.entries(weights).map(([name, weight]) => ({ name, weight, words: credentialWords('openai', name) }));

const orderOf = (key: string, pairs: readonly Pair[]): string[] =>
  rendezvous(session(key), pairs, (pair) => pair).map(({ name }) => name);

/** The finaliser by whole numbers of any size, without a line of the code it is compared with. */
const MASK = 0xffffffffn;
const mixed = (value: bigint): bigint => {
  let h = value & MASK;
  h ^= h >> 16n;
  h = (h * 0x85ebca6bn) & MASK;
  h ^= h >> 13n;
  h = (h * 0xc2b2ae35n) & MASK;
  return h ^ (h >> 16n);
};

const first64 = (...texts: string[]): [bigint, bigint] => {
  const digest = createHash('sha256').update(texts.join('\0')).digest();
  return [BigInt(digest.readUInt32BE(0)), BigInt(digest.readUInt32BE(4))];
};

const drawnSlowly = ([s0, s1]: [bigint, bigint], [p0, p1]: [bigint, bigint]): number => {
  const h0 = mixed(s0 ^ p0);
  const h1 = mixed(s1 ^ p1 ^ h0);
  return (Number((h0 << 21n) | (h1 >> 11n)) + 0.5) / 2 ** 53;
};

describe('rendezvous hashing', () => {
  const VECTORS: readonly [string, string][] = [
    ['s-1', 'c 0.762317, b 0.545045, a 0.306972'],
    ['s-2', 'c 0.047667, a 0.019810, b 0.019376'],
    ['s-3', 'c 0.941758, b 0.734861, a 0.579120'],
    ['s-4', 'a 0.370755, c 0.103264, b 0.070357'],
  ];
  for (const [key, expected] of VECTORS)
    it(`gives the session ${key} the order that every replica gives it`, () => {
      const shown = orderOf(key, credentials({ a: 1, b: 1, c: 1 })).map(
        (name) => `${name} ${drawnFor(session(key), credentialWords('openai', name)).toFixed(6)}`,
      );
      expect(shown.join(', ')).to.equal(expected);
    });

  it('mixes 32 bits as whole numbers of any size say it', () => {
    const random = seeded(7);
    for (let at = 0; at < cases(20_000); at += 1) {
      const value = Math.floor(random() * 2 ** 32);
      expect(fmix32(value)).to.equal(Number(mixed(BigInt(value))));
    }
    for (const value of [0, 1, -1, 2 ** 31, 2 ** 32 - 1]) expect(fmix32(value)).to.equal(Number(mixed(BigInt(value))));
  });

  it('draws for a session and a pair what an implementation of its own draws', () => {
    for (let at = 0; at < cases(5000); at += 1) {
      const texts = ['gw-affinity-1', `key_${at % 7}`, 'm', 'user', `session ${at}`];
      expect(drawnFor(wordsOf(digestOf(...texts)), routeWords(`t${at % 5}`, 'up/model'))).to.equal(
        drawnSlowly(first64(...texts), first64('gw-pair-1', 'route', `t${at % 5}`, 'up/model')),
      );
      expect(drawnFor(wordsOf(digestOf(...texts)), accountWords('openai', 'acme'))).to.equal(
        drawnSlowly(first64(...texts), first64('gw-pair-1', 'vendor_account', 'openai', 'acme')),
      );
    }
  });

  it('does not depend on the order of the configuration', () => {
    const pairs = credentials({ a: 3, b: 1, c: 2, d: 1 });
    for (let at = 0; at < cases(500); at += 1)
      expect(orderOf(`s-${at}`, pairs.toReversed())).to.deep.equal(orderOf(`s-${at}`, pairs));
  });

  it('shares sessions by weight, and by no more than chance allows off it', () => {
    const weights = { a: 3, b: 1, c: 1 };
    const pairs = credentials(weights);
    const count = 20_000;
    const got: Record<string, number> = { a: 0, b: 0, c: 0 };
    for (let at = 0; at < count; at += 1) {
      const [first = ''] = orderOf(`s-${at}`, pairs);
      got[first] = (got[first] ?? 0) + 1;
    }
    const chi = Object.entries(weights).reduce((sum, [name, weight]) => {
      const expected = (count * weight) / 5;
      return sum + ((got[name] ?? 0) - expected) ** 2 / expected;
    }, 0);
    expect(chi).to.be.below(13.8); // 2 degrees of freedom: exceeded by chance once in a thousand, and the keys are fixed
  });

  it('moves the sessions of what was taken away, and no other', () => {
    const random = seeded(11);
    for (let world = 0; world < cases(200); world += 1) {
      const pairs = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({
        name,
        words: credentialWords(`i${world}`, name),
        weight: 1 + Math.floor(random() * 9),
      }));
      const gone = pairs[Math.floor(random() * pairs.length)]?.name;
      const left = pairs.filter(({ name }) => name !== gone);
      for (let at = 0; at < 20; at += 1) {
        const before = orderOf(`w${world} s${at}`, pairs);
        expect(orderOf(`w${world} s${at}`, left)).to.deep.equal(before.filter((name) => name !== gone));
      }
    }
  });

  it('gives what is added its share, and takes it from all', () => {
    const before = credentials({ a: 2, b: 2 });
    const after = credentials({ a: 2, b: 2, c: 1 });
    let moved = 0;
    for (let at = 0; at < 10_000; at += 1) {
      const [first] = orderOf(`s-${at}`, after);
      if (first === 'c') moved += 1;
      else expect(first).to.equal(orderOf(`s-${at}`, before)[0]);
    }
    expect(moved).to.be.within(1850, 2150); // a fifth of 10,000
  });

  it('leaves out what has no weight', () => {
    expect(orderOf('s-1', credentials({ a: 1, b: 0, c: 0.5 }))).to.have.members(['a', 'c']);
    expect(scoreOf(session('s-1'), credentialWords('openai', 'a'), 2)).to.equal(
      scoreOf(session('s-1'), credentialWords('openai', 'a'), 1) / 2,
    );
  });
});
