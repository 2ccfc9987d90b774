import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import {
  forSuite,
  MASTER_KEY,
  rawClient,
  replyJson,
  some,
  startHost,
  startPostgres,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { allKeys } from '../stores/backends.ts';
import { everySurface } from '../surfaces/kit.ts';

const ABLE = { passthrough: true, responses: true, batches: true };

/** A vendor that keeps what it is sent under ids, a counter each. */
async function binding(
  config: object = { responses: { bind_owner: true }, files: { bind_owner: true } },
  variables: Record<string, string> = {},
): Promise<() => Promise<TestHost>> {
  let made = 0;
  const upstream = await stubUpstream((request, response) => {
    if (request.method !== 'POST')
      replyJson(response, 200, { id: /[^/]*$/.exec(request.url)?.[0], output_file_id: 'file-out' });
    else if (request.text.includes('"stream"'))
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`data: {"type":"response.created","response":{"id":"resp-${(made += 1)}"}}\n\ndata: {"type":"x"}\n\n`);
    else replyJson(response, 200, { id: `${request.url.split('/')[1]}-${(made += 1)}`, output_file_id: null });
  });
  return () =>
    startHost(
      { batch_target: 'a', responses_target: 'a', targets: [upstream.target('a', {}, ABLE)], ...config },
      { variables },
    );
}

async function callers(
  t: TestHost,
): Promise<readonly ((method: string, path: string, body?: unknown) => Promise<string>)[]> {
  return Promise.all(
    ['one', 'two'].map(async (name) => {
      const { key } = await t.host.stores.keys.create({ name, scopes: ['read_only'], limits: {} });
      return async (method: string, path: string, body?: unknown) => {
        const answer = await t.request(method, path, body, { authorization: `Bearer ${key}` });
        return answer.status === 200
          ? (/"id":"([^"]+)"/.exec(answer.text)?.[1] ?? '')
          : `${answer.status} ${answer.json().error.code}`;
      };
    }),
  );
}

describe('what one key made', function owners() {
  this.timeout(120_000);

  it('does not exist for another, whatever way its id is given', async () => {
    const [one, two] = (await callers(await (await binding())())) as [any, any];
    const file = await one('POST', '/v1/files', 'x');
    expect(file).to.equal('files-1');
    for (const [method, path, body] of [
      ['GET', `/v1/files/${file}`],
      ['GET', `/v1/files/${file}/content`],
      ['DELETE', `/v1/files/${file}`],
      ['GET', `/v1//%66iles/${file.replace('s', '%73')}`],
      ['POST', '/v1/batches', { input_file_id: file }],
    ] as const) {
      expect(await two(method, path, body), path).to.equal('404 resource_not_found');
      expect(await one(method, path, body), path).not.to.contain('404');
    }
    const batch = await one('POST', '/v1/batches', { input_file_id: file });
    expect(await one('GET', `/v1/batches/${batch}`)).to.equal(batch);
    expect(await two('GET', `/v1/batches/${batch}`)).to.equal('404 resource_not_found');
    expect(await two('GET', '/v1/files/file-out')).to.equal('404 resource_not_found');
    for (const response of [
      await one('POST', '/v1/responses', { model: 'm' }),
      await one('POST', '/v1/responses', { model: 'm', stream: true }),
    ]) {
      expect(await one('GET', `/v1/responses/${response}`)).to.equal(response);
      for (const [method, path, body] of [
        ['GET', `/v1/responses/${response}/input_items`],
        ['POST', `/v1/responses/${response}/cancel`],
        ['POST', '/v1/responses', { model: 'm', previous_response_id: response }],
      ] as const) {
        expect(await two(method, path, body), path).to.equal('404 resource_not_found');
      }
    }
    expect(await two('GET', '/v1/files/made-elsewhere')).to.equal('made-elsewhere');
  });

  it('does not exist for another, however servers read its path or its body', async () => {
    const t = await (await binding())();
    const [one, two] = (await callers(t)) as [any, any];
    const [file, response] = [
      await one('POST', '/v1/files', 'x'),
      await one('POST', '/v1/responses', { model: 'm', stream: true }),
    ];
    for (const path of [
      `/v1/files/${file};x`,
      `/v1/files;x/${file}`,
      `/v1/files%3bx/${file}`,
      `/v1/files%5c${file}`,
      `/v1/files/${file}%3fx`,
      `/v1/files/${file}%23x`,
      `/v1/files/${file}%20`,
      `/v1/responses;x/${response}`,
      `/v1/responses%255c${response}`,
    ]) {
      expect(await two('GET', path), path).to.equal('404 resource_not_found');
    }
    for (const [path, name, id, refused] of [
      ['/v1/responses', 'previous_response_id', response, '400 invalid_request'],
      ['/v1/batches', 'input_file_id', file, '404 resource_not_found'],
    ]) {
      for (const body of [
        `{"model":"m","${name}":"${id}","${name}":"y"}`,
        `{"model":"m","${name}":"y","${name.replace('id', '\\u0069d')}":"${id}"}`,
      ])
        expect(await two('POST', path, body), body).to.equal(refused);
    }
  });

  const naming: readonly (readonly [path: string, body: (id: string) => unknown])[] = [
    [
      '/v1/responses',
      (id) => ({
        model: 'm',
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'hi' },
              { type: 'input_file', file_id: id },
            ],
          },
        ],
      }),
    ],
    [
      '/v1/responses',
      (id) => ({
        model: 'm',
        input: 'hi',
        tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['mine', id] } }],
      }),
    ],
    ['/v1/fine_tuning/jobs', (id) => ({ model: 'm', training_file: id })],
    ['/v1/fine_tuning/jobs', (id) => ({ training_file: 'mine', validation_file: id, model: 'm' })],
    ['/v1/threads', (id) => ({ model: 'm', tool_resources: { code_interpreter: { file_ids: [id] } } })],
    ['/v1/vector_stores', (id) => ({ model: 'm', file_ids: [[], { x: 1 }, id, 'mine'] })],
    ['/v1/vector_stores/v/file_batches', (id) => ({ model: 'm', files: [{ attributes: { a: 'b' }, file_id: id }] })],
    ['/v1/vector_stores/v/files/:id', () => ({ model: 'm', attributes: {} })],
    ['/v1/evals/e/runs', (id) => ({ model: 'm', data_source: { type: 'jsonl', source: { type: 'file_id', id } } })],
    ['/v1/batches', (id) => ({ endpoint: '/v1/responses', input_file_id: id })],
    [
      '/v1/chat/completions',
      (id) => ({
        model: 'm',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'hi' },
              { type: 'file', file: { file_id: id } },
            ],
          },
        ],
      }),
    ],
    [
      '/v1/fine_tuning/jobs',
      (id) => `{"model":"m","\\u0074raining_file":"${id.replace('f', '\\u0066')}","training_file":"mine"}`,
    ],
    ['/v1/responses', (id) => `{"x":${'['.repeat(5000)}{"file_id":"${id}"}${']'.repeat(5000)},"model":"m"}`],
    ['/v1/responses', (id) => ({ model: 'm', input: 'x'.repeat(2_000_000), z: { file_id: id } })],
  ];
  for (const [path, body] of some(naming, { every: 2, from: 1 })) {
    it(`does not exist for another that names it in a body of ${path}: ${JSON.stringify(body('id')).slice(0, 60)}`, async () => {
      const [one, two] = (await callers(await (await binding())())) as [any, any];
      const file = await one('POST', '/v1/files', 'x');
      const at = path.replace(':id', file);
      expect(await two('POST', at, body(file))).to.equal('404 resource_not_found');
      for (const [caller, id] of [
        [one, file],
        [two, 'made-elsewhere'],
      ] as const)
        expect(await caller('POST', path.replace(':id', id), body(id)), id).not.to.match(/404 resource_not_found|400 /);
    });
  }

  it('does not exist for another that names it in a form of a route', async () => {
    const upstream = await stubUpstream(({ url }, response) =>
      replyJson(response, 200, url === '/files' ? { id: 'files-1' } : { text: 'x', data: [{ b64_json: 'AA==' }] }),
    );
    const t = await startHost({
      batch_target: 'a',
      targets: [upstream.target('a', {}, { ...everySurface, batches: true })],
      files: { bind_owner: true },
    });
    const [one, two] = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const { key } = await t.host.stores.keys.create({ name, scopes: ['read_only'], limits: {} });
        return (path: string, value = '') => {
          const part = (head: string, text: string): string =>
            `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
          const file = part('name="file"; filename="a.png"', 'PNG');
          const body = `${file}${part('name="model"', 'm')}${part('name="images[0][file_id]"', value)}--b--\r\n`;
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'multipart/form-data; boundary=b' };
          return t.request('POST', path, body, headers).then(({ status }) => status);
        };
      }),
    );
    expect(await one?.('/v1/files')).to.equal(200);
    for (const path of ['/v1/images/edits', '/v1/audio/transcriptions', '/v1/audio/translations']) {
      for (const value of ['files-1', '{"file_id":"files-1"}']) {
        expect(await two?.(path, value), path).to.equal(404);
        expect(await one?.(path, value), path).to.equal(200);
      }
      expect(await two?.(path, 'made-elsewhere'), path).to.equal(200);
    }
  });

  it('is looked for only where something names files, and in no upload', async () => {
    const [one, two] = (await callers(await (await binding())())) as [any, any];
    const file = await one('POST', '/v1/files', 'x');
    const harmless = { model: 'm', input: `what is ${file}?`, metadata: { note: file, file_name: file }, user: file };
    for (const path of ['/v1/responses', '/v1/fine_tuning/jobs'])
      expect(await two('POST', path, harmless), path).not.to.contain('40');
    expect(await two('POST', '/v1/files', { file_id: file })).not.to.contain('40');
  });

  it('is not hidden by a body that only some servers read as JSON', async () => {
    const t = await (await binding())();
    const { key } = await t.host.stores.keys.create({ name: 'two', scopes: ['read_only'], limits: {} });
    const body = '{"model":"m","training_file":"x"}';
    for (const bytes of [Buffer.from(`\ufeff${body}`), Buffer.from(body, 'utf16le'), gzipSync(body)]) {
      for (const [type, status] of [
        ['application/json', 400],
        ['', 400],
        ['application/merge-patch+json; x=y', 400],
        ['multipart/form-data; boundary=b', 200],
        ['audio/wav', 200],
      ] as const) {
        const answer = await fetch(`${t.url}/v1/fine_tuning/jobs`, {
          method: 'POST',
          body: bytes,
          headers: { authorization: `Bearer ${key}`, 'x-provider': 'a', 'content-type': type },
        });
        await answer.text();
        expect(answer.status, type).to.equal(status);
      }
    }
  });

  it('is left out of the lists of others, which are otherwise what the provider sent', async () => {
    let list: object | string = {};
    const upstream = await stubUpstream((request, response) => {
      if (request.method === 'POST') replyJson(response, 200, { id: `file-${upstream.seen.length}` });
      else if (typeof list === 'string') response.writeHead(200, { 'content-type': 'application/json' }).end(list);
      else replyJson(response, 200, list);
    });
    const t = await startHost({
      batch_target: 'a',
      files: { bind_owner: true },
      targets: [upstream.target('a', {}, ABLE)],
    });
    const keys = await Promise.all(
      ['one', 'two'].map(
        async (name) => (await t.host.stores.keys.create({ name, scopes: ['read_only'], limits: {} })).key,
      ),
    );
    const as = (key: number) => ({ authorization: `Bearer ${keys[key]}` });
    for (const key of [0, 1]) await t.request('POST', '/v1/files', 'x', as(key)); // file-1, file-2
    const files = ['file-1', 'file-2', 'elsewhere'].map((id) => ({ id, filename: `${id}.txt` }));
    const page = { object: 'list', data: files, has_more: true, first_id: 'file-1', last_id: 'elsewhere', big: 1 };
    const given = JSON.stringify(page, null, 1).replace('"big": 1', '"big": 12345678901234567890');
    list = given;
    for (const path of ['/v1/files', '/v1/files?limit=3', '/v1/batches/']) {
      const answer = await t.request('GET', path, undefined, as(1));
      expect([answer.status, answer.json().data, answer.json().first_id, answer.json().last_id], path).to.deep.equal([
        200,
        files.slice(1),
        'file-2',
        'elsewhere',
      ]);
      expect(answer.text).to.include('"big":12345678901234567890');
    }
    expect(
      (await t.request('GET', '/v1/vector_stores/v/files', undefined, { ...as(0), 'x-provider': 'a' })).json().data,
    ).to.deep.equal([files[0], files[2]]);
    list = { ...page, data: [files[0]], last_id: 'file-1' };
    expect((await t.request('GET', '/v1/files', undefined, as(1))).json()).to.include({
      has_more: true,
      first_id: null,
      last_id: 'file-1',
    });
    expect((await t.request('GET', '/v1/files', undefined, as(0))).text).to.equal(JSON.stringify(list));
    for (list of ['not JSON', '{"data":{}}', '[]']) {
      const answer = await t.request('GET', '/v1/files', undefined, as(1));
      expect([answer.status, answer.json().error.code], list).to.deep.equal([502, 'upstream_error']);
    }
  });

  it('is 503 for all while its store does not answer, an upload under way included, and the provider is not blamed for it', async () => {
    const upstream = await stubUpstream((_request, response) =>
      replyJson(response, 200, { object: 'list', id: 'file-1', data: [{ id: 'file-1' }] }),
    );
    const t = await startHost({
      batch_target: 'a',
      targets: [upstream.target('a', { circuit_breaker: { failure_threshold: 2 } }, ABLE)],
      files: { bind_owner: true },
    });
    const owners = t.host.stores.owners.value;
    const find = owners.foreignOf.bind(owners);
    let isAway = true;
    owners.foreignOf = (...given) =>
      isAway ? Promise.reject(new Error('the password of the store is hunter2')) : find(...given);
    const call = async (method: string, path: string): Promise<string> => {
      const body = new FormData();
      body.append('file', new Blob(['{"file_id":"file-x"}']));
      const answer = await fetch(t.url + path, {
        method,
        headers: { authorization: `Bearer ${MASTER_KEY}` },
        ...(method === 'POST' && { body }),
      });
      return `${answer.status} ${await answer.text()}`;
    };
    for (const [method, path] of [
      ['POST', '/v1/files'],
      ['POST', '/v1/files'],
      ['POST', '/v1/files'],
      ['GET', '/v1/files'],
      ['GET', '/v1/files/file-x'],
    ] as const) {
      expect(await call(method, path), path)
        .to.match(/^503 .*"store_unavailable"/)
        .and.not.include('hunter2');
    }
    isAway = false;
    expect(await call('POST', '/v1/files')).to.match(/^200 /);
  });

  describe('and is named in an upload', () => {
    const form = (name: string, value: string | Blob): FormData => {
      const data = new FormData();
      data.append('purpose', 'batch');
      data.append(name, value);
      return data;
    };
    const line = (id: string): string =>
      JSON.stringify({
        custom_id: '1',
        method: 'POST',
        url: '/v1/responses',
        body: { model: 'm', input: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }] },
      });
    const uploads: readonly (readonly [string, string, (id: string) => FormData | string])[] = [
      ['a line of a batch', '/v1/files', (id) => form('file', new Blob([`${line('mine')}\n${line(id)}\n`]))],
      [
        'a line behind ten megabytes',
        '/v1/files',
        (id) => form('file', new Blob([`${line('mine')}\n`.repeat(60_000), line(id)])),
      ],
      ['a line behind one that is broken', '/v1/files', (id) => form('file', new Blob([`{"a\n{"\r${line(id)}`]))],
      [
        'a line with escapes',
        '/v1/files',
        (id) =>
          form(
            'file',
            new Blob([
              line(id)
                .replace('file_id', '\\u0066ile_id')
                .replace(id, `\\u0066${id.slice(1)}`),
            ]),
          ),
      ],
      ['a part of an upload', '/v1/uploads/u/parts', (id) => form('data', new Blob([line(id)]))],
      ['a field of a form', '/v1/containers/c/files', (id) => form('file_id', id)],
    ];
    for (const [name, path, body] of uploads) {
      it(`does not exist for another: ${name}`, async () => {
        const t = await (await binding())();
        const keys = await Promise.all(
          ['one', 'two'].map(
            async (each) => (await t.host.stores.keys.create({ name: each, scopes: ['read_only'], limits: {} })).key,
          ),
        );
        const post = async (key: number, at: string, sent: FormData | string): Promise<readonly [number, any]> => {
          const answer = await fetch(t.url + at, {
            method: 'POST',
            body: sent,
            headers: { authorization: `Bearer ${keys[key]}`, 'x-provider': 'a' },
          });
          return [answer.status, await answer.json()];
        };
        const [, { id }] = await post(0, '/v1/files', form('file', new Blob(['x'])));
        const [status, answer] = await post(1, path, body(id));
        expect([status, answer.error?.code]).to.deep.equal([404, 'resource_not_found']);
        for (const [key, named] of [
          [0, id],
          [1, 'made-elsewhere'],
        ] as const)
          expect((await post(key, path, body(named)))[0]).to.equal(200);
      });
    }
  });

  it('is also what an upload in parts came to', async () => {
    const upstream = await stubUpstream((_request, response) => {
      replyJson(response, 200, { id: 'upload-1', object: 'upload', file: { id: 'file-of-parts' } });
    });
    const t = await startHost({
      batch_target: 'a',
      files: { bind_owner: true },
      targets: [upstream.target('a', {}, ABLE)],
    });
    const [one, two] = (await callers(t)) as [any, any];
    await one('POST', '/v1/uploads/upload-1/complete', { model: 'm', part_ids: ['p'] });
    expect(await two('GET', '/v1/files/file-of-parts')).to.equal('404 resource_not_found');
  });

  it('has no WebSocket, whose frames are not read', async () => {
    const t = await (await binding())();
    const client = await rawClient(t.url);
    client.send(
      `GET /v1/responses?model=m HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    expect(await client.closed())
      .to.match(/^HTTP\/1\.1 501 /)
      .and.to.contain('proxy_not_supported');
  });

  it('is read from the answer whatever encoding the client takes, and the log says where it cannot be', async () => {
    const upstream = await stubUpstream((request, response) => {
      const isAsked = String(request.headers['accept-encoding']).includes('gzip') || request.text === 'always';
      response
        .writeHead(200, { 'content-type': 'application/json', ...(isAsked && { 'content-encoding': 'gzip' }) })
        .end(isAsked ? gzipSync('{"id":"made"}') : '{"id":"made"}');
    });
    const t = await startHost({
      batch_target: 'a',
      files: { bind_owner: true },
      targets: [upstream.target('a', {}, ABLE)],
    });
    const [one, two] = (await callers(t)) as [any, any];
    expect(await one('POST', '/v1/files', 'x')).to.equal('made');
    expect(await two('GET', '/v1/files/made')).to.equal('404 resource_not_found');
    expect(t.lines.filter(({ level }) => level === 'ERROR')).to.have.length(1); // that refusal
    await one('POST', '/v1/files', 'always');
    expect(t.lines.find(({ msg }) => msg === 'an owner could not be kept')).to.include({
      level: 'ERROR',
      kind: 'file',
      error: 'the answer is compressed',
    });
  });

  it('is served to all unless the configuration says so', async () => {
    const [one, two] = (await callers(await (await binding({}))())) as [any, any];
    const file = await one('POST', '/v1/files', 'x');
    expect(await two('GET', `/v1/files/${file}`)).to.equal(file);
  });

  const staysOverRestart = (backend: string, dsn: () => Promise<string>): void => {
    it(`stays its own over a restart, where keys do: ${backend}`, async () => {
      const start = await binding(undefined, { API_KEY_STORE_BACKEND: backend, API_KEY_STORE_DSN: await dsn() });
      const first = await start();
      const [one] = (await callers(first)) as [any];
      const file = await one('POST', '/v1/files', 'x');
      const response = await one('POST', '/v1/responses', { model: 'm', stream: true });
      await first.close();
      const second = await start();
      const [, other] = (await callers(second)) as [any, any];
      for (const path of [`/v1/files/${file}`, `/v1/responses/${response}`])
        expect(await other('GET', path)).to.equal('404 resource_not_found');
      const makers = (await allKeys(second.host.stores.keys))
        .filter(({ name }) => name === 'one')
        .toSorted((a, b) => a.createdAt - b.createdAt);
      const owners = second.host.stores.owners.value;
      expect(
        await Promise.all(makers.map(async ({ id }) => (await owners.foreignOf('file', [file], id)).size > 0)),
      ).to.deep.equal(makers.map((_maker, at) => at > 0));
      expect([...(await owners.foreignOf('file', ['an id\0that no store keeps'], 'x'))]).to.deep.equal([]);
      await owners.add('file', ['one more\0', 'kept'], 'x');
      expect([...(await owners.foreignOf('file', ['one more\0', 'kept'], 'y'))]).to.include('kept');
    });
  };
  staysOverRestart('sqlite', async () => join(await temporaryFolder(), 'keys.db'));

  describe('on Postgres', () => {
    const server = forSuite(startPostgres);
    staysOverRestart('postgres', () => server().createDatabase());

    it("is another's for every gateway, and has one owner, who came first", async () => {
      const start = await binding(undefined, {
        API_KEY_STORE_BACKEND: 'postgres',
        API_KEY_STORE_DSN: await server().createDatabase(),
      });
      const [here, there] = await Promise.all([start(), start()]); // both migrate the empty database
      const [one] = (await callers(here)) as [any];
      const [, other] = (await callers(there)) as [any, any];
      const file = await one('POST', '/v1/files', 'x');
      expect(await other('GET', `/v1/files/${file}`)).to.equal('404 resource_not_found');
      const owners = [here, there].map(({ host }) => host.stores.owners.value);
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => owners[at % 2]!.add('response', ['shared', `own-${at}`], `key-${at}`)),
      );
      const ownersOf = async (kind: 'response' | 'file', id: string): Promise<readonly string[][]> =>
        Promise.all(
          owners.map(async (each) => {
            const names = [...Array.from({ length: 20 }, (_, at) => `key-${at}`), 'too late'];
            const isForeign = await Promise.all(
              names.map(async (name) => (await each.foreignOf(kind, [id], name)).size > 0),
            );
            return names.filter((_name, at) => !isForeign[at]);
          }),
        );
      const kept = await ownersOf('response', 'shared');
      expect(kept).to.deep.equal([kept[1], kept[0]]);
      expect(kept[0]).to.have.length(1);
      await owners[0]!.add('response', ['shared'], 'too late');
      expect(await ownersOf('response', 'shared')).to.deep.equal(kept);
      expect((await ownersOf('file', 'shared'))[0]).to.have.length(21);
    });
  });
});
