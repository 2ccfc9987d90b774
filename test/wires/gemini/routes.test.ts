import { expect } from 'chai';
import { commonTranslators } from 'gw/common-wire';
import { chatReply, MASTER_KEY, replyJson } from '../../kit/index.ts';
import { commonGateway, framesOf, PATH, says, STREAM, streams, TEXT } from './kit.ts';

type Json = Record<string, any>;

const NO_CREDENTIAL = { authorization: '' };
const errorOf = (text: string): Json => (JSON.parse(text) as Json)['error'];
const summary = ({ status, text }: { status: number; text: string }): unknown[] => {
  const { code, status: word, details } = errorOf(text);
  return [status, code, word, details[0].reason];
};

describe('the Gemini wire', () => {
  it('answers by a target of the common wire', async () => {
    const { generate, sent } = await commonGateway(says({ content: 'hello' }));
    const answer = await generate({ ...TEXT, generationConfig: { maxOutputTokens: 9 } });
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([200, 'application/json']);
    expect(answer.json()).to.deep.equal({
      candidates: [{ content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: 'm',
      responseId: answer.headers.get('x-request-id'),
    });
    expect(
      ['x-gateway-provider', 'x-gateway-target', 'x-gateway-model', 'x-gateway-attempts'].map((name) =>
        answer.headers.get(name),
      ),
    ).to.deep.equal(['a', 'a', 'm', '1']);
    expect(sent()).to.deep.equal({ model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 });
  });

  it('streams events, or one list', async () => {
    const { host } = await commonGateway(streams({ content: 'he' }, { content: 'llo' }));
    const events = await host.post(`${STREAM}?alt=sse`, TEXT);
    expect([events.status, events.headers.get('content-type'), events.headers.get('x-gateway-target')]).to.deep.equal([
      200,
      'text/event-stream; charset=utf-8',
      'a',
    ]);
    expect(framesOf(events.text).map(({ candidates }) => candidates[0].content.parts)).to.deep.equal([
      [{ text: 'he' }],
      [{ text: 'llo' }],
      [{ text: '' }],
    ]);
    for (const query of ['', '?alt=json', '?$alt=json']) {
      const list = await host.post(STREAM + query, TEXT);
      expect([list.status, list.headers.get('content-type')]).to.deep.equal([200, 'application/json']);
      expect((list.json() as Json[]).map(({ candidates }) => candidates[0].content.parts)).to.deep.equal([
        [{ text: 'he' }],
        [{ text: 'llo' }],
        [{ text: '' }],
      ]);
    }
  });

  it('finds the model in the path, whatever it is called', async () => {
    const { host, sent } = await commonGateway(says({ content: 'a' }), {}, {}, { anyModel: true });
    for (const [written, model] of [
      ['meta/llama-3', 'meta/llama-3'],
      ['gpt-oss:20b', 'gpt-oss:20b'],
      ['a%2Fb', 'a/b'],
      ['models/x', 'x'],
      ['models%2Fx', 'x'],
      ['a%3Ab', 'a:b'],
      ['100%25', '100%'],
    ]) {
      expect((await host.post(`/v1beta/models/${written}:generateContent`, TEXT)).status, written).to.equal(200);
      expect(sent()['model']).to.equal(model);
    }
  });

  for (const [what, method, path, expected, allow] of [
    ['an empty model', 'POST', '/v1beta/models/:generateContent', [400, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST']],
    [
      'a model with a control character',
      'POST',
      '/v1beta/models/a%00:generateContent',
      [400, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST'],
    ],
    [
      'a dot segment',
      'POST',
      '/v1beta/models/a%2F..%2Fb:generateContent',
      [400, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST'],
    ],
    [
      'a broken escape',
      'POST',
      '/v1beta/models/a%zz:generateContent',
      [400, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST'],
    ],
    ['another form of answer', 'POST', `${PATH}?alt=proto`, [400, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST']],
    [
      'another form of a count',
      'POST',
      '/v1beta/models/m:countTokens?alt=proto',
      [400, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST'],
    ],
    [
      'a model that nothing serves',
      'POST',
      '/v1beta/models/other:generateContent',
      [404, 404, 'NOT_FOUND', 'MODEL_NOT_FOUND'],
    ],
    [
      'a tuned model',
      'POST',
      '/v1beta/models/tunedModels/x:generateContent',
      [404, 404, 'NOT_FOUND', 'MODEL_NOT_FOUND'],
    ],
    [
      'a tuned model in its own place',
      'POST',
      '/v1beta/tunedModels/x:generateContent',
      [404, 404, 'NOT_FOUND', 'RESOURCE_NOT_FOUND'],
    ],
    ['an unknown method', 'POST', '/v1beta/models/m:predict', [404, 404, 'NOT_FOUND', 'RESOURCE_NOT_FOUND']],
    ['another resource', 'POST', '/v1beta/cachedContents', [404, 404, 'NOT_FOUND', 'RESOURCE_NOT_FOUND']],
    ['the wrong method', 'GET', PATH, [405, 405, 'UNIMPLEMENTED', 'METHOD_NOT_SUPPORTED'], 'POST'],
    [
      'the wrong method of a list',
      'POST',
      '/v1beta/models',
      [405, 405, 'UNIMPLEMENTED', 'METHOD_NOT_SUPPORTED'],
      'GET, HEAD',
    ],
    [
      'the wrong method of a model',
      'DELETE',
      '/v1beta/models/m',
      [405, 405, 'UNIMPLEMENTED', 'METHOD_NOT_SUPPORTED'],
      'GET, HEAD',
    ],
    ['a chat model for vectors', 'POST', '/v1beta/models/m:embedContent', [404, 404, 'NOT_FOUND', 'MODEL_NOT_FOUND']],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { host, upstream } = await commonGateway(
        says({ content: 'a' }),
        {},
        {},
        { translators: commonTranslators(['chat'], {}) },
      );
      const answer = await host.request(
        method,
        path,
        method === 'GET' ? undefined : { ...TEXT, content: { parts: [{ text: 'a' }] } },
      );
      expect(summary(answer)).to.deep.equal(expected);
      expect([answer.headers.get('allow'), upstream.seen.length]).to.deep.equal([allow ?? null, 0]);
    });
  }

  it('refuses a body that is compressed, too large or not JSON', async () => {
    const { host } = await commonGateway(says({ content: 'a' }), { max_request_bytes: 1000 });
    expect(summary(await host.post(PATH, TEXT, { 'content-encoding': 'gzip' }))).to.deep.equal([
      400,
      400,
      'INVALID_ARGUMENT',
      'INVALID_REQUEST',
    ]);
    expect((await host.post(PATH, TEXT, { 'content-encoding': 'identity' })).status).to.equal(200);
    expect(summary(await host.post(PATH, { contents: [{ parts: [{ text: 'x'.repeat(2000) }] }] }))).to.deep.equal([
      413,
      413,
      'INVALID_ARGUMENT',
      'REQUEST_TOO_LARGE',
    ]);
    expect(summary(await host.post(PATH, '{"contents":'))).to.deep.equal([
      400,
      400,
      'INVALID_ARGUMENT',
      'INVALID_REQUEST',
    ]);
  });

  it('takes a key of the gateway from a header, as bearer or from the query, and the first valid one counts', async () => {
    const { host } = await commonGateway(says({ content: 'a' }));
    const status = async (headers: Record<string, string>, query = ''): Promise<number> =>
      (await host.post(PATH + query, TEXT, { ...NO_CREDENTIAL, ...headers })).status;
    expect(await status({ 'x-goog-api-key': MASTER_KEY })).to.equal(200);
    expect(await status({ authorization: `Bearer ${MASTER_KEY}` })).to.equal(200);
    expect(await status({}, `?key=${MASTER_KEY}`)).to.equal(200);
    expect(await status({ 'x-goog-api-key': 'wrong', authorization: `Bearer ${MASTER_KEY}` })).to.equal(200);
    expect(await status({ 'x-goog-api-key': 'wrong' }, `?alt=json&key=${MASTER_KEY}`)).to.equal(200);
    expect(await status({ 'x-api-key': MASTER_KEY })).to.equal(401);
    expect(await status({}, `?key=${MASTER_KEY}&key=${MASTER_KEY}`)).to.equal(401);
    expect(
      (
        await host.post(
          '/v1/chat/completions',
          { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
          { ...NO_CREDENTIAL, 'x-goog-api-key': MASTER_KEY },
        )
      ).status,
    ).to.equal(401);
  });

  it('never shows a key of the query', async () => {
    const { host, upstream } = await commonGateway(says({ content: 'a' }));
    await host.post(`${PATH}?key=${MASTER_KEY}`, TEXT, NO_CREDENTIAL);
    const refused = await host.post(`${PATH}?key=secret-of-another`, TEXT, NO_CREDENTIAL);
    expect(host.texts.join('')).to.not.include(MASTER_KEY).and.not.include('secret-of-another');
    expect(refused.text).to.not.include('secret-of-another');
    expect(JSON.stringify(upstream.seen.map(({ url, headers }) => ({ url, headers })))).to.not.include(MASTER_KEY);
  });

  it('names the places of a key where none is valid', async () => {
    const { host } = await commonGateway(says({ content: 'a' }));
    for (const [headers, reason] of [
      [{}, 'MISSING_API_KEY'],
      [{ 'x-goog-api-key': 'wrong' }, 'INVALID_API_KEY'],
    ] as const) {
      const answer = await host.post(PATH, TEXT, { ...NO_CREDENTIAL, ...headers });
      expect(summary(answer)).to.deep.equal([401, 401, 'UNAUTHENTICATED', reason]);
      expect(errorOf(answer.text)['message'])
        .to.include('x-goog-api-key')
        .and.include('Authorization')
        .and.include('key');
      expect(answer.headers.get('www-authenticate')).to.equal(null);
    }
    const listed = await host.post(STREAM, TEXT, NO_CREDENTIAL);
    expect((listed.json() as Json[])[0]?.['error'].code).to.equal(401);
  });

  for (const [status, expected] of [
    [400, [400, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST']],
    [401, [502, 502, 'UNAVAILABLE', 'UPSTREAM_AUTH_ERROR']],
    [429, [429, 429, 'RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED']],
    [500, [502, 502, 'UNAVAILABLE', 'UPSTREAM_ERROR']],
  ] as const) {
    it(`tells that the upstream answered ${status}`, async () => {
      const { host, generate } = await commonGateway((_seen, response) => {
        response.setHeader('retry-after', '7');
        replyJson(response, status, { error: { message: 'no' } });
      });
      const answer = await generate(TEXT);
      expect(summary(answer)).to.deep.equal(expected);
      const retry = errorOf(answer.text)['details'].find((detail: Json) => detail['@type'].endsWith('RetryInfo'));
      expect(retry?.retryDelay).to.equal(answer.headers.get('retry-after') === null ? undefined : '7s');
      expect(summary(await host.post(`${STREAM}?alt=sse`, TEXT))).to.deep.equal(expected);
      expect((await host.post(STREAM, TEXT)).json()[0].error.code).to.equal(expected[1]);
    });
  }

  it('reports what was lost, and what the target ignores, in the words of the client', async () => {
    const { generate } = await commonGateway(
      says({ content: 'a' }),
      {},
      {},
      { params: { seed: 'unsupported', logprobs: 'unsupported' } },
    );
    const answer = await generate({
      ...TEXT,
      safetySettings: [{}],
      generationConfig: { seed: 1, responseLogprobs: true, topK: 4 },
      labels: {},
    });
    expect(answer.headers.get('x-gateway-ignored-params')?.split(', ')).to.deep.equal([
      'safetySettings',
      'generationConfig.seed',
      'generationConfig.responseLogprobs',
      'generationConfig.topK',
      'labels',
    ]);
    expect((await generate(TEXT)).headers.get('x-gateway-ignored-params')).to.equal(null);
  });

  it('refuses them where the configuration says so', async () => {
    const { generate, upstream } = await commonGateway(says({ content: 'a' }), {
      compatibility: { on_unsupported_param: 'reject' },
    });
    const answer = await generate({ ...TEXT, safetySettings: [{}] });
    expect(summary(answer)).to.deep.equal([400, 400, 'INVALID_ARGUMENT', 'UNSUPPORTED_PARAMETER']);
    expect([errorOf(answer.text)['message'].includes('safetySettings'), upstream.seen.length]).to.deep.equal([true, 0]);
  });

  it('puts media of results behind them, for targets that take them nowhere else', async () => {
    const { generate, sent } = await commonGateway(says({ content: 'a' }));
    const inlineData = { mimeType: 'image/png', data: 'AAAA' };
    await generate({
      contents: [
        ...TEXT['contents'],
        { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f' } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'c', name: 'f', response: { error: 'bad' }, parts: [{ inlineData }] } }],
        },
      ],
    });
    expect(sent()['messages'].slice(2)).to.deep.equal([
      { role: 'tool', tool_call_id: 'c', content: 'bad' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
    ]);
  });

  it('refuses files by address for a target that fetches none', async () => {
    const { generate, upstream } = await commonGateway(says({ content: 'a' }));
    const answer = await generate({
      contents: [{ parts: [{ fileData: { mimeType: 'application/pdf', fileUri: 'https://h/d.pdf' } }] }],
    });
    expect(summary(answer)).to.deep.equal([400, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST']);
    expect([
      errorOf(answer.text)['message'].includes('contents[0].parts[0].fileData'),
      upstream.seen.length,
    ]).to.deep.equal([true, 0]);
  });

  it('knows the long names of functions again', async () => {
    const name = 'n'.repeat(100);
    const { generate, sent } = await commonGateway((seen, response) =>
      replyJson(response, 200, {
        ...chatReply(''),
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: 'c',
                  type: 'function',
                  function: { name: (seen.json() as Json)['tools'][0].function.name, arguments: '{}' },
                },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
      }),
    );
    const answer = await generate({ ...TEXT, tools: [{ functionDeclarations: [{ name }] }] });
    expect([
      sent()['tools'][0].function.name.length,
      answer.json().candidates[0].content.parts[0].functionCall.name,
    ]).to.deep.equal([64, name]);
  });
});

describe('vectors on the Gemini wire', () => {
  const vectors = (seen: { json(): Json }): Json => {
    const { input } = seen.json();
    return {
      object: 'list',
      model: 'up',
      data: [input].flat().map((_text, index) => ({ object: 'embedding', index, embedding: [index, 0.5] })),
      usage: { prompt_tokens: 2, total_tokens: 2 },
    };
  };
  const text = (said: string): Json => ({ parts: [{ text: said }] });

  it('are made of one text', async () => {
    const { host, sent } = await commonGateway((seen, response) => replyJson(response, 200, vectors(seen)));
    const answer = await host.post('/v1beta/models/m:embedContent', {
      content: text('hi'),
      taskType: 'RETRIEVAL_QUERY',
      title: 't',
      outputDimensionality: 2,
    });
    expect([answer.status, answer.json()]).to.deep.equal([200, { embedding: { values: [0, 0.5] } }]);
    expect(sent()).to.deep.equal({ model: 'm', input: 'hi', dimensions: 2, input_type: 'search_query' });
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal('title');
  });

  it('are made of several, in their order', async () => {
    const { host, sent } = await commonGateway((seen, response) =>
      replyJson(response, 200, { ...vectors(seen), data: vectors(seen)['data'].toReversed() }),
    );
    const answer = await host.post('/v1beta/models/m:batchEmbedContents', {
      requests: ['a', 'b'].map((said) => ({ model: 'models/m', content: text(said) })),
    });
    expect([answer.status, answer.json()]).to.deep.equal([
      200,
      { embeddings: [{ values: [0, 0.5] }, { values: [1, 0.5] }] },
    ]);
    expect(sent()).to.deep.equal({ model: 'm', input: ['a', 'b'] });
  });

  for (const [body, path] of [
    [{ requests: [] }, 'requests'],
    [{ requests: Array.from({ length: 101 }, () => ({ content: text('a') })) }, 'the limit is 100'],
    [{ requests: [{ content: text('a'), taskType: 'CLUSTERING' }, { content: text('b') }] }, 'requests[1]'],
    [
      {
        requests: [
          { content: text('a'), outputDimensionality: 2 },
          { content: text('b'), outputDimensionality: 3 },
        ],
      },
      'requests[1]',
    ],
    [{ requests: [{ model: 'models/other', content: text('a') }] }, 'requests[0].model'],
    [{ requests: [{}] }, 'requests[0].content'],
    [
      { requests: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } }] },
      'requests[0].content.parts[0].inlineData',
    ],
  ] as const) {
    it(`refuse ${JSON.stringify(body).slice(0, 100)}`, async () => {
      const { host, upstream } = await commonGateway((seen, response) => replyJson(response, 200, vectors(seen)));
      const answer = await host.post('/v1beta/models/m:batchEmbedContents', body);
      expect(summary(answer)).to.deep.equal([400, 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST']);
      expect([errorOf(answer.text)['message'].includes(path), upstream.seen.length]).to.deep.equal([true, 0]);
    });
  }
});
