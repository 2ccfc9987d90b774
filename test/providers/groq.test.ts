import { expect } from 'chai';
import groq from '../../providers/groq/index.ts';
import { sentBy } from '../kit/index.ts';
import { CHAT, FORWARDED, itServes } from './support.ts';

describe('groq', () => {
  itServes(
    groq,
    'https://api.groq.com/openai/v1',
    ['chat', 'audio.transcriptions', 'audio.translations', 'audio.speech'],
    { ...FORWARDED, batches: true },
  );

  it('sends no names of messages and one ceiling; the request stays as it was', async () => {
    const messages = [
      { role: 'system', content: 'a', name: 'jane' },
      { role: 'user', content: 'b' },
    ];
    const request = { ...CHAT, messages };
    const { body } = await sentBy(groq, 'chat', request);
    expect(body.messages).to.deep.equal([
      { role: 'system', content: 'a' },
      { role: 'user', content: 'b' },
    ]);
    expect(body).to.include({ max_completion_tokens: 5 }).and.not.have.property('max_tokens');
    expect(request.messages[0]).to.have.property('name', 'jane');
  });

  it('sends nothing of what answers of other vendors bring along: sources, images, signatures of calls, thoughts', async () => {
    const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } };
    const brought = {
      annotations: [{ type: 'url_citation' }],
      images: [{}],
      reasoning_content: 'so',
      reasoning_details: [{}],
    };
    const messages = [
      {
        role: 'assistant',
        content: 'a',
        ...brought,
        tool_calls: [{ ...call, extra_content: { google: { thought_signature: 'QQ==' } } }],
      },
      { role: 'assistant', content: null, tool_calls: [call] },
    ];
    expect((await sentBy(groq, 'chat', { ...CHAT, messages })).body.messages).to.deep.equal([
      { role: 'assistant', content: 'a', tool_calls: [call] },
      { role: 'assistant', content: '', tool_calls: [call] },
    ]);
  });

  it('takes log probabilities, biases and penalties for unsupported', () => {
    expect(groq.params).to.have.all.keys(
      'logprobs',
      'top_logprobs',
      'logit_bias',
      'presence_penalty',
      'frequency_penalty',
    );
  });
});
