import { expect } from 'chai';
import {
  chatReply,
  openSse,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { CLIENTS } from '../pipeline/two-apis.ts';

type Json = Record<string, any>;

const RESPONSE: Json = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  error: null,
  output: [
    { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'hello', annotations: [] }] },
  ],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
};

/** Efforts with which a model takes tools on chat; without any it takes none there. */
const TOOLS_WITH: Readonly<Record<string, readonly unknown[]>> = {
  'gpt-4o': [undefined],
  'gpt-5.4': [undefined, 'none'],
  'gpt-5.6-sol': ['none'],
  'gpt-6-astra': [],
};
/** Efforts that a model takes at all. */
const EFFORTS: Readonly<Record<string, readonly unknown[]>> = {
  'gpt-4o': [],
  'gpt-5.4': ['none', 'low', 'medium', 'high', 'xhigh'],
  'gpt-5.6-sol': ['none', 'low', 'medium', 'high', 'xhigh'],
  'gpt-6-astra': ['low', 'medium', 'high', 'xhigh', 'max'],
};

/** A vendor that keeps OpenAI's published rule. Source: GitHub BerriAI/litellm issue 34569, 2026-11-26. */
const vendor: StubHandler = (request, response) => {
  const { model, tools, reasoning_effort: onChat, reasoning, stream } = request.json() as Json;
  const isSecond = request.url.endsWith('/responses');
  const effort: unknown = isSecond ? reasoning?.effort : onChat;
  const refuse = (message: string, param: string): void =>
    replyJson(response, 400, { error: { message, type: 'invalid_request_error', param, code: 'unsupported_value' } });
  if (effort !== undefined && !EFFORTS[model]?.includes(effort))
    refuse('there is no such effort here', 'reasoning.effort');
  else if (isSecond && stream) {
    openSse(response);
    response.write(sseEvent({ type: 'response.created', response: { ...RESPONSE, model, output: [] } }));
    response.write(sseEvent({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'hello' }));
    response.end(sseEvent({ type: 'response.completed', response: { ...RESPONSE, model } }));
  } else if (isSecond) replyJson(response, 200, { ...RESPONSE, model });
  else if (tools && !TOOLS_WITH[model]?.includes(effort))
    refuse('Function tools are not supported', 'reasoning_effort');
  else if (stream) replyStream(response, ['hel', 'lo']);
  else replyJson(response, 200, chatReply('hello'));
};

async function open(model: string, more: object = {}): Promise<{ upstream: StubUpstream; t: TestHost }> {
  const upstream = await stubUpstream(vendor);
  const target = { virtual_key: 'openai', models: ['m'], model_map: { m: model }, responses: 'translate', ...more };
  const t = await startHost(
    { targets: [target] },
    { variables: { OPENAI_API_KEY: 'vendor-key-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
  );
  return { upstream, t };
}

/** By model: what a client asks for, and where that goes. */
const ASKED: readonly (readonly [model: string, effort: string | undefined, path: 'chat/completions' | 'responses'])[] =
  [
    ['gpt-4o', undefined, 'chat/completions'],
    ['gpt-5.4', undefined, 'chat/completions'],
    ['gpt-5.4', 'none', 'chat/completions'],
    ['gpt-5.4', 'high', 'responses'],
    ['gpt-5.6-sol', undefined, 'responses'],
    ['gpt-5.6-sol', 'low', 'responses'],
    ['gpt-5.6-sol', 'max', 'responses'],
    ['gpt-5.6-sol', 'none', 'chat/completions'],
    ['gpt-6-astra', undefined, 'responses'],
    ['gpt-6-astra', 'none', 'responses'],
    ['gpt-6-astra', 'high', 'responses'],
  ];

describe('tools at a vendor that keeps the rule of OpenAI', () => {
  for (const [model, effort, path] of ASKED)
    for (const { name, ask } of CLIENTS)
      for (const streaming of [false, true]) {
        const how = `a client of ${name}, ${streaming ? 'streamed' : 'whole'}`;
        it(`are taken by ${model} with the effort ${effort ?? '(unsaid)'} on /${path}, for ${how}`, async () => {
          const { upstream, t } = await open(model);
          const { path: address, body } = ask({ streaming, effort, hasTools: true });
          const answer = await t.post(address, body);
          expect(answer.status, answer.text).to.equal(200);
          expect(answer.text).to.include('lo');
          expect(upstream.seen.map(({ url }) => url)).to.deep.equal([`/v1/${path}`]);
          expect(upstream.seen[0]!.json()['model']).to.equal(model);
        });
      }

  it('are refused beside a recording, by its place, without a call', async () => {
    const { upstream, t } = await open('gpt-5.6-sol');
    const content = [{ type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } }];
    const { body } = CLIENTS[0]!.ask({ streaming: false, hasTools: true });
    const answer = await t.post('/v1/chat/completions', { ...body, messages: [{ role: 'user', content }] });
    expect(answer.status).to.equal(400);
    expect(answer.json().error.message).to.include('messages[0].content[0]');
    expect(upstream.seen).to.deep.equal([]);
    const { tools: _tools, ...plain } = body as Json;
    await t.post('/v1/chat/completions', { ...plain, messages: [{ role: 'user', content }] });
    expect(upstream.seen.map(({ url }) => url)).to.deep.equal(['/v1/chat/completions']);
  });

  it('go by chat without the effort, which each client hears of, where the configuration says so', async () => {
    for (const { ask, effortPath } of CLIENTS) {
      const { upstream, t } = await open('gpt-5.6-sol', { chat_via: 'chat' });
      const { path, body } = ask({ streaming: false, effort: 'high', hasTools: true });
      const answer = await t.post(path, body);
      expect(answer.status, answer.text).to.equal(200);
      expect(upstream.seen[0]!.json()['reasoning_effort']).to.equal('none');
      expect(answer.headers.get('x-gateway-ignored-params')).to.equal(effortPath);
    }
  });

  it('stand with their rule in an explanation', async () => {
    const { t } = await open('gpt-5.6-sol');
    const { body } = CLIENTS[0]!.ask({ streaming: false, hasTools: true });
    const { order } = (await t.post('/admin/explain', { request: body })).json();
    expect(order[0].attempt.via).to.equal('responses');
    expect(order[0].attempt.via_reason).to.match(/^rule openai-[\w.-]+: tools$/);
  });
});

describe('sealed thoughts of another place', () => {
  const thought = (origin: string): Json => ({
    type: 'reasoning.encrypted',
    format: 'openai-responses-v1',
    index: 0,
    origin,
    data: `sealed at ${origin}`,
  });
  const asked = (...origins: string[]): Json => ({
    model: 'm',
    include_reasoning: true,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'ok', reasoning_details: origins.map(thought) },
      { role: 'user', content: 'go on' },
    ],
  });

  it('stay behind', async () => {
    const { upstream, t } = await open('gpt-5.6-sol');
    expect((await t.post('/v1/chat/completions', asked('openai', 'xai', 'azure-openai'))).status).to.equal(200);
    const text = upstream.seen[0]!.text;
    expect(text).to.include('sealed at openai').and.not.include('sealed at xai').and.not.include('sealed at azure');
  });

  it('of another account are one call more, and no error of the client', async () => {
    const upstream = await stubUpstream((request, response) => {
      if (request.text.includes('sealed at openai'))
        replyJson(response, 400, {
          error: { message: 'The encrypted content could not be decrypted.', code: 'invalid_encrypted_content' },
        });
      else void vendor(request, response);
    });
    const t = await startHost(
      { targets: [{ virtual_key: 'openai', models: ['m'], model_map: { m: 'gpt-5.6-sol' } }] },
      { variables: { OPENAI_API_KEY: 'vendor-key-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
    );
    const answer = await t.post('/v1/chat/completions', asked('openai'));
    expect([answer.status, upstream.seen.length]).to.deep.equal([200, 2]);
  });
});
