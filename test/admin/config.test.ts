import { expect } from 'chai';
import type { Answer, TestHostOptions } from '../kit/index.ts';
import { type AdminHost, as, ECHO, NOBODY, refusal, startAdmin } from './kit.ts';

/** Variables that references of this file name: they may be sent anywhere. */
const ALLOWED = { variables: { GW_CONFIG_ENV: 'TOKEN,REDACTED,NOT_THERE' } };

const filter = (more: object = {}): object => ({
  name: 'word-filter',
  type: 'guardrail',
  stage: 'before_request',
  enabled: true,
  config: { blocked_words: ['x'] },
  ...more,
});
const message = (answer: Answer): string => (answer.json() as { error: { message: string } }).error.message;
const etag = (answer: Answer): string | null => answer.headers.get('etag');

describe('GET /admin/config', () => {
  it('is the object itself, with the members that are always there, and the version as its ETag', async () => {
    const t = await startAdmin();
    const answer = await t.get('/admin/config');
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.equal({
      strategy: { mode: '' },
      targets: [{ virtual_key: 'echo' }],
      observability: { tracing: {} },
      compatibility: {},
    });
    expect([etag(answer), answer.headers.get('cache-control')]).to.deep.equal(['"0"', 'no-store']);
    expect((await t.request('HEAD', '/admin/config')).status).to.equal(200);
  });

  it('shows what was sent, without defaults, and leaves out what is empty', async () => {
    const t = await startAdmin();
    const sent = {
      ...ECHO,
      aliases: {},
      modules: [],
      max_request_bytes: 0,
      batch_target: '',
      plugins: [{ name: 'unknown', stage: 'nowhere', enabled: false }],
      responses: { bind_owner: false },
      request_timeout: '5s',
    };
    expect((await t.request('PUT', '/admin/config', sent)).status).to.equal(200);
    expect((await t.get('/admin/config')).json()).to.deep.equal({
      strategy: { mode: '' },
      targets: [{ virtual_key: 'echo' }],
      request_timeout: '5s',
      responses: {},
      plugins: [{ name: 'unknown', stage: 'nowhere', enabled: false, config: null }],
      observability: { tracing: {} },
      compatibility: {},
    });
  });

  it('is accepted back unchanged where nothing is withheld', async () => {
    const t = await startAdmin(ALLOWED);
    const sent = {
      strategy: {
        mode: 'conditional',
        conditions: [{ key: 'model', value: 'someone@example.com', target_key: 'echo' }],
        content_conditions: [{ type: 'prompt_regex', value: '(?i)\\bme@example\\.com', target_key: 'echo' }],
      },
      targets: [
        {
          virtual_key: 'echo',
          weight: 1,
          models: ['@cf/a@b.example', 'b'],
          model_map: { 'x@y.example': 'z@y.example' },
        },
      ],
      aliases: { fast: 'me@example.com' },
      plugins: [filter(), filter({ enabled: false, config: { blocked_words: ['${WORD}'], case_sensitive: true } })],
      mcp_servers: [{ name: 'a', url: 'https://user@tools.example.com/mcp?token=${TOKEN}', required: false }],
    };
    expect((await t.request('PUT', '/admin/config', sent)).status).to.equal(200);
    const shown = await t.get('/admin/config');
    const again = await t.request('PUT', '/admin/config', shown.text);
    expect(again.status, again.text).to.equal(200);
    expect((await t.get('/admin/config')).text).to.equal(shown.text);
  });
});

describe('the body of a configuration', () => {
  const refusals: Readonly<
    Record<string, readonly [body: string | Uint8Array, code: string, ...says: (string | RegExp)[]]>
  > = {
    nothing: ['', 'invalid_request'],
    'what is not JSON': ['targets: []', 'invalid_request'],
    'YAML that would do in a file': ['strategy: {mode: single}\ntargets: [{virtual_key: echo}]\n', 'invalid_request'],
    'a list': ['[]', 'invalid_request', 'type mismatch'],
    'a text': ['"x"', 'invalid_request', 'type mismatch'],
    'text that is not UTF-8': [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'invalid_request', 'UTF-8'],
    'a member of a wrong type': ['{"targets":"echo"}', 'invalid_request', 'type mismatch', 'targets'],
    'unknown keys at any depth, each by its name': [
      JSON.stringify({
        targetz: [],
        strategy: { modee: 'x' },
        targets: [{ virtual_key: 'echo', weightt: 1 }],
        mcp_servers: [{ naame: 'a' }],
      }),
      'invalid_request',
      'targetz',
      'modee',
      'weightt',
      'naame',
    ],
    'a key in another case': ['{"Targets":[{"virtual_key":"echo"}]}', 'invalid_request', 'Targets'],
    'something behind the object': ['{"targets":[{"virtual_key":"echo"}]} {}', 'invalid_request'],
    'a key that stands twice': [
      '{"targets":[{"virtual_key":"echo","weight":1,"weight":2}]}',
      'invalid_request',
      'weight',
    ],
    'a key that stands twice, written differently': [
      '{"targets":[{"virtual_key":"echo","weight":1,"w\\u0065ight":2}]}',
      'invalid_request',
      'weight',
    ],
    null: ['null', 'invalid_config', 'targets'],
    'an empty object': [' {} \n', 'invalid_config', 'targets'],
    'a target that the build does not know': [
      '{"targets":[{"virtual_key":"unknown"}]}',
      'invalid_config',
      'BV01',
      'unknown',
      'openai',
    ],
    'all that does not hold, with path, rule and fix': [
      JSON.stringify({
        targets: [{ virtual_key: 'echo', retry: { attempts: -1 } }],
        max_request_bytes: -1,
        plugins: [filter({ name: 'nope' }), filter({ stage: 'now' })],
      }),
      'invalid_config',
      /targets\[0\]\.retry\.attempts: CV09: .*; fix: /,
      /max_request_bytes: CV34: /,
      /plugins\[0\]\.name: BV02: .*nope/,
      /plugins\[1\]\.stage: BV03: .*now/,
    ],
    'an unknown setting of an enabled plugin': [
      JSON.stringify({ ...ECHO, plugins: [filter({ config: { blocked_words: [], colour: 1 } })] }),
      'invalid_config',
      'word-filter',
      'colour',
    ],
    'an undefined variable': [
      JSON.stringify({ ...ECHO, plugins: [filter({ config: { blocked_words: ['${NOT_THERE}'] } })] }),
      'invalid_config',
      'NOT_THERE',
    ],
  };
  for (const [title, [body, code, ...says]] of Object.entries(refusals)) {
    it(`is refused: ${title}`, async () => {
      const t = await startAdmin(ALLOWED);
      const before = (await t.get('/admin/config')).text;
      for (const [method, path] of [
        ['PUT', '/admin/config'],
        ['POST', '/admin/config'],
        ['POST', '/admin/config/validate'],
        ['POST', '/admin/config/diff'],
      ] as const) {
        if (title === 'an undefined variable' && path !== '/admin/config') continue; // found when it is built, and not before
        const answer = await t.request(method, path, body);
        expect(refusal(answer), `${method} ${path}: ${answer.text}`).to.deep.equal([400, code]);
        expect(answer.json().error.type).to.equal('invalid_request_error');
        for (const word of says)
          expect(message(answer)).to.match(typeof word === 'string' ? new RegExp(RegExp.escape(word)) : word);
      }
      expect((await t.get('/admin/config')).text).to.equal(before);
      expect((await t.get('/admin/config/history')).json().data).to.deep.equal([]);
      const rows = await t.trail();
      if (code === 'invalid_request') expect(rows).to.deep.equal([]);
      else
        expect(rows.map(({ action, outcome, target_id: target }) => [action, outcome, target])).to.deep.equal([
          ['config.create', 'error', '*'],
          ['config.update', 'error', '*'],
        ]);
    });
  }

  it('names every unknown key, however many there are', async () => {
    const t = await startAdmin();
    const names = Array.from({ length: 300 }, (_, index) => `unknown_${index}`);
    const answer = await t.request('PUT', '/admin/config', {
      ...ECHO,
      ...Object.fromEntries(names.map((name) => [name, 1])),
    });
    for (const name of names) expect(message(answer)).to.match(new RegExp(`^unknown keys: .*\\b${name}\\b`));
  });

  it('does not call a wrong type an unknown key', async () => {
    const t = await startAdmin();
    const text = message(
      await t.request('PUT', '/admin/config', { targets: [{ virtual_key: 'echo', weight: 'x' }], aliases: 5 }),
    );
    expect(text).to.include('targets[0].weight').and.include('aliases').and.not.include('unknown');
  });

  it('may be as large as max_request_bytes, which counts at once', async () => {
    const t = await startAdmin();
    expect((await t.request('PUT', '/admin/config', { ...ECHO, max_request_bytes: 200 })).status).to.equal(200);
    const large = { ...ECHO, aliases: { a: 'x'.repeat(300) } };
    expect(refusal(await t.request('PUT', '/admin/config', large))).to.deep.equal([413, 'request_too_large']);
    expect((await t.request('PUT', '/admin/config', ECHO)).status).to.equal(200);
    expect((await t.request('PUT', '/admin/config', large)).status).to.equal(200);
  });

  it('keeps disabled entries as they are, whatever they hold', async () => {
    const t = await startAdmin();
    const odd = { name: 'unknown', type: 'x', stage: 'nowhere', enabled: false, config: { a: null } };
    expect((await t.request('PUT', '/admin/config', { ...ECHO, plugins: [odd] })).status).to.equal(200);
  });

  it('tells nothing of the settings of an entry whose plugin or stage is unknown', async () => {
    const t = await startAdmin();
    const plugins = [
      filter({ stage: 'x', config: { secret_name: 'y' } }),
      filter({ name: 'z', config: { secret_name: 'y' } }),
    ];
    const answer = await t.request('PUT', '/admin/config', { ...ECHO, plugins });
    expect(refusal(answer)).to.deep.equal([400, 'invalid_config']);
    expect(message(answer).match(/BV\d\d/g)).to.deep.equal(['BV02', 'BV03']);
    expect(message(answer)).not.to.include('secret_name');
  });

  it('tells no key and no value of a withheld map', async () => {
    const t = await startAdmin();
    const server = (env: string): string =>
      `{"targets":[{"virtual_key":"echo"}],"mcp_servers":[{"name":"a","url":"http://a","env":${env}}]}`;
    for (const env of ['{"PLANTED":1234567}', '{"PLANTED":"a","PLANTED":"b"}', '{"PLANTED":{"a":1234567}}']) {
      const answer = await t.request('PUT', '/admin/config', server(env));
      expect(refusal(answer), env).to.deep.equal([400, 'invalid_request']);
      expect(answer.text).not.to.include('PLANTED').and.not.to.include('1234567');
    }
  });
});

describe('a redaction marker in a configuration', () => {
  const M = '[REDACTED]';
  const cases: readonly (readonly [config: object, field: string])[] = [
    [
      {
        mcp_servers: [
          { name: 'a', url: 'http://a' },
          { name: 'b', url: 'http://b', headers: { a: M } },
        ],
      },
      'mcp_servers[1].headers',
    ],
    [{ mcp_servers: [{ name: 'a', url: 'http://a', headers: { '[REDACTED_KEY_0]': 'x' } }] }, 'mcp_servers[0].headers'],
    [{ mcp_servers: [{ name: 'a', command: 'x', args: ['-y', M] }] }, 'mcp_servers[0].args'],
    [{ mcp_servers: [{ name: 'a', command: 'x', allowed_tools: ['a', M] }] }, 'mcp_servers[0].allowed_tools'],
    [{ plugins: [filter({ config: { blocked_words: [M] } })] }, 'plugins[0].config'],
    [{ plugins: [filter({ enabled: false, config: { a: [{ '[REDACTED_KEY_3]': 1 }] } })] }, 'plugins[0].config'],
    [{ plugins: [filter({ name: M })] }, 'plugins[0].name'],
    [{ observability: { tracing: { endpoint: `http://u:${M}@h` } } }, 'observability.tracing.endpoint'],
    [{ observability: { exporters: [{ name: 'a', config: { a: M } }] } }, 'observability.exporters[0].config'],
    [{ aliases: { a: 'say [REDACTED_EMAIL] to me' } }, 'aliases'],
    [{ targets: [{ virtual_key: 'echo', models: ['a', M] }] }, 'targets[0].models'],
    [{ strategy: { settings: { a: { b: M } } } }, 'strategy.settings'],
    [{ modules: [M], aliases: { a: M } }, 'aliases'],
    [{ aliases: { a: M }, plugins: [filter({ type: M })] }, 'plugins[0].type'],
  ];
  for (const [config, field] of cases) {
    it(`is refused with its field: ${field}`, async () => {
      const t = await startAdmin();
      const answer = await t.request('PUT', '/admin/config', { ...ECHO, max_request_bytes: -1, ...config });
      expect(refusal(answer), answer.text).to.deep.equal([400, 'redacted_secret']);
      expect(message(answer).startsWith(`${field}: `), message(answer)).to.equal(true);
      expect((await t.trail()).map(({ action, outcome, detail }) => [action, outcome, detail])).to.deep.equal([
        ['config.update', 'denied', JSON.stringify({ field, reason: 'redacted_secret' })],
      ]);
    });
  }

  it('does not count in a reference', async () => {
    const t = await startAdmin(ALLOWED);
    expect(
      (
        await t.request('PUT', '/admin/config', {
          ...ECHO,
          mcp_servers: [{ name: 'a', url: 'http://a', headers: { a: '${REDACTED}' } }],
        })
      ).status,
    ).to.equal(200);
  });

  it('matters less than what cannot be decoded, and more than what does not hold', async () => {
    const t = await startAdmin();
    expect(refusal(await t.request('PUT', '/admin/config', { ...ECHO, aliases: { a: M }, odd: 1 }))).to.deep.equal([
      400,
      'invalid_request',
    ]);
    expect(refusal(await t.request('POST', '/admin/config', { aliases: { a: M } }))).to.deep.equal([
      400,
      'redacted_secret',
    ]);
    expect((await t.trail()).map(({ action, outcome }) => [action, outcome])).to.deep.equal([
      ['config.create', 'denied'],
    ]);
  });

  it('is refused by the dry runs without a row', async () => {
    const t = await startAdmin();
    for (const path of ['/admin/config/validate', '/admin/config/diff'])
      expect(refusal(await t.post(path, { ...ECHO, aliases: { a: M } }))).to.deep.equal([400, 'redacted_secret']);
    expect(await t.trail()).to.deep.equal([]);
  });
});

describe('a change of the configuration', () => {
  const OTHER = { ...ECHO, aliases: { fast: 'echo' }, strategy: { mode: 'fallback' } };

  it('is live at once, a version of its own, and a row of the audit trail', async () => {
    const t = await startAdmin();
    const put = await t.request('PUT', '/admin/config', { ...OTHER, plugins: [filter(), filter({ enabled: false })] });
    expect([put.status, put.json(), etag(put)]).to.deep.equal([200, { status: 'updated' }, '"1"']);
    const post = await t.request('POST', '/admin/config', OTHER);
    expect([post.status, post.json(), etag(post)]).to.deep.equal([201, { status: 'created' }, '"2"']);
    expect(etag(await t.get('/admin/config'))).to.equal('"2"');
    expect(t.host.current?.config.aliases).to.deep.equal({ fast: 'echo' });
    const { data, summary } = (await t.get('/admin/config/history')).json();
    expect(summary).to.deep.equal({ total_versions: 2 });
    expect(data.map(({ version, rolled_back_from: from }: any) => [version, from])).to.deep.equal([
      [1, null],
      [2, null],
    ]);
    expect(data[1].config).to.deep.equal((await t.get('/admin/config')).json());
    expect(data[1].actor).to.match(/^\S+ \(master-key:[0-9a-f]{16}\)$|^master-key:[0-9a-f]{16}$/);
    expect(data[1].updated_at).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(Object.keys(data[0])).to.deep.equal(['version', 'updated_at', 'config', 'rolled_back_from', 'actor']);
    const rows = await t.trail();
    expect(
      rows.map(({ action, outcome, target_id: target, detail }) => [action, outcome, target, detail]),
    ).to.deep.equal([
      ['config.create', 'ok', '*', '{"plugins":0,"strategy":"fallback","targets":1}'],
      ['config.update', 'ok', '*', '{"plugins":2,"strategy":"fallback","targets":1}'],
    ]);
    expect(rows[0]?.['actor']).to.equal(data[1].actor);
  });

  it('replaces everything: what the body leaves out is gone', async () => {
    const t = await startAdmin();
    await t.request('PUT', '/admin/config', OTHER);
    await t.request('PUT', '/admin/config', ECHO);
    expect((await t.get('/admin/config')).json()).not.to.have.property('aliases');
  });

  it('by DELETE goes back to what the start began with', async () => {
    const t = await startAdmin({}, { ...ECHO, aliases: { begin: 'echo' } });
    await t.request('PUT', '/admin/config', OTHER);
    const answer = await t.request('DELETE', '/admin/config');
    expect([answer.status, answer.json(), etag(answer)]).to.deep.equal([200, { status: 'deleted' }, '"2"']);
    expect((await t.get('/admin/config')).json().aliases).to.deep.equal({ begin: 'echo' });
    const { data } = (await t.get('/admin/config/history')).json();
    expect(data[1]).to.deep.include({ version: 2, rolled_back_from: null });
    expect(data[1].config.aliases).to.deep.equal({ begin: 'echo' });
    const [row] = await t.trail();
    expect(row)
      .to.deep.include({ action: 'config.delete', outcome: 'ok', target_id: '*' })
      .and.not.have.property('detail');
  });

  it('by a rollback is a new version of the old snapshot', async () => {
    const t = await startAdmin();
    for (const model of ['one', 'two', 'three'])
      await t.request('PUT', '/admin/config', { ...ECHO, aliases: { model } });
    const answer = await t.post('/admin/config/rollback/1', undefined);
    expect([answer.status, answer.json(), etag(answer)]).to.deep.equal([
      200,
      { status: 'rolled_back', rolled_back_to: 1, current_history_size: 4 },
      '"4"',
    ]);
    expect((await t.get('/admin/config')).json().aliases).to.deep.equal({ model: 'one' });
    const { data } = (await t.get('/admin/config/history')).json();
    expect(data[3]).to.deep.include({ version: 4, rolled_back_from: 3 });
    expect((await t.trail())[0]).to.deep.include({
      action: 'config.rollback',
      outcome: 'ok',
      target_id: '1',
      detail: '{"rolled_back_from":3}',
    });
    expect((await t.post('/admin/config/rollback/4', undefined)).json()).to.deep.equal({
      status: 'rolled_back',
      rolled_back_to: 4,
      current_history_size: 5,
    });
  });

  it('by a rollback keeps the secrets of the snapshot', async () => {
    const t = await startAdmin();
    const servers = [{ name: 'a', url: 'http://u:pass-of-one@a', headers: { a: 'secret-of-one' } }];
    await t.request('PUT', '/admin/config', { ...ECHO, mcp_servers: servers });
    await t.request('PUT', '/admin/config', ECHO);
    expect((await t.post('/admin/config/rollback/1', undefined)).status).to.equal(200);
    expect(t.host.current?.config.mcp_servers).to.deep.equal(servers);
  });

  it('by a rollback to what is not there is 404, with a row for a version that might have been', async () => {
    const t = await startAdmin();
    for (const version of ['9', 'abc', '0', '-1', '1.5', '99999999999999999999'])
      expect(refusal(await t.post(`/admin/config/rollback/${version}`, undefined)), version).to.deep.equal([
        404,
        'resource_not_found',
      ]);
    expect(
      (await t.trail()).map(({ action, outcome, target_id: target, detail }) => [action, outcome, target, detail]),
    ).to.deep.equal([
      ['config.rollback', 'denied', '99999999999999999999', '{"reason":"version_not_found"}'],
      ['config.rollback', 'denied', '9', '{"reason":"version_not_found"}'],
    ]);
  });

  it('keeps the newest 200 versions, and goes on counting', async () => {
    const t = await startAdmin();
    for (let version = 1; version <= 203; version += 1) await t.apply(ECHO);
    const { data, summary } = (await t.get('/admin/config/history')).json();
    expect([summary.total_versions, data[0].version, data.at(-1).version]).to.deep.equal([200, 4, 203]);
    expect(refusal(await t.post('/admin/config/rollback/3', undefined))).to.deep.equal([404, 'resource_not_found']);
    expect((await t.post('/admin/config/rollback/4', undefined)).json().current_history_size).to.equal(200);
  });

  it('warns of observability that counts from the next start on', async () => {
    const t = await startAdmin();
    const warned = (): Record<string, any>[] => t.lines.filter(({ rule }) => rule === 'WN12');
    await t.request('PUT', '/admin/config', { ...ECHO, observability: { tracing: {} } });
    expect(warned()).to.deep.equal([]);
    expect(
      (await t.request('PUT', '/admin/config', { ...ECHO, observability: { tracing: { service_name: 'x' } } })).status,
    ).to.equal(200);
    expect(warned()[0]).to.include({ level: 'WARN', pending_restart: true });
    expect((await t.get('/admin/config')).json().observability.tracing).to.deep.equal({ service_name: 'x' });
  });
});

describe('If-Match', () => {
  const put = (t: AdminHost, tag: string, body: object = ECHO): Promise<Answer> =>
    t.request('PUT', '/admin/config', body, { 'if-match': tag });

  it('lets one of two operators through', async () => {
    const t = await startAdmin();
    const tag = etag(await t.get('/admin/config')) ?? '';
    const answers = await Promise.all([
      put(t, tag, { ...ECHO, aliases: { a: 'one' } }),
      put(t, tag, { ...ECHO, aliases: { a: 'two' } }),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 412]);
    const late = answers.find(({ status }) => status === 412)!;
    expect([refusal(late), late.json().error.type]).to.deep.equal([[412, 'version_conflict'], 'invalid_request_error']);
    expect((await t.get('/admin/config/history')).json().summary.total_versions).to.equal(1);
  });

  it('is honoured by every write, before the configuration is looked at and after the body is', async () => {
    const t = await startAdmin();
    await put(t, '"0"');
    const stale = { 'if-match': '"0"' };
    expect(refusal(await put(t, '"0"', {}))).to.deep.equal([412, 'version_conflict']);
    expect(refusal(await t.request('POST', '/admin/config', ECHO, stale))).to.deep.equal([412, 'version_conflict']);
    expect(refusal(await t.request('DELETE', '/admin/config', undefined, stale))).to.deep.equal([
      412,
      'version_conflict',
    ]);
    expect(refusal(await t.request('POST', '/admin/config/rollback/1', undefined, stale))).to.deep.equal([
      412,
      'version_conflict',
    ]);
    expect(refusal(await put(t, '"0"', { odd: 1 }))).to.deep.equal([400, 'invalid_request']);
    expect((await t.trail('&outcome=error')).map(({ action }) => action)).to.deep.equal([
      'config.rollback',
      'config.delete',
      'config.create',
      'config.update',
    ]);
  });

  it('takes a list, and an asterisk for any; anything else matches nothing', async () => {
    const t = await startAdmin();
    for (const tag of ['*', '"1"', '"9", "2"']) expect((await put(t, tag)).status, tag).to.equal(200);
    for (const tag of ['W/"3"', '3', '"x"', ''])
      expect(refusal(await put(t, tag)), tag).to.deep.equal([412, 'version_conflict']);
  });
});

describe('an entry with a command', () => {
  const server = (more: object = {}): object => ({
    name: 'near',
    command: 'tool',
    args: ['a'],
    env: { A: 'b' },
    ...more,
  });
  const withServers = (...servers: object[]): object => ({ ...ECHO, mcp_servers: servers });
  const start = (options: TestHostOptions = {}): Promise<AdminHost> => startAdmin(options, withServers(server()));

  it('is refused when it is new or changed, by every write', async () => {
    const t = await start();
    for (const more of [
      { name: 'other' },
      { args: ['b'] },
      { env: { A: 'c' } },
      { required: true },
      { command: 'x' },
    ]) {
      for (const [method, path] of [
        ['PUT', '/admin/config'],
        ['POST', '/admin/config'],
        ['POST', '/admin/config/validate'],
        ['POST', '/admin/config/diff'],
      ] as const) {
        const answer = await t.request(method, path, withServers(server(more)));
        expect(refusal(answer), JSON.stringify(more)).to.deep.equal([400, 'invalid_config']);
        expect(message(answer)).to.include('mcp_servers[0].command').and.include('GW_ADMIN_STDIO');
      }
    }
  });

  it('may be sent as it is, moved and removed', async () => {
    const t = await start();
    expect(
      (await t.request('PUT', '/admin/config', withServers({ name: 'far', url: 'http://a' }, server()))).status,
    ).to.equal(200);
    expect((await t.request('PUT', '/admin/config', ECHO)).status).to.equal(200);
    expect(refusal(await t.post('/admin/config/rollback/1', undefined))).to.deep.equal([400, 'invalid_config']);
    expect((await t.trail())[0]).to.include({ action: 'config.rollback', outcome: 'error' });
    expect((await t.request('DELETE', '/admin/config')).status, 'what the start began with').to.equal(200);
  });

  it('is as any other with GW_ADMIN_STDIO=true', async () => {
    const t = await start({ variables: { GW_ADMIN_STDIO: 'true' } });
    expect((await t.request('PUT', '/admin/config', withServers(server({ name: 'other' })))).status).to.equal(200);
  });
});

describe('the dry runs of a configuration', () => {
  it('say that it holds, and change nothing', async () => {
    const t = await startAdmin(ALLOWED);
    const answer = await t.post('/admin/config/validate', {
      ...ECHO,
      aliases: { a: 'b' },
      plugins: [filter({ config: { blocked_words: ['${NOT_THERE}'] } })],
    });
    expect([answer.status, answer.json()]).to.deep.equal([200, { valid: true }]);
    expect([etag(await t.get('/admin/config')), await t.trail()]).to.deep.equal(['"0"', []]);
  });

  it('tell what would change, without secrets', async () => {
    const server = (token: string): object => ({
      name: 'a',
      url: `http://a?token=${token}`,
      headers: { 'X-Planted': token },
    });
    const t = await startAdmin(
      {},
      { ...ECHO, strategy: { mode: 'single' }, aliases: { a: 'b', c: 'd' }, mcp_servers: [server('planted-one')] },
    );
    const answer = await t.post('/admin/config/diff', {
      targets: [{ virtual_key: 'echo', models: ['m'] }],
      aliases: { a: 'x', e: 'f' },
      mcp_servers: [server('planted-two')],
      compatibility: { on_unsupported_param: 'drop' },
    });
    expect(answer.status, answer.text).to.equal(200);
    const withheld = { '[REDACTED_KEY_0]': '[REDACTED]' };
    expect(answer.json().changes).to.have.deep.members([
      { path: 'targets[0].models', before: null, after: ['m'] },
      { path: 'aliases.a', before: 'b', after: 'x' },
      { path: 'aliases.c', before: 'd', after: null },
      { path: 'aliases.e', before: null, after: 'f' },
      { path: 'mcp_servers[0].url', before: 'http://a?token=[REDACTED]', after: 'http://a?token=[REDACTED]' },
      { path: 'mcp_servers[0].headers', before: withheld, after: withheld },
      { path: 'compatibility.on_unsupported_param', before: null, after: 'drop' },
    ]);
    expect(answer.text).not.to.match(/planted/i);
    expect((await t.post('/admin/config/diff', (await t.get('/admin/config')).json())).status).to.equal(400); // it has withheld maps
  });

  it('tell of no change where there is none', async () => {
    const t = await startAdmin();
    expect(
      (
        await t.post('/admin/config/diff', {
          ...ECHO,
          strategy: { mode: 'single' },
          apiVersion: 'v1',
          aliases: {},
          plugins: null,
        })
      ).json(),
    ).to.deep.equal({ changes: [] });
  });
});

describe('who may see and change the configuration', () => {
  const READS = [
    ['GET', '/admin/config'],
    ['GET', '/admin/config/history'],
  ] as const;
  const WRITES = [
    ['PUT', '/admin/config'],
    ['POST', '/admin/config'],
    ['DELETE', '/admin/config'],
    ['POST', '/admin/config/rollback/1'],
    ['POST', '/admin/config/validate'],
    ['POST', '/admin/config/diff'],
  ] as const;

  it('reads with either scope, writes with admin alone, and neither without a credential', async () => {
    const t = await startAdmin();
    const reader = as((await t.makeKey()).key);
    for (const [method, path] of READS)
      expect((await t.request(method, path, undefined, reader)).status, path).to.equal(200);
    for (const [method, path] of WRITES)
      expect(refusal(await t.request(method, path, '{', reader)), path).to.deep.equal([403, 'insufficient_scope']);
    for (const [method, path] of [...READS, ...WRITES])
      expect((await t.request(method, path, undefined, NOBODY)).status, path).to.equal(401);
    expect((await t.trail('&action=config.update')).length).to.equal(0);
  });

  it('answers other methods with 405, and every answer with no-store', async () => {
    const t = await startAdmin();
    const answer = await t.request('PATCH', '/admin/config/history');
    expect([refusal(answer), answer.headers.get('allow')]).to.deep.equal([[405, 'method_not_supported'], 'GET, HEAD']);
    for (const each of [answer, await t.request('PUT', '/admin/config', '{'), await t.get('/admin/config/history')])
      expect(each.headers.get('cache-control')).to.equal('no-store');
  });

  it('names the credential of a change', async () => {
    const t = await startAdmin();
    const key = await t.adminKey('ada');
    await t.request('PUT', '/admin/config', ECHO, as(key.key));
    expect((await t.get('/admin/config/history')).json().data[0].actor).to.equal(`ada (${key.id})`);
  });
});
