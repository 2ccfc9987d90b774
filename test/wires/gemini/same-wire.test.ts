import { expect } from 'chai';
import { sealEnvelope } from '../../../builtins/wires/envelope.ts';
import { MASTER_KEY, openSse, replyJson, startHost, type StubHandler, stubUpstream } from '../../kit/index.ts';
import { everySurface } from '../../surfaces/kit.ts';
import { commonGateway, framesOf, ownGateway, PATH, says, STREAM, TEXT } from './kit.ts';

type Json = Record<string, any>;

const REPLY =
  '{ "candidates":[{"content":{"parts":[{"text":"h\\u0069","novelty":1}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5},\n "modelVersion":"gemini-x","responseId":"r" }';
const FRAMES = [
  '{"candidates":[{"content":{"parts":[{"text":"Grü","thought":true}],"role":"model"}}],"modelVersion":"gemini-x"}',
  '{ "candidates": [ {"content":{"parts":[{"text":"ße"}],"role":"model"}} ] }',
  '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":12345678901234567890}},"thoughtSignature":"AAAA"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5}}',
];
const EVENTS = FRAMES.map((frame) => `data: ${frame}\r\n\r\n`).join('');

const answers: StubHandler = ({ url }, response) => {
  if (!url.includes('stream')) {
    response.setHeader('content-type', 'application/json');
    response.end(REPLY);
    return;
  }
  openSse(response);
  response.end(EVENTS);
};

const word = (blocked: string, stage = 'before_request', config: object = {}): object => ({
  plugins: [{ name: 'word-filter', stage, enabled: true, config: { blocked_words: [blocked], ...config } }],
});
const pattern = (blocked: string): object => ({
  plugins: [{ name: 'regex-guard', stage: 'before_request', enabled: true, config: { patterns: [blocked] } }],
});
const mask = (config: object = {}): object => ({
  plugins: [{ name: 'pii-redact', stage: 'before_request', enabled: true, config: { action: 'mask', ...config } }],
});

describe('a request of the Gemini API to its own vendor', () => {
  it('arrives in the bytes it came in, and so does the answer', async () => {
    const { host, upstream } = await ownGateway(answers);
    const body =
      '{ "contents" : [ {"parts":[{"text":"h\\u0069"},{"novelty":{"big":12345678901234567890,"a":1,"a":2}}]} ],\n"cachedContent":"cachedContents/x", "tools":[{"googleSearch":{}}],"safety_settings":[] }';
    const answer = await host.post(PATH, body);
    expect([answer.status, answer.text, answer.headers.get('x-gateway-ignored-params')]).to.deep.equal([
      200,
      REPLY,
      null,
    ]);
    expect([upstream.seen[0]?.url, upstream.seen[0]?.text]).to.deep.equal([PATH, body]);
    expect(answer.headers.get('content-type')).to.equal('application/json');
  });

  it('arrives as it is with one object for a list of one, and is read all the same', async () => {
    const { host, upstream } = await ownGateway(answers, {
      plugins: [{ name: 'max-token', stage: 'before_request', enabled: true, config: { max_input_length: 20 } }],
    });
    const body = (text: string): string =>
      `{ "contents": {"parts": {"text":"${text}"}},"cachedContent":"cachedContents/x" }`;
    for (const contents of [[{ parts: { text: 'word '.repeat(200) } }], { parts: { text: 'word '.repeat(200) } }]) {
      for (const more of [{}, { cachedContent: 'cachedContents/x' }])
        expect((await host.post(PATH, { contents, ...more })).status).to.equal(400);
    }
    expect([(await host.post(PATH, body('hi'))).status, upstream.seen.map(({ text }) => text)]).to.deep.equal([
      200,
      [body('hi')],
    ]);
  });

  it('is masked where one object stands for a list of one', async () => {
    const { host, upstream } = await ownGateway(answers, mask());
    await host.post(PATH, {
      systemInstruction: { parts: { text: 'a@example.com' } },
      contents: { parts: { text: 'b@example.com' } },
    });
    expect(upstream.seen[0]?.json()).to.deep.equal({
      systemInstruction: { parts: { text: '[EMAIL_1]' } },
      contents: { parts: { text: '[EMAIL_2]' } },
    });
  });

  it('names the model in the one request for a vector that stands without its list', async () => {
    const { host, upstream } = await ownGateway(
      (_seen, response) => replyJson(response, 200, { embeddings: [{ values: [1] }] }),
      { targets: [{ virtual_key: 'gemini', models: ['v'], model_map: { v: 'gemini-embedding-001' } }] },
    );
    await host.post('/v1beta/models/v:batchEmbedContents', {
      requests: { model: 'models/v', content: { parts: { text: 'hi' } } },
    });
    expect(upstream.seen[0]?.json()).to.have.nested.property('requests[0].model', 'models/gemini-embedding-001');
  });

  it("leaves out what is another vendor's of a part that stands alone", async () => {
    const { host, upstream } = await ownGateway(answers);
    const foreign = { text: 'hm', thoughtSignature: sealEnvelope([]) };
    await host.post(PATH, { contents: [{ parts: { text: 'hi' } }, { role: 'model', parts: foreign }] });
    expect(upstream.seen[0]?.text).to.not.include(foreign.thoughtSignature);
  });

  it('is refused without contents that could be read', async () => {
    const { host, upstream } = await ownGateway(answers);
    for (const contents of ['hi', 7, {}, { role: 'user' }])
      expect((await host.post(PATH, { contents })).json()).to.have.nested.property(
        'error.message',
        'contents must be a list',
      );
    expect(upstream.seen).to.deep.equal([]);
  });

  it('takes no credential and no header of the client along', async () => {
    const { host, upstream } = await ownGateway(answers);
    await host.post(`${PATH}?key=${MASTER_KEY}`, TEXT, {
      authorization: '',
      cookie: 'a=b',
      'x-goog-api-client': 'genai',
      'user-agent': 'an-agent',
      'x-gateway-metadata': '{"a":1}',
    });
    const { headers } = upstream.seen[0]!;
    expect(headers['x-goog-api-key']).to.equal('vendor-key');
    expect(JSON.stringify(upstream.seen)).to.not.include(MASTER_KEY);
    for (const name of ['cookie', 'x-goog-api-client', 'x-gateway-metadata', 'authorization'])
      expect(headers[name], name).to.equal(undefined);
    expect(headers['user-agent']).to.not.equal('an-agent');
  });

  it('names another model in the path alone', async () => {
    const { host, upstream } = await ownGateway(answers, {
      aliases: { alias: 'm' },
      targets: [{ virtual_key: 'gemini', models: ['m'], model_map: { m: 'gemini-3.8-flash' } }],
    });
    const body = JSON.stringify({ model: 'models/alias', ...TEXT });
    expect([
      (await host.post('/v1beta/models/alias:generateContent', body)).status,
      upstream.seen[0]?.url,
      upstream.seen[0]?.text,
    ]).to.deep.equal([200, '/v1beta/models/gemini-3.8-flash:generateContent', body]);
  });

  it("streams the vendor's frames as they are, whole or in one list", async () => {
    const { host, upstream } = await ownGateway(answers);
    const events = await host.post(`${STREAM}?alt=sse`, TEXT);
    expect([events.status, events.text, events.headers.get('content-type')]).to.deep.equal([
      200,
      EVENTS,
      'text/event-stream; charset=utf-8',
    ]);
    const list = await host.post(STREAM, TEXT);
    expect([list.status, list.text, list.headers.get('content-type')]).to.deep.equal([
      200,
      `[${FRAMES.join(',\r\n')}]`,
      'application/json',
    ]);
    expect(upstream.seen.map(({ url }) => url)).to.deep.equal([`${STREAM}?alt=sse`, `${STREAM}?alt=sse`]);
  });

  it("is the same stream however the vendor's bytes are cut", async () => {
    const bytes = Buffer.from(EVENTS);
    let cut = 0;
    const { host } = await ownGateway((_seen, response) => {
      openSse(response);
      response.write(bytes.subarray(0, cut));
      setImmediate(() => response.end(bytes.subarray(cut)));
    });
    for (cut = 1; cut < bytes.length; cut += 7)
      expect((await host.post(`${STREAM}?alt=sse`, TEXT)).text, `cut at ${cut}`).to.equal(EVENTS);
  });

  it('counts what the vendor counted', async () => {
    const { host } = await ownGateway(answers);
    await host.post(PATH, TEXT);
    await host.post(`${STREAM}?alt=sse`, TEXT);
    const tokens = host.samples
      .filter(({ name }) => name === 'gateway_tokens_input_total' || name === 'gateway_tokens_output_total')
      .map(({ value }) => value);
    expect(tokens).to.deep.equal([3, 2, 3, 2]);
  });

  it('fails as on the common wire, with the words of the vendor for what the client can mend', async () => {
    for (const [status, message, expected] of [
      [400, 'contents.parts must not be empty', [400, 'INVALID_ARGUMENT']],
      [403, 'no', [502, 'UNAVAILABLE']],
      [429, 'slow', [429, 'RESOURCE_EXHAUSTED']],
      [503, 'busy', [502, 'UNAVAILABLE']],
    ] as const) {
      const { host } = await ownGateway((_seen, response) =>
        replyJson(response, status, { error: { code: status, message, status: 'X' } }),
      );
      const { error } = (await host.post(PATH, TEXT)).json() as Json;
      expect([error.code, error.status]).to.deep.equal(expected);
      if (status === 400) expect(error.message).to.include(message);
    }
  });

  it('ends a stream that breaks off with an error in its form', async () => {
    const { host } = await ownGateway((_seen, response) => {
      openSse(response);
      response.write(`data: ${FRAMES[0]}\r\n\r\n`);
      response.end('data: {"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}\r\n\r\n');
    });
    const frames = framesOf((await host.post(`${STREAM}?alt=sse`, TEXT)).text);
    expect([frames.length, frames[1]?.['error'].code, frames[1]?.['error'].message]).to.deep.equal([
      2,
      502,
      'overloaded',
    ]);
    const list = (await host.post(STREAM, TEXT)).json() as Json[];
    expect([list.length, list[1]?.['error'].code]).to.deep.equal([2, 502]);
  });

  it('leaves out the half of a frame with which it breaks off', async () => {
    const cut = FRAMES[1]!.indexOf('ße');
    const { host } = await ownGateway((_seen, response) => {
      openSse(response);
      response.end(`data: ${FRAMES[0]}\r\n\r\ndata: ${FRAMES[1]!.slice(0, cut)}`);
    });
    const frames = framesOf((await host.post(`${STREAM}?alt=sse`, TEXT)).text);
    expect([frames.length, frames[1]?.['error'].code]).to.deep.equal([2, 502]);
    const list = (await host.post(STREAM, TEXT)).json() as Json[];
    expect([list.length, list[1]?.['error'].code]).to.deep.equal([2, 502]);
  });

  it('is a list of objects alone, whatever else comes as data', async () => {
    const { host } = await ownGateway((_seen, response) => {
      openSse(response);
      response.end(`data: hello\r\n\r\n${EVENTS}data: [DONE]\r\n\r\n`);
    });
    const list = (await host.post(STREAM, TEXT)).json() as Json[];
    expect(list).to.deep.equal(FRAMES.map((frame) => JSON.parse(frame) as Json));
  });

  it('goes without what other vendors signed', async () => {
    const { host, upstream } = await ownGateway(answers);
    const foreign = sealEnvelope([
      { type: 'reasoning.text', format: 'anthropic-claude-v1', signature: 's', text: 't' },
    ]);
    const call = { id: 'c', name: 'f', args: {} };
    const answer = await host.post(PATH, {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ text: 't', thought: true, thoughtSignature: foreign }] },
        {
          role: 'model',
          parts: [
            { text: 'said', thoughtSignature: foreign },
            { functionCall: call, thoughtSignature: foreign },
            { functionCall: call, thoughtSignature: 'AAAA' },
          ],
        },
      ],
    });
    expect(upstream.seen[0]?.json()).to.deep.equal({
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        {
          role: 'model',
          parts: [
            { text: 'said' },
            { functionCall: call, thoughtSignature: 'skip_thought_signature_validator' },
            { functionCall: call, thoughtSignature: 'AAAA' },
          ],
        },
      ],
    });
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal(
      'contents[1].parts[0], contents[2].parts[0].thoughtSignature, contents[2].parts[1].thoughtSignature',
    );
  });

  it('makes vectors with the model in each request', async () => {
    const vectors = { embeddings: [{ values: [0.25] }, { values: [0.5] }] };
    const { host, upstream } = await ownGateway(
      ({ url }, response) =>
        replyJson(response, 200, url.includes('batch') ? vectors : { embedding: { values: [0.25] } }),
      { aliases: { alias: 'm' } },
    );
    const batch = await host.post(
      '/v1beta/models/alias:batchEmbedContents',
      '{"requests":[{"model":"models/alias", "content":{"parts":[{"text":"a"}]}},{ "content":{"parts":[{"text":"b"}]}}]}',
    );
    expect([batch.status, batch.json()]).to.deep.equal([200, vectors]);
    expect(upstream.seen[0]?.text).to.equal(
      '{"requests":[{"model":"models/m", "content":{"parts":[{"text":"a"}]}},{ "content":{"parts":[{"text":"b"}]}}]}',
    );
    const one = await host.post('/v1beta/models/alias:embedContent', { content: { parts: [{ text: 'a' }] } });
    expect([one.status, one.json(), upstream.seen[1]?.url]).to.deep.equal([
      200,
      { embedding: { values: [0.25] } },
      '/v1beta/models/m:embedContent',
    ]);
  });
});

describe('guardrails on the Gemini wire', () => {
  for (const [what, gateway] of [
    ['its own vendor', ownGateway],
    ['another vendor', commonGateway],
  ] as const) {
    const answering = what === 'its own vendor' ? answers : says({ content: 'hi' });

    it(`read what goes to ${what}`, async () => {
      const { host, upstream } = await gateway(answering, pattern('secret'));
      for (const body of [
        { contents: [{ parts: [{ text: 'a secret' }] }] },
        { contents: [{ parts: [{ text: 'a sec' }, { text: 'ret' }] }] },
        { ...TEXT, systemInstruction: { parts: [{ text: 'secret' }] } },
        { ...TEXT, tools: [{ functionDeclarations: [{ name: 'f', description: 'secret' }] }] },
        {
          contents: [
            ...TEXT['contents'],
            { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 'secret' } } }] },
            { role: 'user', parts: [{ functionResponse: { name: 'f', response: { a: ['secret'] } } }] },
          ],
        },
        { ...TEXT, labels: { a: 'secret' } },
        { ...TEXT, novelty: { deep: ['secret'] } },
        {
          contents: [
            {
              role: 'model',
              parts: [
                {
                  text: 'x',
                  thought: true,
                  thoughtSignature: sealEnvelope([{ type: 'reasoning.text', text: 'secret' }]),
                },
              ],
            },
            ...TEXT['contents'],
          ],
        },
      ]) {
        const answer = await host.post(PATH, body);
        expect([answer.status, answer.json().error?.details[0].reason], JSON.stringify(body)).to.deep.equal([
          400,
          'REQUEST_REJECTED',
        ]);
      }
      expect(upstream.seen.length).to.equal(0);
      expect((await host.post(PATH, TEXT)).status).to.equal(200);
    });

    it(`read what comes from ${what}`, async () => {
      const { host } = await gateway(answering, word('hi', 'after_request'));
      const answer = await host.post(PATH, TEXT);
      expect([answer.status, answer.json().error.details[0].reason, answer.text.includes('"hi"')]).to.deep.equal([
        502,
        'RESPONSE_REJECTED',
        false,
      ]);
    });
  }

  it('change a text at its place, and nothing else', async () => {
    const { host, upstream } = await ownGateway(answers, mask());
    const body =
      '{ "contents" : [ {"parts":[ {"text":"my mail is jane@example.com"} ,{"novelty": 12345678901234567890}]} ] }';
    expect((await host.post(PATH, body)).status).to.equal(200);
    expect(upstream.seen[0]?.text).to.match(
      /^\{ "contents" : \[ \{"parts":\[ \{"text":"my mail is [^"@]+"\} ,\{"novelty": 12345678901234567890\}\]\} \] \}$/,
    );
  });

  it('hold a stream back until they have read all of it', async () => {
    const { host } = await ownGateway(answers, word('ße', 'after_request', { stream: 'end' }));
    expect(framesOf((await host.post(`${STREAM}?alt=sse`, TEXT)).text).at(-1)?.['error'].details[0].reason).to.equal(
      'RESPONSE_REJECTED',
    );
  });
});

describe('a stream of the Gemini API that guards hold back', () => {
  const window = {
    plugins: [
      {
        name: 'regex-guard',
        stage: 'after_request',
        enabled: true,
        config: { patterns: ['cana?ry'], stream: 'window' },
      },
    ],
  };
  const masking = { plugins: [{ name: 'pii-redact', stage: 'after_request', enabled: true, config: {} }] };
  const MAIL = 'jane@example.com';
  const frameOf = (parts: readonly object[], more: object = {}, others: object = {}): string =>
    JSON.stringify({
      candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
      modelVersion: 'gemini-2.5-flash',
      ...others,
    });
  const saying =
    (frames: readonly string[]): Parameters<typeof ownGateway>[0] =>
    (_seen, response) => {
      openSse(response);
      response.end(frames.map((frame) => `data: ${frame}\r\n\r\n`).join(''));
    };
  const STOP = frameOf(
    [],
    { finishReason: 'STOP', safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'LOW' }] },
    { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, trafficType: 'ON_DEMAND' } },
  );
  const VENDOR = [
    frameOf([
      { text: 'I think', thought: true },
      { text: '', thoughtSignature: 'AAAA' },
    ]),
    frameOf([
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    ]),
    frameOf([{ text: 'a can' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }, { text: 'dle ' }]),
    frameOf([{ text: 'burns' }, { functionCall: { name: 'f', args: { a: 'b' } } }], {
      novelty: { deep: [1.5, 'x'] },
      groundingMetadata: { webSearchQueries: ['candles'], searchEntryPoint: { renderedContent: '<b>' } },
    }),
    frameOf([{ functionCall: { name: 'g', willContinue: true } }]),
    frameOf([
      {
        functionCall: {
          partialArgs: [{ jsonPath: '$.q', stringValue: 'can', willContinue: true }],
          willContinue: true,
        },
      },
    ]),
    frameOf([{ functionCall: { partialArgs: [{ jsonPath: '$.q', stringValue: 'dle' }] } }]),
    STOP,
  ];

  it('arrives in the bytes of the vendor while it is clean, with all that only the vendor has', async () => {
    for (const config of [window, masking]) {
      const { host } = await ownGateway(saying(VENDOR), config);
      expect((await host.post(`${STREAM}?alt=sse`, TEXT)).text).to.equal(
        VENDOR.map((frame) => `data: ${frame}\r\n\r\n`).join(''),
      );
      expect((await host.post(STREAM, TEXT)).text).to.equal(`[${VENDOR.join(',\r\n')}]`);
    }
  });

  const leaking: readonly (readonly [string, readonly string[]])[] = [
    [
      'a text over several frames',
      [frameOf([{ text: 'a ' }]), frameOf([{ text: 'cana' }]), frameOf([{ text: 'ry' }]), STOP],
    ],
    ['the first frame', [frameOf([{ text: 'canary' }]), STOP]],
    ['two parts of a frame', [frameOf([{ text: 'cana' }, { text: 'ry' }]), STOP]],
    ['a thought', [frameOf([{ text: 'cana', thought: true }]), frameOf([{ text: 'ry', thought: true }]), STOP]],
    ['arguments of a call', [frameOf([{ functionCall: { name: 'f', args: { a: ['canary'] } } }]), STOP]],
    [
      'arguments in pieces',
      [
        frameOf([{ functionCall: { name: 'g', willContinue: true } }]),
        ...['cana', 'ry'].map((stringValue) =>
          frameOf([
            {
              functionCall: {
                partialArgs: [{ jsonPath: '$.q', stringValue, willContinue: stringValue === 'cana' }],
                willContinue: stringValue === 'cana',
              },
            },
          ]),
        ),
        STOP,
      ],
    ],
    [
      'two calls in pieces',
      [
        frameOf([
          { functionCall: { id: 'a', name: 'g', willContinue: true } },
          { functionCall: { id: 'b', name: 'h', willContinue: true } },
        ]),
        frameOf([{ functionCall: { id: 'b', partialArgs: [{ jsonPath: '$.q', stringValue: 'x' }] } }]),
        frameOf([{ functionCall: { id: 'a', partialArgs: [{ jsonPath: '$.q', stringValue: 'canary' }] } }]),
        STOP,
      ],
    ],
    [
      'the second candidate',
      [
        JSON.stringify({ candidates: [{ index: 1, content: { parts: [{ text: 'cana' }] } }] }),
        JSON.stringify({
          candidates: [
            { index: 0, content: { parts: [{ text: 'b' }] } },
            { index: 1, content: { parts: [{ text: 'ry' }] } },
          ],
        }),
        STOP,
      ],
    ],
    ['what code printed', [frameOf([{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'canary' } }]), STOP]],
    ['a member of tomorrow', [frameOf([{ text: 'x' }], { novelty: ['a canary'] }), STOP]],
  ];
  for (const [what, frames] of leaking) {
    it(`lets no part of a match pass in ${what}`, async () => {
      const { host } = await ownGateway(saying(frames), window);
      const events = await host.post(`${STREAM}?alt=sse`, TEXT);
      expect(events.text).to.not.match(/cana|"ry/);
      expect(framesOf(events.text).at(-1)?.['error'].details[0].reason).to.equal('RESPONSE_REJECTED');
      const list = (await host.post(STREAM, TEXT)).json() as Record<string, any>[];
      expect(list.at(-1)?.['error'].details[0].reason).to.equal('RESPONSE_REJECTED');
    });
  }

  it('is masked at its places, and keeps everything else', async () => {
    const call = { name: 'mail', args: { to: MAIL, n: 1 } };
    const { host } = await ownGateway(
      saying([
        frameOf([{ text: 'ask jane@exam', thought: true }]),
        frameOf([
          { text: 'ple.com', thought: true },
          { text: 'Write to ' },
          { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
        ]),
        frameOf([{ text: 'jane@' }, { text: 'example.com now' }], {
          logprobsResult: { chosenCandidates: [{ token: MAIL }] },
          groundingMetadata: { webSearchQueries: [`who is ${MAIL}`], n: 1 },
        }),
        frameOf([{ executableCode: { language: 'PYTHON', code: `mail("${MAIL}")` } }, { functionCall: call }]),
        frameOf([{ functionCall: { id: 'p', name: 'g', willContinue: true }, thoughtSignature: 'AAAA' }]),
        frameOf([{ functionCall: { id: 'p', partialArgs: [{ jsonPath: '$.to', stringValue: MAIL }] } }]),
        STOP,
      ]),
      masking,
    );
    for (const [query, read] of [
      ['?alt=sse', framesOf],
      ['', JSON.parse],
    ] as const) {
      const { text } = await host.post(`${STREAM}${query}`, TEXT);
      expect(text).to.not.match(/jane|example/);
      const frames = read(text) as Record<string, any>[];
      const parts = frames.flatMap(({ candidates }) => candidates[0].content.parts as Record<string, any>[]);
      const joined = (isThought: boolean): string =>
        parts
          .filter(({ thought, text: said }) => typeof said === 'string' && (thought === true) === isThought)
          .map(({ text: said }) => said as string)
          .join('');
      expect([joined(true), joined(false)]).to.deep.equal(['ask [EMAIL_1]', 'Write to [EMAIL_1] now']);
      expect(parts.flatMap(({ functionCall }) => functionCall ?? [])).to.deep.equal([
        { ...call, args: { to: '[EMAIL_1]', n: 1 } },
        { id: 'p', name: 'g', args: { to: '[EMAIL_1]' } },
      ]);
      expect(
        parts.filter(({ functionCall }) => functionCall).map(({ thoughtSignature }) => thoughtSignature as unknown),
      ).to.deep.equal([undefined, 'AAAA']);
      expect(parts.find(({ executableCode }) => executableCode)).to.deep.equal({
        executableCode: { language: 'PYTHON', code: 'mail("[EMAIL_1]")' },
      });
      expect(parts.find(({ inlineData }) => inlineData)).to.deep.equal({
        inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' },
      });
      expect(
        frames.find(({ candidates }) => candidates[0].groundingMetadata)?.['candidates'][0].groundingMetadata,
      ).to.deep.equal({ webSearchQueries: ['who is [EMAIL_1]'], n: 1 });
      expect(frames.at(-1)).to.deep.equal(JSON.parse(STOP));
    }
  });

  it('is masked in a whole answer without the probabilities that repeat it', async () => {
    const candidate = {
      content: { role: 'model', parts: [{ text: `to ${MAIL}` }] },
      finishReason: 'STOP',
      logprobsResult: { chosenCandidates: Array.from(MAIL).map((token) => ({ token })) },
    };
    const { host } = await ownGateway(
      (_seen, response) => replyJson(response, 200, { candidates: [candidate] }),
      masking,
    );
    const { logprobsResult: _repeats, ...rest } = candidate;
    expect((await host.post(PATH, TEXT)).json().candidates).to.deep.equal([
      { ...rest, content: { role: 'model', parts: [{ text: 'to [EMAIL_1]' }] } },
    ]);
  });

  it("is the same however the vendor's bytes are cut", async () => {
    const bytes = Buffer.from(VENDOR.map((frame) => `data: ${frame}\r\n\r\n`).join(''));
    let cut = 0;
    const { host } = await ownGateway((_seen, response) => {
      openSse(response);
      response.write(bytes.subarray(0, cut));
      setImmediate(() => response.end(bytes.subarray(cut)));
    }, window);
    for (cut = 1; cut < bytes.length; cut += 61)
      expect((await host.post(`${STREAM}?alt=sse`, TEXT)).text, `cut at ${cut}`).to.equal(bytes.toString());
  });
});

describe('a conversation on the Gemini wire', () => {
  it("has each attempt made from the client's own body", async () => {
    const broken = await stubUpstream((_seen, response) => {
      response.writeHead(500).end();
    });
    const healthy = await stubUpstream(says({ content: 'hello' }));
    const host = await startHost(
      {
        strategy: { mode: 'fallback' },
        targets: [
          { virtual_key: 'gemini', models: ['m'], retry: { attempts: 1 } },
          healthy.target('b', {}, everySurface),
        ],
      },
      { variables: { GEMINI_API_KEY: 'k', GEMINI_BASE_URL: `${broken.url}/v1beta` } },
    );
    const answer = await host.post(PATH, { ...TEXT, safetySettings: [{}] });
    expect([
      answer.status,
      answer.json().candidates[0].content.parts,
      answer.headers.get('x-gateway-target'),
      answer.headers.get('x-gateway-ignored-params'),
    ]).to.deep.equal([200, [{ text: 'hello' }], 'b', 'safetySettings']);
    expect([broken.seen.at(-1)?.json(), healthy.seen[0]?.json()['messages']]).to.deep.equal([
      { ...TEXT, safetySettings: [{}] },
      [{ role: 'user', content: 'hi' }],
    ]);
  });
});
