import { expect } from 'chai';
import { PENDING_REFUSALS } from '../differential/pending.ts';
import { ACCEPTED_ANSWERS } from '../differential/accepted.ts';
import { compareAnswers } from '../differential/answers/compare-answers.ts';
import { compareRequests } from '../differential/requests.ts';
import { askModels } from '../differential/models.ts';
import { askStrictly } from '../differential/strict.ts';

const CONVERSATIONS = 2000;
const ANSWERS = 1000;

describe('requests and answers, compared with those of another toolkit, at length', function suite() {
  this.timeout(1_200_000);

  it(`${CONVERSATIONS} conversations say the same to every vendor, or differ as the table says; and every line of the table is needed`, async () => {
    const { unused } = await compareRequests(1, CONVERSATIONS);
    expect(unused.map(({ at, why }) => `${String(at)}: ${why}`)).to.deep.equal([]);
  });

  it(`${ANSWERS} answers of each wire, whole and streamed, are heard as they were given, and every line of the table is needed`, async () => {
    const needed = await compareAnswers(1, ANSWERS);
    expect(
      ACCEPTED_ANSWERS.filter((line) => !needed.has(line)).map(({ at, why }) => `${String(at)}: ${why}`),
    ).to.deep.equal([]);
  });

  it(`no vendor refuses any of ${CONVERSATIONS} requests for what its models take`, () => askModels(1, CONVERSATIONS));

  it(`no vendor refuses any of ${CONVERSATIONS} conversations that is not wrong by itself`, async () => {
    await askStrictly(1, CONVERSATIONS);
    expect(
      PENDING_REFUSALS.map(({ why }) => why),
      'faults that are known and not mended',
    ).to.deep.equal([]);
  });
});
