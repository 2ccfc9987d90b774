import { CandidateWriter } from '../../../builtins/wires/gemini/answer/candidate-writer.ts';
import type { AnswerFacts } from '../../../builtins/wires/gemini/answer/answer.ts';
import { expectProportion } from '../../kit/index.ts';

const FACTS: AnswerFacts = { includesThoughts: true, wantsLogprobs: false, ownName: (name) => name };

describe('a candidate of a Gemini stream', () => {
  it('takes work in proportion to its items of reasoning, however many have no seal yet', async () => {
    await expectProportion(4000, (size) => () => {
      const writer = new CandidateWriter(FACTS);
      for (let index = 0; index < size; index += 1)
        writer.write({
          index: 0,
          delta: { reasoning_details: [{ type: 'reasoning.text', index, text: 'a' }] },
          finish_reason: null,
        });
    });
  });
});
