import { expect } from 'chai';
import {
  type Answer,
  eventually,
  isSoak,
  rawClient,
  replyJson,
  startHost,
  stubUpstream,
  type SeenRequest,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const ABLE = { passthrough: true, responses: 'native' as const, batches: true };
const B = '-----b';
const FORM = { 'content-type': `multipart/form-data; boundary=${B}` };
const NOT_FOUND = '404 model_not_found';

interface Scene {
  readonly t: TestHost;
  readonly upstream: StubUpstream;
  /** Status, and the code of a refusal, for the key that may ask for `m` and `vendor/n`. */
  readonly call: (
    method: string,
    path: string,
    body?: string | object,
    headers?: Record<string, string>,
  ) => Promise<string>;
  readonly key: string;
}

const fileLines: Record<string, string> = {};

async function start(config: object = {}): Promise<Scene> {
  const upstream = await stubUpstream(({ url }: SeenRequest, response) => {
    const [, id] = /^\/files\/([^/]+)\/content$/.exec(url) ?? [];
    if (id === undefined) replyJson(response, 200, { id: 'made-1' });
    else if (fileLines[decodeURIComponent(id)] === undefined) replyJson(response, 404, {});
    else response.end(fileLines[decodeURIComponent(id)]);
  });
  const t = await startHost({
    strategy: { mode: 'fallback' },
    batch_target: 'a',
    responses_target: 'a',
    aliases: { quick: 'm', slow: 'o1-pro' },
    targets: [upstream.target('a', { models: ['m', 'vendor/n', 'o1-pro', 'known'] }, ABLE)],
    ...config,
  });
  const { key } = await t.host.stores.keys.create({
    name: 'limited',
    scopes: ['read_only'],
    limits: { models: ['m', 'vendor/n'] },
  });
  const call: Scene['call'] = async (method, path, body, headers = {}) => {
    const answer: Answer = await t.request(method, path, body, {
      authorization: `Bearer ${key}`,
      'x-provider': 'a',
      ...headers,
    });
    return answer.status === 200 ? '200' : `${answer.status} ${answer.json().error.code}`;
  };
  return { t, upstream, call, key };
}

const field = (name: string, value: string, more = ''): string =>
  `--${B}\r\nContent-Disposition: form-data; name=${name}${more}\r\n\r\n${value}\r\n`;
const form = (...parts: readonly string[]): string => `${parts.join('')}--${B}--\r\n`;

/** Bodies that name a model outside the list, beside one inside. */
const HIDDEN: Readonly<Record<string, string | object>> = {
  'in capitals': { Model: 'o1-pro', model: 'm' },
  'in other capitals': { model: 'm', MODEL: 'o1-pro' },
  'escaped, in capitals': '{"model":"m","\\u004dodel":"o1-pro"}',
  'as a fallback': { model: 'm', models: ['m', 'o1-pro'] },
  'as the only fallback': { model: 'm', models: 'o1-pro' },
  'as fallbacks of a proxy': { model: 'm', fallbacks: ['vendor/n', { model: 'o1-pro' }] },
  'as a fallback by an alias': { model: 'quick', models: ['slow'] },
  'of a tool': {
    model: 'm',
    tools: [
      { type: 'function', function: { name: 'f' } },
      { type: 'image_generation', model: 'o1-pro' },
    ],
  },
  'of a tool that the input brings': {
    model: 'm',
    input: [{ type: 'additional_tools', tools: [{ type: 'image_generation', Model: 'o1-pro' }] }],
  },
  'of a plugin of a router': { model: 'm', plugins: [{ id: 'fusion', analysis_models: ['m', 'o1-pro'] }] },
  'of a compound': { model: 'm', compound_custom: { models: { reasoning_model: 'o1-pro' } } },
  'of a session': { model: 'm', session: { model: 'o1-pro' } },
  'that transcribes': { model: 'm', session: { audio: { input: { transcription: { model: 'o1-pro' } } } } },
  'of a grader': { model: 'm', method: { reinforcement: { grader: { type: 'score_model', model: 'o1-pro' } } } },
  'of a response': { model: 'm', response: { model: 'o1-pro' } },
  'with a name of its own': { model: 'm', base_model: 'o1-pro' },
  'as an id': { model: 'm', modelId: 'o1-pro' },
  'as a deployment': { model: 'm', deployment: 'o1-pro' },
  'as a preset': { model: 'm', preset: 'o1-pro' },
  'as an object': { model: 'm', extra_body: { model: { provider: 'a', name: 'o1-pro' } } },
  'of a request inside': {
    model: 'm',
    requests: [{ custom_id: 'a', params: { model: 'o1-pro', max_tokens: 9, messages: [] } }],
  },
  'in a path inside': { model: 'm', requests: [{ url: '/v1/engines/o1-pro/completions' }] },
  'in an encoded path inside': { model: 'm', requests: [{ url: '/v1/engines/o1%2Dpro/completions?x=1' }] },
  'twice, deep inside': '{"model":"m","a":{"b":{"model":"o1-pro","model":"m"}}}',
  'at a depth': `{"model":"m","a":${'['.repeat(200)}{"model":"o1-pro"}${']'.repeat(200)}}`,
  'behind the body': '{"model":"m"}{"model":"o1-pro"}',
  'in a comment that hides it': '{"model":"m"/*","x":"*/,"model2":1}',
};

/** Bodies that name nothing else, although they look like it. */
const HARMLESS: Readonly<Record<string, string | object>> = {
  'a parameter of a tool': {
    model: 'm',
    tools: [
      {
        type: 'function',
        function: {
          name: 'f',
          parameters: {
            type: 'object',
            properties: { model: { type: 'string', enum: ['o1-pro'] } },
            required: ['model'],
          },
        },
      },
    ],
  },
  'an argument of a call': {
    model: 'm',
    messages: [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'agent', input: { model: 'haiku' } }] },
    ],
  },
  'what is said': {
    model: 'm',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: '{"model":"o1-pro"}' }] },
      { type: 'function_call', name: 'f', arguments: '{"model":"x"}', model: 'x' },
    ],
  },
  metadata: { model: 'm', metadata: { model: 'a car' }, client_metadata: { Model: 'x' } },
  'a schema of the answer': {
    model: 'm',
    text: { format: { type: 'json_schema', name: 'n', schema: { properties: { models: { const: 'x' } } } } },
  },
  'fallbacks of the list': { model: 'm', models: ['m', 'vendor/n'] },
  'with a collection': { model: 'models/m' },
  'a number': { model: 'm', models: 7, fallbacks: null },
  'variables of a prompt': { model: 'm', prompt: { id: 'p', variables: { car_model: 'x' } } },
};

describe('a key with a list of models', () => {
  for (const [what, body] of Object.entries(HIDDEN)) {
    for (const path of ['/v1/fine_tuning/jobs', '/v1/responses', '/v1/responses/compact']) {
      it(`names none outside it ${what}: ${path}`, async () => {
        const { call, upstream } = await start();
        expect(await call('POST', path, body)).to.be.oneOf([NOT_FOUND, '400 invalid_request']);
        expect(upstream.seen).to.deep.equal([]);
      });
    }
  }

  for (const [what, body] of Object.entries(HARMLESS)) {
    it(`names nothing by ${what}`, async () => {
      const { call } = await start();
      expect(await call('POST', '/v1/fine_tuning/jobs', body)).to.equal('200');
      if (what !== 'with a collection') expect(await call('POST', '/v1/responses', body)).to.equal('200');
    });
  }

  it('names none outside it by an alias, where a vendor would read the name itself', async () => {
    const { call, upstream } = await start({ aliases: { known: 'm', 'o1-pro': 'vendor/n' } });
    for (const body of [{ model: 'known' }, { model: 'm', models: ['o1-pro'] }])
      expect(await call('POST', '/v1/fine_tuning/jobs', body)).to.equal(NOT_FOUND);
    expect(await call('POST', '/v1/responses', { model: 'known', models: ['known'] })).to.equal(NOT_FOUND);
    expect(upstream.seen).to.deep.equal([]);
    expect(await call('POST', '/v1/responses', { model: 'known' })).to.equal('200');
    expect(upstream.seen[0]?.json()['model']).to.equal('m');
  });

  it('may name any model without a list', async () => {
    const { t } = await start();
    for (const [what, body] of Object.entries(HIDDEN))
      expect((await t.request('POST', '/v1/fine_tuning/jobs', body, { 'x-provider': 'a' })).status, what).to.equal(200);
  });

  it('names none outside it in a path, and in the query', async () => {
    const { call, upstream } = await start();
    for (const path of [
      '/v1/engines/o1-pro/completions',
      '/v1/Engines/o1-pro/completions',
      '/v1/%65ngines/o1%2Dpro/completions',
      '/v1/deployments/o1-pro/chat/completions',
      '/v1/openai/deployments/unheard/chat',
      '/v1/inference/unheard',
      '/v1/unheard/invocations',
      '/v1/x/o1-pro/y',
      '/v1/vendor/unheard/x/known',
      '/v1/engines/m/known',
      '/v1/engines/m/o1-pro',
      '/v1/models/o1-pro',
      '/v1/engines;x/o1-pro/y',
      '/v1/engines//o1-pro',
      '/v1/x?model=o1-pro',
      '/v1/x?Model=o1-pro',
      '/v1/x?model=m&model=o1-pro',
      '/v1/x?model=m;model=o1-pro',
      '/v1/x?m%6fdel=o1-pro',
      '/v1/x?model[]=o1-pro',
      '/v1/x?deployment=o1-pro',
      '/v1/x?a=1&fallback_model=o1-pro',
    ]) {
      for (const [method, body] of [['POST', { model: 'm' }], ['GET'], ['DELETE']] as const)
        expect(await call(method, path, body), `${method} ${path}`).to.equal(NOT_FOUND);
    }
    expect(await call('POST', '/v1/x', { model: 'm' }, { 'azureml-model-deployment': 'o1-pro' })).to.equal(NOT_FOUND);
    expect(await call('POST', '/v1/x', { model: 'm' }, { 'x-model': 'o1-pro' })).to.equal(NOT_FOUND);
    expect(upstream.seen).to.deep.equal([]);
    for (const path of [
      '/v1/engines/m/completions',
      '/v1/engines/vendor/n/completions',
      '/v1/engines/vendor%2Fn/completions',
      '/v1/m/invocations',
      '/v1/fine_tuning/jobs/ftjob-1?limit=2',
      '/v1/x?model=m&Model=vendor/n',
      '/v1/threads/t/runs/r',
      '/v1/models/m/permissions',
    ]) {
      expect(await call('POST', path, { model: 'm' }), path).to.equal('200');
    }
  });

  for (const [what, body] of Object.entries({
    'in a field': form(field('"model"', 'o1-pro')),
    'in a second field': form(field('"model"', 'm'), field('"model"', 'o1-pro')),
    'in capitals': form(field('"model"', 'm'), field('"Model"', 'o1-pro')),
    'without quotes': form(field('"model"', 'm'), field('MODEL', 'o1-pro')),
    'with escapes': form(field('"model"', 'm'), field('"mo\\del"', 'o1-pro'), field('"mod%65l"', 'o1-pro')),
    'in the form of RFC 5987': form(field('"model"', 'm'), field('"x"; name*=utf-8\'\'model', 'o1-pro')),
    'in a folded header': form(
      field('"model"', 'm'),
      `--${B}\r\nContent-Disposition: form-data;\r\n name="model"\r\n\r\no1-pro\r\n`,
    ),
    'in a file': form(field('"model"', 'm'), field('"model"', 'o1-pro', '; filename=""')),
    'in a list': form(field('"model"', 'm'), field('"models[]"', 'o1-pro')),
    'in JSON': form(field('"model"', 'm'), field('"session"', '{"model":"o1-pro"}')),
    'in JSON over lines': form(
      field('"model"', 'm'),
      field('"session"', '{\r\n "type": "realtime",\r\n "model": "o1-pro"\r\n}'),
    ),
    'in JSON that is broken': form(field('"model"', 'm'), field('"session"', '{"a":1,}')),
    'behind lone line feeds': form(field('"model"', 'm')).replace(
      `--${B}--`,
      `--${B}\nContent-Disposition: form-data; name="model"\n\no1-pro\n--${B}--`,
    ),
    'behind lone carriage returns': form(
      field('"model"', 'm'),
      field('"x"', `y\r--${B}\rContent-Disposition: form-data; name="model"\r\ro1-pro`),
    ),
    coded: form(field('"model"', 'm'), field('"model"', 'bQ==', '\r\nContent-Transfer-Encoding: base64')),
    nowhere: form(field('"x"', 'y')),
  })) {
    it(`names none outside it in a form: ${what}`, async () => {
      const { call, upstream } = await start();
      expect(await call('POST', '/v1/videos', body, FORM)).to.equal(NOT_FOUND);
      expect(upstream.seen).to.deep.equal([]);
    });
  }

  it('sends forms that name what it may', async () => {
    const { call, upstream } = await start();
    const image = Buffer.from(Array.from({ length: 200_000 }, (_each, at) => (at * 7919 + (at >> 3)) % 256));
    const body = Buffer.concat([
      Buffer.from(
        field('"model"', 'vendor/n') +
          field('"session"', '{"model":"m"}') +
          `--${B}\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n`,
      ),
      image,
      Buffer.from(`\r\n--${B}--\r\n`),
    ]);
    expect(await call('POST', '/v1/videos', body, FORM)).to.equal('200');
    expect(
      await call('POST', '/v1/x', 'a=1&model=m', { 'content-type': 'application/x-www-form-urlencoded' }),
    ).to.equal('200');
    expect(upstream.seen).to.have.length(2);
    for (const [mediaType, text] of [
      ['application/x-www-form-urlencoded', 'model=m&Model=o1-pro'],
      ['application/x-www-form-urlencoded', '{"model":"m","x":"&model=o1-pro&"}'],
      ['multipart/form-data; boundary=a; boundary=b', form(field('"model"', 'm'))],
      ['multipart/form-data', form(field('"model"', 'm'))],
      ['application/octet-stream', 'a=1\n{"model":"o1-pro"}&model=m'],
      ['application/jsonl', '{"model":"m"}\n{"model":"o1-pro"}\n'],
    ] as const) {
      expect(await call('POST', '/v1/x', text, { 'content-type': mediaType }), mediaType).to.equal(NOT_FOUND);
    }
    expect(await call('POST', '/v1/x', '{"model":"m"}', { 'content-encoding': 'gzip' })).to.equal(NOT_FOUND);
    expect(upstream.seen).to.have.length(2);
  });
});

const line = (model: string, more: object = {}): string =>
  `${JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: { model, messages: [{ role: 'user', content: 'hi' }], ...more } })}\n`;
const upload = (lines: string, purpose = 'batch', isFirst = true): string => {
  const parts = [field('"purpose"', purpose), field('"file"', lines, '; filename="requests.jsonl"')];
  return form(...(isFirst ? parts : parts.toReversed()));
};

describe('a file for batches of a key with a list of models', () => {
  it('is sent on where its lines name what the key may ask for', async () => {
    const { call, upstream } = await start();
    const body = upload(line('m') + line('vendor/n', { metadata: { model: 'x' } }));
    expect(await call('POST', '/v1/files', body, FORM)).to.equal('200');
    expect(upstream.seen[0]?.text).to.equal(body);
  });

  for (const [what, body] of Object.entries({
    'in a line': upload(line('m') + line('o1-pro')),
    'in capitals': upload(line('m', { Model: 'o1-pro' })),
    'in the last line, without an end': upload((line('m') + line('o1-pro')).trimEnd()),
    'in a path': upload(line('m').replace('/v1/chat/completions', '/v1/engines/o1-pro/completions')),
    'before the purpose': upload(line('o1-pro'), 'batch', false),
    'for a purpose of another vendor': upload(line('o1-pro'), 'batch-api'),
    'as a fallback': upload(line('m', { models: ['o1-pro'] })),
    'of a tool': upload(line('m', { tools: [{ type: 'x', model: 'o1-pro' }] })),
    'behind a mark of UTF-8': upload(`\ufeff${line('o1-pro')}`),
    'in a field of the form': form(
      field('"purpose"', 'batch'),
      field('"Model"', 'o1-pro'),
      field('"file"', line('m'), '; filename="a"'),
    ),
  })) {
    it(`is broken off where it names another: ${what}`, async () => {
      const { call, upstream } = await start();
      expect(await call('POST', '/v1/files', body, FORM)).to.equal(NOT_FOUND);
      expect(upstream.seen).to.deep.equal([]);
      expect((await call('POST', '/v1/Files', body, FORM)).slice(0, 3)).to.equal('404');
    });
  }

  for (const [what, body, headers] of [
    ['a line that is not JSON', upload(`${line('m')}x\n`), FORM],
    ['a line that is broken', upload(`${line('m')}{"body":{"model":"m"}\n`), FORM],
    ['a line that says something twice', upload('{"body":{"model":"o1-pro","model":"m"}}\n'), FORM],
    ['something compressed', upload('\x1f\x8b\x08 binary'), FORM],
    ['a coded body', upload(line('m')), { ...FORM, 'content-encoding': 'gzip' }],
    ['a form without a boundary', upload(line('m')), { 'content-type': 'multipart/form-data' }],
  ] as const) {
    it(`is refused where it is ${what}`, async () => {
      const { call, upstream } = await start();
      const expected = what === 'a form without a boundary' ? '200' : '400 request_rejected'; // its purpose cannot be known: the batch is looked at
      expect(await call('POST', '/v1/files', body, headers)).to.equal(expected);
      if (expected !== '200') expect(upstream.seen).to.deep.equal([]);
    });
  }

  it('is broken off in the middle of a large one, without its end', async () => {
    const { t, key, upstream } = await start();
    const before = Buffer.from(line('m').repeat(isSoak() ? 100_000 : 20_000));
    const client = await rawClient(t.url);
    client.send(
      `POST /v1/files HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${FORM['content-type']}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const send = (text: string | Buffer): void => {
      client.send(`${text.length.toString(16)}\r\n`);
      client.socket.write(text);
      client.send('\r\n');
    };
    send(field('"purpose"', 'batch') + `--${B}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`);
    send(before);
    send(line('o1-pro'));
    expect(await client.until(/\r\n\r\n.+/)).to.match(/^HTTP\/1\.1 404 [^]*model_not_found/);
    client.socket.destroy();
    expect(upstream.seen).to.deep.equal([]);
    await eventually(() => t.host.slot.leases === 0);
  }).timeout(20_000);

  it('is not looked at for another purpose, nor in parts', async () => {
    const { call } = await start();
    expect(await call('POST', '/v1/files', upload(line('o1-pro'), 'fine-tune'), FORM)).to.equal('200');
    expect(await call('POST', '/v1/files', upload('\x89PNG {"model":"x"}', 'vision'), FORM)).to.equal('200');
    expect(
      await call('POST', '/v1/uploads', { purpose: 'batch', filename: 'a', bytes: 9, mime_type: 'application/jsonl' }),
    ).to.equal('400 request_rejected');
    expect(
      await call('POST', '/v1/uploads/u/parts', form(field('"data"', line('m').slice(0, 40), '; filename="a"')), FORM),
    ).to.equal('400 request_rejected');
  });
});

describe('a batch of a key with a list of models', () => {
  const ask = (id: unknown, more: object = {}): object => ({
    input_file_id: id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    ...more,
  });
  before(() => {
    Object.assign(fileLines, {
      good: line('m') + line('vendor/n'),
      bad: line('m').repeat(2000) + line('o1-pro'),
      odd: `${line('m')}no JSON\n`,
      twice: '{"body":{"model":"o1-pro","model":"m"}}\n',
    });
  });

  it('runs a file whose lines name what the key may ask for, no matter who has uploaded it', async () => {
    const { call, upstream, t } = await start();
    expect(
      await call('POST', '/v1/batches', ask('good', { metadata: { source_file: 'x', url: 'https://x' } })),
    ).to.equal('200');
    expect(upstream.seen.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
      'GET /files/good/content',
      'POST /batches',
    ]);
    expect(upstream.seen[0]?.headers)
      .to.include({ authorization: 'Bearer stub-key' })
      .and.not.have.property('content-type');
    await eventually(() => t.host.slot.leases === 0);
  });

  for (const [what, body, expected] of [
    ['a file that names another model', ask('bad'), NOT_FOUND],
    ['a file in capitals', { Input_File_Id: 'bad' }, NOT_FOUND],
    ['two files', { input_files: ['good', 'bad'] }, NOT_FOUND],
    ['a file that is not JSON', ask('odd'), '400 request_rejected'],
    ['a file that says something twice', ask('twice'), '400 request_rejected'],
    ['a file that is not there', ask('none'), '400 request_rejected'],
    ['an id that leads elsewhere', ask('../good'), '400 request_rejected'],
    ['an id of dots', ask('..'), '400 request_rejected'],
    ['nothing', { endpoint: '/v1/responses' }, '400 request_rejected'],
    ['input at another place', ask('good', { input_blob: 'https://x/y' }), '400 request_rejected'],
    ['too many files', { input_file_ids: Array.from({ length: 11 }, (_each, at) => `f${at}`) }, '400 request_rejected'],
    ['requests inside', { requests: [{ custom_id: 'a', params: { model: 'o1-pro' } }] }, NOT_FOUND],
    [
      'requests inside of another API',
      { batch: { input_config: { requests: { requests: [{ request: { model: 'models/o1-pro', contents: [] } }] } } } },
      NOT_FOUND,
    ],
    ['a path in its endpoint', { ...ask('good'), url: '/v1/engines/o1-pro/completions' }, NOT_FOUND],
    ['text', 'input_file_id=good', '400 request_rejected'],
  ] as const) {
    it(`is refused with ${what}`, async () => {
      const { call, upstream, t } = await start();
      expect(await call('POST', '/v1/batches', body)).to.equal(expected);
      expect(upstream.seen.filter(({ method }) => method === 'POST')).to.deep.equal([]);
      await eventually(() => t.host.slot.leases === 0);
    });
  }

  it('may hold its requests', async () => {
    const { call, upstream } = await start();
    const requests = [
      {
        custom_id: 'a',
        params: {
          model: 'm',
          max_tokens: 9,
          messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://x/y.png' } }] }],
          tools: [{ type: 'mcp', server_url: 'https://x' }],
        },
      },
    ];
    expect(await call('POST', '/v1/batches', { requests })).to.equal('200');
    expect(await call('POST', '/v1/batches/b1/cancel', {})).to.equal('200');
    expect(await call('GET', '/v1/batches/b1')).to.equal('200');
    expect(upstream.seen).to.have.length(3);
  });

  it('is not looked at without a list', async () => {
    const { t, upstream } = await start();
    expect((await t.post('/v1/batches', ask('bad'))).status).to.equal(200);
    expect(upstream.seen.map(({ url }) => url)).to.deep.equal(['/batches']);
  });
});

describe('a WebSocket of a key with a list of models', () => {
  const HANDSHAKE = `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nConnection: Upgrade\r\nSec-WebSocket-Extensions: permessage-deflate\r\n`;

  it('names one that the key may ask for', async () => {
    const { t, key, upstream } = await start();
    for (const query of ['model=o1-pro', 'Model=o1-pro', 'model=m&Model=o1-pro', 'deployment=o1-pro', '']) {
      const client = await rawClient(t.url);
      client.send(
        `GET /v1/realtime?${query} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${key}\r\nX-Provider: a\r\n${HANDSHAKE}\r\n`,
      );
      expect(await client.closed(), query).to.match(/^HTTP\/1\.1 404 [^]*model_not_found/);
    }
    expect(upstream.seen).to.deep.equal([]);
  });
});
