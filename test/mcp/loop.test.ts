import { expect } from 'chai';
import { chatReply } from '../kit/index.ts';
import { calling, setUp, stdio, toolContents } from './setup.ts';

describe('the loop of tool calls', () => {
  it('offers the tools, runs what the model calls, and answers with what it says then', async () => {
    const setup = await setUp([stdio('files')], { turns: [calling([['echo', { a: 'x' }, 'c1']]), chatReply('done')] });
    const answer = await setup.chat();
    expect([answer.status, answer.json().choices[0].message.content]).to.deep.equal([200, 'done']);
    const [first, second] = setup.sent();
    expect(first.tools).to.deep.equal([{
      type: 'function', function: { name: 'echo', description: 'does echo', parameters: { type: 'object', properties: { a: { type: 'string' } } } },
    }]);
    expect(second.tools).to.deep.equal(first.tools);
    expect(second.messages.slice(1)).to.deep.equal([
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'echo', arguments: '{"a":"x"}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'echo {"a":"x"}' },
    ]);
    expect(answer.json().usage).to.deep.include({ prompt_tokens: 22, completion_tokens: 14, total_tokens: 36 });
    expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
    expect(toolContents(second.messages)).to.have.lengthOf(1);
  });
});
