import { createRequire } from 'node:module';
import { expect } from 'chai';
import { linearPattern, MOST_PATTERN_SIZE, patternProblem, patternSet, patternSize } from 'gw/contract';
import { cases, expectProportion, seeded } from '../kit/index.ts';

const { RE2Set } = createRequire(import.meta.url)('re2js') as { RE2Set: new () => any };

/** What the library compiles a pattern to: instructions, and a sixteenth of each range of characters. */
function compiled(pattern: string): number {
  const set = new RE2Set();
  set.add(pattern);
  set.compile();
  return set.prog.inst.reduce((sum: number, { runes }: any) => sum + 1 + (runes?.length ?? 0) / 2 / 16, 0) as number;
}

const ATOMS = [
  'a',
  'é',
  '\u{1f600}',
  '.',
  '^',
  '$',
  '\\b',
  '\\d',
  '\\W',
  '\\pL',
  '\\P{Greek}',
  '[a-z]',
  '[^\\d_]',
  '[[:^alpha:]\\s]',
  '[\\x{100}-\\x{17f}]',
  '\\Qa.b*\\E',
  '\\x{41}',
  '\\101',
  '\\n',
  'ab',
  '{2}',
  '{,3}',
  '[]a]',
  '[a\\]b]',
];
const COUNTS = ['', '', '', '*', '+?', '?', '{3}', '{2,5}', '{4,}', '{0}', '{0,2}?'];

/** A pattern of the dialect, or nearly: some are refused by the library. */
function random(pick: (below: number) => number, depth: number): string {
  const part = (): string => {
    const choice = depth === 0 ? 0 : pick(4);
    const inner = choice === 0 ? ATOMS[pick(ATOMS.length)] : random(pick, depth - 1);
    const group = ['', '(', '(?:', '(?i:', '(?P<n>', '(?-i:'][choice === 0 ? 0 : 1 + pick(5)] ?? '';
    return `${group}${inner}${group === '' ? '' : ')'}${COUNTS[pick(COUNTS.length)]}`;
  };
  const parts = Array.from({ length: 1 + pick(3) }, part);
  return parts.join(pick(3) === 0 ? '|' : '');
}

describe('the size of a pattern', () => {
  it('is at least what the library compiles it to', () => {
    const next = seeded(41);
    const pick = (below: number): number => Math.floor(next() * below);
    let tried = 0;
    for (let round = 0; round < cases(8000, 20); round += 1) {
      const pattern = (pick(3) === 0 ? '(?i)' : '') + random(pick, 3);
      let size: number;
      try {
        size = compiled(pattern);
      } catch {
        continue;
      }
      tried += 1;
      expect(patternSize(pattern), pattern).to.be.at.least(size);
    }
    expect(tried).to.be.above(100);
  });

  it('is a few times that at most where people write patterns', () => {
    for (const pattern of [
      '(?i)project[- ]?aurora',
      '\\bACME-\\d{4}\\b',
      '\\b(?:\\d{4}[- ]?){3}\\d{4}\\b',
      '(?i)\\b(?:password|secret|token)\\s*[:=]\\s*["\']?[A-Za-z0-9/+_-]{16,64}',
      '[a-zA-Z0-9._%+-]{1,64}@[a-zA-Z0-9.-]{1,255}\\.[a-zA-Z]{2,}',
      '-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----',
      '\\p{L}{2,40}',
      'a|b|c|def|ghi',
    ])
      expect(patternSize(pattern), pattern).to.be.within(compiled(pattern), 40 + 6 * compiled(pattern));
  });

  it('knows the largest Unicode classes of the library', () => {
    for (const name of [
      'L',
      'Ll',
      'Lu',
      'Lo',
      'N',
      'S',
      'P',
      'C',
      'Cn',
      'M',
      'Mn',
      'Any',
      'Latin',
      'Common',
      'LC',
      'Assigned',
    ])
      for (const pattern of [`\\p{${name}}`, `\\P{${name}}`, `(?i)\\p{${name}}`, `(?i)[^\\p{${name}}x]`]) {
        if (patternProblem(pattern) !== undefined) continue;
        expect(patternSize(pattern), pattern).to.be.at.least(compiled(pattern));
      }
  });

  it('is found in time that is in proportion to the pattern', async () => {
    for (const unit of [
      '(?P<',
      '[[:',
      '\\p{',
      '\\Q',
      '[',
      '(',
      ')',
      '|',
      'a{1,9}',
      '(?i)',
      '\\x{',
      '[a-',
      '(?:',
      '\\E',
    ])
      await expectProportion(20_000, (size) => {
        const pattern = unit.repeat(Math.ceil(size / unit.length));
        return () => patternSize(pattern);
      });
  });

  it('is bounded, before anything is compiled', () => {
    const tooLarge = [
      '(?:\\pL{500}){2}'.repeat(2),
      '(?i)[\\x{80}-\\x{1e000}]'.repeat(20),
      '[^a]{1000}'.repeat(120),
      `a{9}${'b'.repeat(100_000)}`,
    ];
    for (const pattern of tooLarge) {
      const message = `up to ${patternSize(pattern)} instructions, and the limit is ${MOST_PATTERN_SIZE}`;
      expect(patternProblem(pattern), pattern.slice(0, 40)).to.equal(message);
      expect(() => linearPattern(pattern)).to.throw(message);
      expect(() => patternSet(['a', pattern])).to.throw('the limit is');
    }
    const half = '[^a]{1000}'.repeat(30);
    expect(patternProblem(half)).to.equal(undefined);
    expect(() => patternSet([half, half])).to.throw('the limit is');
  });
});
