import { expect } from 'chai';
import ai21 from '../../providers/ai21/index.ts';
import { answeredBy, refusedBy, rootOf, sentBy, unusableTo } from '../kit/index.ts';
import { CHAT } from './support.ts';

const JAMBA = { ...CHAT, model: 'jamba-mini-1.7' };
const OLD = { ...CHAT, model: 'j2-ultra' };

describe('ai21', () => {
  it('has its root, of which a bare host keeps the version only', async () => {
    expect(await rootOf(ai21)).to.equal('https://api.ai21.com/studio/v1');
    expect(await rootOf(ai21, { AI21_BASE_URL: 'https://api.ai21.com' })).to.equal('https://api.ai21.com/v1');
    expect(ai21).to.include({ passthrough: true, responses: true }).and.not.have.property('discovery');
  });

  it('sends Jamba models on the common wire', async () => {
    const { url, body } = await sentBy(ai21, 'chat', JAMBA);
    expect([url, body]).to.deep.equal(['https://api.ai21.com/studio/v1/chat/completions', JAMBA]);
    expect(ai21.paramsFor?.('AI21-Jamba-Large')).to.deep.equal({});
    const reply = {
      id: 'x',
      choices: [{ index: 0, message: { role: 'assistant', content: 'c' }, finish_reason: 'stop' }],
    };
    expect(await answeredBy(ai21, 'chat', JAMBA, reply)).to.deep.equal(reply);
  });
});

describe('ai21, models before Jamba', () => {
  it('complete the conversation as one text', async () => {
    const { url, body, ignored } = await sentBy(ai21, 'chat', { ...OLD, top_p: 0, metadata: { a: 'b' } });
    expect(url).to.equal('https://api.ai21.com/studio/v1/j2-ultra/complete');
    expect(body).to.deep.equal({
      prompt: 'user: hi\nassistant: ',
      maxTokens: 5,
      temperature: 0.2,
      topP: 0,
      stopSequences: ['END'],
    });
    expect(ignored).to.deep.equal(['reasoning_effort', 'metadata']);
  });

  it('support four parameters', () => {
    const row = ai21.paramsFor?.('j2-ultra') ?? {};
    expect(Object.values(row).every((treatment) => treatment === 'unsupported')).to.equal(true);
    expect(row).to.have.all.keys(
      'n',
      'seed',
      'max_completion_tokens',
      'presence_penalty',
      'frequency_penalty',
      'tools',
      'tool_choice',
      'response_format',
      'logprobs',
      'top_logprobs',
      'parallel_tool_calls',
      'user',
      'logit_bias',
    );
  });

  it('do not stream, read images, or stand outside their segment', async () => {
    expect((await refusedBy(ai21, 'chat', OLD, { stream: true })).status).to.equal(400);
    expect(
      (
        await refusedBy(ai21, 'chat', {
          ...OLD,
          messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'u' } }] }],
        })
      ).message,
    ).to.include('messages[0].content[0]');
    for (const model of ['..', 'a/b', 'a\\b', ''])
      expect((await refusedBy(ai21, 'chat', { ...OLD, model })).code).to.equal('invalid_request');
    expect((await sentBy(ai21, 'chat', { ...OLD, model: 'my model' })).url).to.equal(
      'https://api.ai21.com/studio/v1/my%20model/complete',
    );
  });

  it('answer with completions', async () => {
    const completions = [
      { data: { text: 'a' }, finishReason: { reason: 'length', length: 5 } },
      { data: { text: '' }, finishReason: { reason: 'endoftext' } },
      { data: { text: 'c' } },
    ];
    expect(await answeredBy(ai21, 'chat', OLD, { id: 7, prompt: {}, completions })).to.deep.equal({
      id: '7',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'length' },
        { index: 1, message: { role: 'assistant', content: '' }, finish_reason: 'stop' },
        { index: 2, message: { role: 'assistant', content: 'c' }, finish_reason: null },
      ],
    });
    for (const body of [{}, { completions: [] }, { completions: [{ data: {} }] }])
      expect(await unusableTo(ai21, 'chat', OLD, body), JSON.stringify(body)).to.be.a('string');
  });
});
