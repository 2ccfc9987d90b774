import { compareAnswers } from './answers/compare-answers.ts';

/** A slice of what `npm run test:soak` compares. */
const ANSWERS = 5;

describe('answers, compared with what another toolkit hears', function suite() {
  this.timeout(60_000);

  it(`say the same on every wire, whole and streamed, or differ as the table says: ${ANSWERS} answers`, async () => {
    await compareAnswers(1, ANSWERS);
  });
});
