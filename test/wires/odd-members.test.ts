import { expect } from 'chai';
import { chatReply, openSse, replyJson, some, sseEvent, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

/** Members of a message that are a list, a text or absent. Mistral sends `tool_calls: null` with every whole answer without calls (chatlas 0.23.0, test_data_extraction, 2026-01-01). */
const MEMBERS = [
  'tool_calls',
  'reasoning_details',
  'reasoning_content',
  'reasoning',
  'refusal',
  'annotations',
  'audio',
  'images',
  'function_call',
  'name',
];
const VALUES: readonly unknown[] = [
  null,
  '',
  0,
  1.5,
  true,
  false,
  {},
  [],
  [null],
  [0],
  [[]],
  [{}],
  [{ type: 'x' }],
  { a: 1 },
  { content: [null] },
];

const ROUTES: Readonly<Record<string, (stream: boolean) => readonly [string, object]>> = {
  chat: (stream) => ['/v1/chat/completions', { model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] }],
  Messages: (stream) => [
    '/v1/messages',
    { model: 'm', stream, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
  ],
  Gemini: (stream) => [
    `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ parts: [{ text: 'hi' }] }] },
  ],
  Responses: (stream) => ['/v1/responses', { model: 'm', stream, input: 'hi', reasoning: { summary: 'auto' } }],
};

async function hostSaying(messageOf: () => object): Promise<TestHost> {
  const upstream = await stubUpstream((request, response) => {
    const message = messageOf();
    if (request.json()['stream'] !== true) {
      replyJson(response, 200, { ...chatReply(''), choices: [{ index: 0, message, finish_reason: 'stop' }] });
      return;
    }
    openSse(response);
    response.end(
      [{ id: 'c', choices: [{ index: 0, delta: message, finish_reason: 'stop' }] }, '[DONE]'].map(sseEvent).join(''),
    );
  });
  return startHost({ targets: [upstream.target('a')], responses: { translate: 'auto' } });
}

describe('an answer with members of another kind than the common wire has', () => {
  for (const [wire, route] of Object.entries(ROUTES)) {
    it(`is served to a client of ${wire}, whole and streamed`, async () => {
      let message: object = {};
      const host = await hostSaying(() => message);
      for (const stream of [false, true]) {
        for (const [at, member] of MEMBERS.entries()) {
          for (const value of some(VALUES, { every: 4, from: (at + Number(stream)) % 4 })) {
            message = { role: 'assistant', content: 'ashore', [member]: value };
            const [path, body] = route(stream);
            const answer = await host.post(path, body);
            const what = `${member} ${JSON.stringify(value)} ${stream ? 'streamed' : 'whole'}`;
            expect(answer.status, what).to.equal(200);
            expect(answer.text, what).to.include('ashore');
            expect(answer.text, what).to.not.match(/stream_error|upstream_error|internal_error|the gateway failed/);
          }
        }
      }
    });
  }

  it('has calls and details of reasoning as lists, or not at all', async () => {
    const host = await hostSaying(() => ({
      role: 'assistant',
      content: 'ashore',
      tool_calls: null,
      reasoning_details: 'none',
    }));
    const [path, body] = ROUTES['chat']!(false);
    expect((await host.post(path, body)).json().choices[0].message).to.deep.equal({
      role: 'assistant',
      content: 'ashore',
    });
  });
});

describe('cache writes that a vendor counts in the prompt', () => {
  it('stay as they came for clients of the common wire, and are counted once on every other', async () => {
    const usage = {
      prompt_tokens: 3438,
      completion_tokens: 5,
      total_tokens: 3443,
      prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 2400 },
    };
    const upstream = await stubUpstream((_request, response) =>
      replyJson(response, 200, chatReply('ashore', { usage })),
    );
    const host = await startHost({ targets: [upstream.target('a')], responses: { translate: 'auto' } });
    const usageOf = async (wire: string): Promise<any> => {
      const [path, body] = ROUTES[wire]!(false);
      const answer = (await host.post(path, body)).json();
      return answer.usage ?? answer.usageMetadata;
    };
    expect(await usageOf('chat')).to.deep.equal({ ...usage, cache_read_tokens: 1000 });
    expect(await usageOf('Messages')).to.include({
      input_tokens: 38,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 2400,
      output_tokens: 5,
    });
    expect(await usageOf('Gemini')).to.include({
      promptTokenCount: 3438,
      cachedContentTokenCount: 1000,
      totalTokenCount: 3443,
    });
    expect(await usageOf('Responses')).to.deep.include({
      input_tokens: 3438,
      input_tokens_details: { cached_tokens: 1000, cache_write_tokens: 2400 },
      total_tokens: 3443,
    });
  });
});
