import { expect } from 'chai';
import { chatReply, replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';

type Json = Record<string, any>;

const MODELS = ['gpt-5.6-sol', 'gpt-5.1', 'gpt-5', 'gpt-4o', 'gpt-6-astra'];

/** How clients of each wire ask a model to think so much; `none` is not at all. */
const WIRES: Readonly<Record<string, (effort: string, model: string) => readonly [path: string, body: Json]>> = {
  messages: (effort, model) => [
    '/v1/messages',
    {
      model,
      max_tokens: 64,
      messages: [{ role: 'user', content: 'hi' }],
      ...(effort === 'none' ? { thinking: { type: 'disabled' } } : { output_config: { effort } }),
    },
  ],
  gemini: (effort, model) => [
    `/v1beta/models/${model}:generateContent`,
    {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: {
        thinkingConfig: effort === 'none' ? { thinkingBudget: 0 } : { thinkingLevel: effort.toUpperCase() },
      },
    },
  ],
  responses: (effort, model) => ['/v1/responses', { model, input: 'hi', reasoning: { effort } }],
};
const PATHS: Readonly<Record<string, string>> = {
  messages: 'output_config.effort',
  gemini: 'generationConfig.thinkingConfig',
  responses: 'reasoning.effort',
};

/** What a client asks for, what its model is sent, and whether the client reads that it got another. */
const ROWS: readonly (readonly [model: string, asked: string, sent: string | undefined, isLost?: boolean])[] = [
  ['gpt-5.6-sol', 'none', 'none'],
  ['gpt-5.6-sol', 'low', 'low'],
  ['gpt-5.6-sol', 'max', 'xhigh'],
  ['gpt-5.6-sol', 'minimal', 'low'],
  ['gpt-5.1', 'none', undefined], // it does not think unasked
  ['gpt-5.1', 'xhigh', 'high'],
  ['gpt-5', 'none', undefined], // it does not take the word
  ['gpt-5', 'minimal', 'minimal'],
  ['gpt-5', 'max', 'high'],
  ['gpt-6-astra', 'max', 'max'],
  ['gpt-4o', 'none', undefined],
  ['gpt-4o', 'high', undefined, true],
];
const TAKES: Readonly<Record<string, readonly string[]>> = {
  messages: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  gemini: ['none', 'minimal', 'low', 'medium', 'high'],
  responses: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
};

describe('how much clients of other wires ask a model to think', () => {
  let t: TestHost;
  let upstream: StubUpstream;

  beforeEach(async () => {
    upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const [azure, key] = ['azure-foundry', 'azure-key-0123456789'];
    t = await startHost(
      { targets: [{ virtual_key: azure, models: MODELS }], responses: { translate: 'auto' } },
      { variables: { AZURE_FOUNDRY_API_KEY: key, AZURE_FOUNDRY_ENDPOINT: upstream.url } },
    );
  });

  for (const [wire, ask] of Object.entries(WIRES))
    it(`is said to it in words that it takes, or named as lost: ${wire}`, async () => {
      for (const [model, asked, sent, isLost = false] of ROWS.filter(([, effort]) => TAKES[wire]?.includes(effort))) {
        const answer = await t.post(...ask(asked, model));
        expect(answer.status, answer.text).to.equal(200);
        expect(upstream.seen.at(-1)?.json()['reasoning_effort'], `${asked} to ${model}`).to.equal(sent);
        expect(answer.headers.get('x-gateway-ignored-params'), `${asked} to ${model}`).to.equal(
          isLost ? PATHS[wire] : null,
        );
      }
    });
});
