import { expect } from 'chai';
import { patternSet, type Steps } from 'gw/contract';
import type { Detector } from '../../plugins/_common/detector.ts';
import { piiDetector } from '../../plugins/pii-redact/detector.ts';
import { ENTITIES } from '../../plugins/pii-redact/entities.ts';
import { secretDetector } from '../../plugins/secret-scan/detector.ts';
import { seeded } from '../kit/index.ts';

const SIZE = 256 * 1024;
/** Characters that are looked at in one step, at most: between two of them others may be served. */
const STEP = 64 * 1024;
const UNITS = [
  '1 ',
  '4111 1111 1111 1112 ',
  '\u0664',
  '\u200b1',
  '\uff11\u00a0',
  'a@b.c ',
  'f:',
  'aB3dE5fG7h',
  '://u:p',
  '-----BEGIN ',
  'prose and more of it. ',
];

function stepsOf(steps: Steps<unknown>): number {
  let count = 1;
  while (!steps.next().done) count += 1;
  return count;
}

describe('a long text', () => {
  const detectors: Readonly<Record<string, Detector>> = {
    'pii-redact': piiDetector(ENTITIES),
    'secret-scan': secretDetector(4),
  };
  for (const [name, detector] of Object.entries(detectors))
    it(`is looked at in steps by ${name}, whatever it holds`, () => {
      for (const unit of UNITS) {
        const text = unit.repeat(Math.ceil(SIZE / unit.length));
        expect(stepsOf(detector.find(text)), JSON.stringify(unit)).to.be.at.least(text.length / STEP);
      }
    });

  it('is looked at in steps by regex-guard, also where its states do not suffice', () => {
    const random = seeded(5);
    const text = Array.from({ length: SIZE }, () => (random() < 0.5 ? 'a' : 'b')).join('');
    expect(stepsOf(patternSet(['never said']).search(text))).to.be.at.least(text.length / STEP);
    const search = patternSet(['(?:a|b)*a(?:a|b){500}c']).search(`${text.slice(0, 8192)}a${'b'.repeat(500)}c`);
    let steps = 0;
    let last = search.next();
    for (; !last.done; steps += 1) last = search.next();
    expect([last.value, steps >= 24], 'by all its ways').to.deep.equal([0, true]);
  });
});
