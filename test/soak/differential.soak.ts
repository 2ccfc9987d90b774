import { expect } from 'chai';
import { compareRequests } from '../differential/requests.ts';

const CONVERSATIONS = 2000;

describe('requests and answers, compared with those of another toolkit, at length', function suite() {
  this.timeout(1_200_000);

  it(`${CONVERSATIONS} conversations say the same to every vendor, or differ as the table says; and every line of the table is needed`, async () => {
    const { unused } = await compareRequests(1, CONVERSATIONS);
    expect(unused.map(({ at, why }) => `${String(at)}: ${why}`)).to.deep.equal([]);
  });
});
