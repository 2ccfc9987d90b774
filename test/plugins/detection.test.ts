import { expect } from 'chai';
import { detections } from '../bench/guardrails.ts';
import { ordinary } from '../bench/labelled.ts';
import { some } from '../kit/index.ts';

/** The least share of each kind that is found, and the greatest of ordinary texts. */
const LEAST_FOUND = 0.9;
const MOST_ALARMS = 0.01;

describe('guardrails that detect', () => {
  it('find nine of ten labelled texts of each kind, and alarm for one ordinary text of a hundred at most', async () => {
    const plain = some(ordinary(), { every: 5 });
    const all = await detections(plain);
    expect(new Set(all.map(({ name }) => name))).to.deep.equal(new Set(['pii-redact', 'secret-scan', 'prompt-shield']));
    for (const { name, kind, texts, found } of all) {
      const share = found / texts;
      if (kind === 'ordinary')
        expect([texts, share <= MOST_ALARMS], `${name}: ${found} false alarms`).to.deep.equal([plain.length, true]);
      else
        expect([texts >= 50, share >= LEAST_FOUND], `${name}, ${kind}: ${found} of ${texts}`).to.deep.equal([
          true,
          true,
        ]);
    }
  });
});
