import { expect } from 'chai';
import type { ProviderModule } from '../../host/contract/index.ts';
import ai21 from '../../providers/ai21/index.ts';
import anthropic from '../../providers/anthropic/index.ts';
import bedrock from '../../providers/bedrock/index.ts';
import cohere from '../../providers/cohere/index.ts';
import gemini from '../../providers/gemini/index.ts';
import replicate from '../../providers/replicate/index.ts';
import { ask, chatReply, replyJson, sentBy, startHost, stubUpstream } from '../kit/index.ts';
import { BEARER, LLAMA, MISTRAL, NOVA, TITAN } from './bedrock-support.ts';

const NATIVE: readonly (readonly [module: ProviderModule, model: string])[] = [
  [anthropic, 'claude-sonnet-4-6'],
  [gemini, 'gemini-2.5-flash'],
  [cohere, 'command-a-03-2025'],
  [replicate, 'meta/meta-llama-3.1-8b-instruct'],
  [ai21, 'j2-ultra'],
  ...[NOVA, LLAMA, TITAN, MISTRAL].map((model) => [bedrock, model] as const),
];
const sent = (module: ProviderModule, model: string, more: object): ReturnType<typeof sentBy> =>
  sentBy(module, 'chat', ask('hi', { model, ...more }) as never, module === bedrock ? { variables: BEARER } : {});
const REFUSED = [
  { role: 'user', content: 'a' },
  { role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not.' }] },
  { role: 'user', content: 'b' },
];

describe('the refusal of an earlier turn', () => {
  for (const [module, model] of NATIVE) {
    it(`is text to ${module.name} with ${model}`, async () => {
      const { body, ignored } = await sent(module, model, { messages: REFUSED });
      expect(JSON.stringify(body)).to.include('I will not.').and.not.include('refusal');
      expect(ignored).to.deep.equal([]);
    });
  }

  it("is checked, read by guardrails, and sent as text on the clients' wire", async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('ok')));
    const plugins = [
      { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['forbidden'] } },
    ];
    const host = await startHost({ targets: [upstream.target('a')], plugins });
    const part = (refusal: unknown): object =>
      ask('hi', {
        messages: [
          { role: 'assistant', content: [{ type: 'refusal', refusal }] },
          { role: 'user', content: 'b' },
        ],
      });
    expect((await host.post('/v1/chat/completions', part('No.'))).status).to.equal(200);
    expect(upstream.seen[0]?.json()['messages']).to.have.deep.nested.property('[0].content', [
      { type: 'text', text: 'No.' },
    ]);
    const wrong = await host.post('/v1/chat/completions', part(7));
    expect([wrong.status, wrong.json().error.message]).to.deep.equal([
      400,
      'messages[0].content[0].refusal must be a string',
    ]);
    expect((await host.post('/v1/chat/completions', part('a forbidden word'))).status).to.equal(400);
  });
});

describe('cache marks that are not applied', () => {
  const EPHEMERAL = { cache_control: { type: 'ephemeral' } };
  for (const [module, model] of [
    [gemini, 'gemini-2.5-flash'],
    [cohere, 'command-a-03-2025'],
  ] as const) {
    it(`are named by ${module.name}, wherever clients put them`, async () => {
      const tool = (more: object, of: object): object => ({
        type: 'function',
        function: { name: 'tide', parameters: { type: 'object', properties: {} }, ...of },
        ...more,
      });
      for (const more of [
        { messages: [{ role: 'user', content: 'a', ...EPHEMERAL }] },
        { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', ...EPHEMERAL }] }] },
        { tools: [tool(EPHEMERAL, {})] },
        { tools: [tool({}, EPHEMERAL)] },
      ]) {
        const { body, ignored } = await sent(module, model, more);
        expect([ignored, JSON.stringify(body).includes('cache_control')]).to.deep.equal([['cache_control'], false]);
      }
    });
  }
});
