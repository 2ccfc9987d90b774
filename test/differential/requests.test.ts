import { expect } from 'chai';
import { Dice } from '../kit/index.ts';
import { differences } from './compare.ts';
import { requestOf } from './generate/request.ts';
import { readAnthropic } from './meaning/anthropic.ts';
import { readCommon } from './meaning/common.ts';
import { compareRequests } from './requests.ts';
import { shrunk } from './shrink.ts';

/** A slice of what `npm run test:soak` compares. */
const CONVERSATIONS = 6;

describe('requests, compared with those of another toolkit', function suite() {
  this.timeout(60_000);

  it(`say the same to every vendor, or differ as the table says: ${CONVERSATIONS} conversations`, async () => {
    await compareRequests(1, CONVERSATIONS);
  });
});

describe('the comparison of requests', () => {
  it('makes the same request of the same seed', () => {
    expect(requestOf(new Dice(7))).to.deep.equal(requestOf(new Dice(7)));
    expect(requestOf(new Dice(7))).to.not.deep.equal(requestOf(new Dice(8)));
  });

  it('sees through turns, parts and ids, and sees what is missing or changed', () => {
    const read = (id: string, ...content: readonly object[]): ReturnType<typeof readAnthropic> =>
      readAnthropic({
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id, name: 'tide', input: { hours: 1 } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '7' }, ...content] },
        ],
      });
    const [one, two] = [
      { type: 'text', text: 'one ' },
      { type: 'text', text: 'two' },
    ];
    expect(differences(read('a', one, two), read('b', { type: 'text', text: 'one two' }))).to.deep.equal([]);
    expect(differences(read('a', one, two), read('b', one))).to.deep.equal([
      { at: 'turns.user.text.text', ours: 'onetwo', theirs: 'one' },
    ]);
    expect(differences(read('a', one), read('a')).map(({ at }) => at)).to.deep.equal(['turns.user.text']);
    const lost = readAnthropic({
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'tide', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'b', content: '7' }] },
      ],
    });
    expect(lost.turns.at(-1)).to.include({ kind: 'result', id: 'nothing' });
  });

  it('keeps fields that no reader knows', () => {
    expect(readCommon({ messages: [{ role: 'user', content: 'hi', mood: 'calm' }], brand_new: 1 }))
      .to.deep.include({ settings: { brand_new: 1 } })
      .and.to.have.nested.property('turns[1].kind', 'field mood');
  });

  it('shrinks a request to what fails', async () => {
    const request = requestOf(new Dice(17));
    const small: Record<string, any> = await shrunk(
      { ...request, stop: ['END'], temperature: 1 },
      async ({ stop, messages }: Record<string, any>) => stop !== undefined && messages.length > 0,
    );
    expect(Object.keys(small)).to.have.members(['messages', 'stop']);
    expect(small['messages']).to.have.length(1);
  });
});
