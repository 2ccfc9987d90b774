import { expect } from 'chai';
import {
  expectStream,
  golden,
  openSse,
  replyJson,
  startHost,
  stubUpstream,
  type StubHandler,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const KEY = 'gemini-key-0123456789';
const CHAT = '/v1/chat/completions';
const ASK = {
  model: 'gemini-2.5-flash',
  messages: [{ role: 'user', content: 'hi' }],
  max_tokens: 64,
  temperature: 0.2,
};

async function gateway(handler: StubHandler, config: object = {}): Promise<{ host: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream(handler);
  const targets = [
    {
      virtual_key: 'gemini',
      models: ['gemini-2.5-flash', 'gemini-2.5-flash-image', 'imagen-4.0-generate-001', 'gemini-embedding-001'],
    },
  ];
  const host = await startHost(
    { targets, ...config },
    { variables: { GEMINI_API_KEY: KEY, GEMINI_BASE_URL: upstream.url } },
  );
  return { host, upstream };
}

describe('gemini behind a gateway', () => {
  it('answers chat', async () => {
    const { host, upstream } = await gateway((_request, response) =>
      replyJson(response, 200, JSON.parse(golden('gemini/chat/reply.json'))),
    );
    const answer = await host.post(CHAT, ASK);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json()).to.deep.include({
      id: 'Il0taoSYJ5Cez7IP',
      model: 'gemini-2.5-flash',
      provider: 'gemini',
      object: 'chat.completion',
    });
    expect(answer.json().choices).to.deep.equal([
      { index: 0, message: { role: 'assistant', content: 'conformance ok' }, finish_reason: 'stop' },
    ]);
    expect(answer.json().usage).to.deep.equal({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
    const [seen] = upstream.seen;
    expect(seen?.url).to.equal('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(seen?.headers)
      .to.include({ 'x-goog-api-key': KEY, 'content-type': 'application/json' })
      .and.not.have.property('authorization');
    expect(seen?.json()).to.deep.equal({
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { temperature: 0.2, maxOutputTokens: 64 },
    });
  });

  it('streams chat', async () => {
    const { host, upstream } = await gateway((_request, response) => {
      openSse(response);
      response.end(golden('gemini/chat/stream.txt'));
    });
    const events = (await host.post(CHAT, { ...ASK, stream: true })).events();
    expect(events.at(-1)).to.equal('[DONE]');
    expectStream(events.slice(0, -1), 'gemini-2.5-flash', 'stop');
    expect(events[0].id).to.equal('Il0taoSYJ5Cez7IP');
    expect(upstream.seen[0]?.url).to.equal('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
  });

  it('brings the sources of an answer that searched, whole and streamed', async () => {
    const { host, upstream } = await gateway(({ url }, response) => {
      if (!url.includes('stream')) {
        replyJson(response, 200, JSON.parse(golden('gemini/chat/grounded.json')));
        return;
      }
      openSse(response);
      response.end(golden('gemini/chat/grounded.txt'));
    });
    const ask = { ...ASK, web_search_options: { search_context_size: 'low' } };
    const whole = await host.post(CHAT, ask);
    const { annotations } = whole.json().choices[0].message;
    expect(annotations[0]).to.have.nested.property('url_citation.title', 'uefa.com');
    expect(whole.headers.get('x-gateway-ignored-params')).to.equal(null);
    const events = (await host.post(CHAT, { ...ask, stream: true })).events();
    expect(events.flatMap((event) => event.choices?.[0]?.delta?.annotations ?? [])).to.deep.equal(annotations);
    for (const seen of upstream.seen) expect(seen.json()).to.have.deep.property('tools', [{ googleSearch: {} }]);
  });

  it('ends a stream that breaks off, or that fails inside, as failed', async () => {
    const [first] = golden('gemini/chat/stream.txt').split('\n\n');
    for (const rest of ['', 'data: {"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}\n\n']) {
      const { host } = await gateway((_request, response) => {
        openSse(response);
        response.end(`${first}\n\n${rest}`);
      });
      const events = (await host.post(CHAT, { ...ASK, stream: true })).events();
      expect(events.at(-1), rest).to.have.nested.property('error.type', 'stream_error');
      if (rest) expect(events.at(-1).error.message).to.include('overloaded');
    }
  });

  it('tells failures by their class, without the credential and without the address', async () => {
    for (const [file, status, code] of [
      ['error-400-key.json', 400, 'upstream_auth_error'],
      ['error-404.json', 404, 'model_not_found'],
      ['error-429.json', 429, 'rate_limit_exceeded'],
      ['error-400-length.json', 400, 'invalid_request'],
    ] as const) {
      const { host, upstream } = await gateway((_request, response) =>
        replyJson(response, status, JSON.parse(golden(`gemini/chat/${file}`))),
      );
      for (const stream of [false, true]) {
        const answer = await host.post(CHAT, { ...ASK, stream });
        expect(answer.json().error, file).to.include({ code });
        expect(answer.text, file).to.not.include(KEY).and.not.include(upstream.url);
        if (status === 429) expect(answer.headers.get('retry-after')).to.equal('35');
      }
    }
  });

  it('says nothing of the address when it cannot be reached', async () => {
    const { host, upstream } = await gateway(() => {});
    await upstream.close();
    const answer = await host.post(CHAT, ASK);
    expect(answer.json().error).to.include({ code: 'upstream_error' });
    expect(answer.text).to.not.include('127.0.0.1').and.not.include('generateContent');
  });

  it('answers a blocked prompt with a choice', async () => {
    const { host } = await gateway((_request, response) =>
      replyJson(response, 200, JSON.parse(golden('gemini/chat/blocked.json'))),
    );
    expect((await host.post(CHAT, ASK)).json().choices).to.deep.equal([
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: 'the prompt was blocked: PROHIBITED_CONTENT' },
        finish_reason: 'content_filter',
      },
    ]);
  });

  it('treats what it cannot carry by the policy in force', async () => {
    const reply: StubHandler = (_request, response) =>
      replyJson(response, 200, JSON.parse(golden('gemini/chat/reply.json')));
    const more = { ...ASK, user: 'u', parallel_tool_calls: false, logit_bias: { 1: 2 }, store: true };
    const { host } = await gateway(reply);
    expect((await host.post(CHAT, more)).headers.get('x-gateway-ignored-params')).to.equal(
      'parallel_tool_calls, user, logit_bias, store',
    );
    const strict = await gateway(reply, { compatibility: { on_unsupported_param: 'reject' } });
    expect((await strict.host.post(CHAT, more)).json().error).to.include({ code: 'unsupported_parameter' });
    expect(strict.upstream.seen).to.have.length(0);
  });

  it('tells what an image has cost, by its kinds of tokens', async () => {
    const { host } = await gateway((_request, response) =>
      replyJson(response, 200, JSON.parse(golden('gemini/images/answer.json'))),
    );
    expect(
      (await host.post('/v1/images/generations', { model: 'gemini-2.5-flash-image', prompt: 'x' })).json().usage,
    ).to.deep.equal({
      input_tokens: 6,
      output_tokens: 1297,
      total_tokens: 1303,
      input_tokens_details: { text_tokens: 6, image_tokens: 0 },
      output_tokens_details: { text_tokens: 7, image_tokens: 1290 },
    });
  });

  it('answers embeddings and images', async () => {
    const { host } = await gateway(({ url }, response) =>
      replyJson(
        response,
        200,
        JSON.parse(golden(url.includes('predict') ? 'gemini/images/reply.json' : 'gemini/embeddings/reply.json')),
      ),
    );
    const vectors = (await host.post('/v1/embeddings', { model: 'gemini-embedding-001', input: ['a', 'b'] })).json();
    expect(vectors.data.map(({ embedding }: { embedding: number[] }) => embedding)).to.deep.equal([
      [0.25, -0.5, 1],
      [0.125, 0, -2],
    ]);
    const picture = await host.post('/v1/images/generations', { model: 'imagen-4.0-generate-001', prompt: 'x' });
    expect(picture.json().data).to.deep.equal([{ b64_json: 'iVBORw0KGgo=' }]);
    expect(
      (
        await host.post('/v1/images/generations', {
          model: 'imagen-4.0-generate-001',
          prompt: 'x',
          response_format: 'url',
        })
      ).json().error.code,
    ).to.equal('unsupported_parameter');
  });
});
