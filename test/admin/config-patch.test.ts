import { expect } from 'chai';
import { RefusedConfiguration } from '../../builtins/admin/config/body.ts';
import { patchedDocument } from '../../builtins/admin/config/patched-document.ts';
import type { Scrubber } from '../../host/config/scrubber.ts';
import type { Fields } from '../../host/contract/index.ts';
import { type Answer, MASTER_KEY } from '../kit/index.ts';
import { type AdminHost, as, startAdmin } from './kit.ts';

const SECRET = 'planted-4Zq7-header';
const OTHER = 'planted-9Xw2-env';
const CONFIG = {
  targets: [{ virtual_key: 'echo' }],
  aliases: { fast: 'echo-1' },
  plugins: [
    { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['aardvark'] } },
    {
      name: 'webhook',
      stage: 'after_request',
      enabled: false,
      config: { url: 'https://hook.example/in', headers: { 'X-Secret': SECRET } },
    },
  ],
  mcp_servers: [
    { name: 'a', url: 'http://127.0.0.1:9/mcp', headers: { Authorization: SECRET, 'X-Var': '${TOKEN}' } },
    { name: 'b', url: 'http://127.0.0.1:10/mcp', headers: { Authorization: OTHER } },
  ],
};

type Operations = readonly object[];

interface Scene {
  readonly t: AdminHost;
  readonly patch: (operations: unknown, headers?: Record<string, string>) => Promise<Answer>;
  readonly shown: () => Promise<any>;
  /** The document with its secrets. */
  readonly kept: () => any;
}

async function scene(config: object = CONFIG): Promise<Scene> {
  const t = await startAdmin({ variables: { TOKEN: 'token-of-the-environment' } }, config);
  const etag = async (): Promise<string> => (await t.get('/admin/config')).headers.get('etag')!;
  return {
    t,
    shown: async () => (await t.get('/admin/config')).json(),
    kept: () => t.host.applier.running.document,
    patch: async (operations, headers = {}) =>
      t.request('PATCH', '/admin/config', operations, {
        'if-match': await etag(),
        'content-type': 'application/json-patch+json',
        ...headers,
      }),
  };
}

const refusalOf = (answer: Answer): readonly [number, string, string] => {
  const { error } = answer.json();
  return [answer.status, error.code, error.message];
};

describe('a patch of the configuration', () => {
  it('changes one setting beside what is withheld, which stays', async () => {
    const s = await scene();
    const before = structuredClone(s.kept());
    const answer = await s.patch([{ op: 'replace', path: '/plugins/0/config/blocked_words', value: ['zebra'] }]);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json()).to.deep.equal({
      status: 'updated',
      version: 1,
      changes: [{ path: 'plugins[0].config.blocked_words[0]', before: 'aardvark', after: 'zebra' }],
    });
    expect(answer.headers.get('etag')).to.match(/^"1/);
    before.plugins[0].config.blocked_words = ['zebra'];
    expect(s.kept()).to.deep.equal({ ...s.kept(), ...before });
    expect((await s.t.trail('&action=config.update'))[0]).to.include({ outcome: 'ok' });
  });

  const EDITS: readonly (readonly [what: string, operations: Operations])[] = [
    ['a value', [{ op: 'replace', path: '/aliases/fast', value: 'other' }]],
    ['a new member', [{ op: 'add', path: '/aliases/slow', value: 'echo-1' }]],
    ['a name with a slash and a tilde', [{ op: 'add', path: '/aliases/a~1b~0c', value: 'echo-1' }]],
    ['a member that goes', [{ op: 'remove', path: '/aliases/fast' }]],
    [
      'an entry before others',
      [{ op: 'add', path: '/mcp_servers/0', value: { name: 'c', url: 'http://127.0.0.1:13' } }],
    ],
    [
      'an entry behind others',
      [{ op: 'add', path: '/mcp_servers/-', value: { name: 'c', url: 'http://127.0.0.1:13' } }],
    ],
    ['another order of servers', [{ op: 'move', from: '/mcp_servers/1', path: '/mcp_servers/0' }]],
    ['an entry that goes', [{ op: 'remove', path: '/mcp_servers/0' }]],
    ['a plugin twice', [{ op: 'copy', from: '/plugins/1', path: '/plugins/-' }]],
    ['another name of a server', [{ op: 'replace', path: '/mcp_servers/0/name', value: 'z' }]],
    ['a path at the same server', [{ op: 'replace', path: '/mcp_servers/0/url', value: 'http://127.0.0.1:9/other' }]],
    ['a header that is known', [{ op: 'add', path: '/mcp_servers/0/headers/X-New', value: 'v' }]],
    ['a header with a new value', [{ op: 'replace', path: '/mcp_servers/0/headers/Authorization', value: 'w' }]],
    [
      'a test that holds',
      [
        { op: 'test', path: '/aliases/fast', value: 'echo-1' },
        { op: 'remove', path: '/aliases/fast' },
      ],
    ],
  ];
  for (const [what, operations] of EDITS)
    it(`makes ${what}, and no secret is lost or shown`, async () => {
      const s = await scene();
      const answer = await s.patch(operations);
      expect(answer.status, answer.text).to.equal(200);
      const text = JSON.stringify(s.kept());
      expect(text.includes('${TOKEN}')).to.equal(what !== 'an entry that goes');
      expect(text).not.to.include('\\u0000');
      expect(text.includes('[REDACTED')).to.equal(false);
      for (const secret of [SECRET, OTHER])
        expect(answer.text + JSON.stringify(await s.shown())).not.to.include(secret);
      const gone = /entry that goes|new value/.test(what);
      expect(text.split(SECRET).length - 1).to.equal(gone ? 1 : what === 'a plugin twice' ? 3 : 2);
      expect(text.split(OTHER).length - 1).to.equal(1);
    });

  const REFUSED: readonly (readonly [what: string, operations: unknown, code: string, says: string])[] = [
    ['is not a list', {}, 'invalid_request', 'must be a JSON Patch'],
    ['is empty', [], 'invalid_request', 'has 1 to 1000 operations'],
    ['has too many', Array.from({ length: 1001 }, () => ({ op: 'remove', path: '/x' })), 'invalid_request', '1001'],
    ['has an unknown operation', [{ op: 'put', path: '/x' }], 'invalid_request', 'patch[0].op is "put"'],
    [
      'has an unknown member',
      [{ op: 'remove', path: '/x', value: 1 }],
      'invalid_request',
      'patch[0] has a member "value"',
    ],
    ['lacks a value', [{ op: 'add', path: '/x' }], 'invalid_request', 'patch[0].value is missing'],
    [
      'has a pointer that is none',
      [{ op: 'remove', path: 'x' }],
      'invalid_request',
      'patch[0].path must be empty or begin with /',
    ],
    ['has a long pointer', [{ op: 'remove', path: `/${'x'.repeat(1024)}` }], 'invalid_request', 'the limit is 1024'],
    ['names __proto__', [{ op: 'add', path: '/__proto__/x', value: 1 }], 'invalid_request', '__proto__'],
    [
      'removes what is not there',
      [{ op: 'remove', path: '/aliases/none' }],
      'invalid_request',
      'patch[0]: there is no such member',
    ],
    [
      'replaces what is not there',
      [{ op: 'replace', path: '/aliases/none', value: 'x' }],
      'invalid_request',
      'patch[0]',
    ],
    ['goes beyond a list', [{ op: 'add', path: '/plugins/9', value: {} }], 'invalid_request', 'no such place'],
    ['removes everything', [{ op: 'remove', path: '' }], 'invalid_request', 'whole document'],
    ['adds an unknown key', [{ op: 'add', path: '/nothing', value: 1 }], 'invalid_request', 'nothing'],
    ['breaks a rule', [{ op: 'replace', path: '/targets', value: [] }], 'invalid_config', 'target'],
    [
      'holds what was shown',
      [{ op: 'add', path: '/aliases/x', value: '[REDACTED]' }],
      'redacted_secret',
      'patch[0].value',
    ],
    [
      'names what was shown',
      [{ op: 'remove', path: '/mcp_servers/0/headers/[REDACTED_KEY_0]' }],
      'redacted_secret',
      'patch[0].path',
    ],
    [
      'tests a secret',
      [{ op: 'test', path: '/mcp_servers/0/headers/Authorization', value: SECRET }],
      'invalid_request',
      'cannot be tested',
    ],
    [
      'tests above a secret',
      [{ op: 'test', path: '/mcp_servers/0', value: {} }],
      'invalid_request',
      'cannot be tested',
    ],
    ['tests everything', [{ op: 'test', path: '', value: {} }], 'invalid_request', 'cannot be tested'],
    [
      'moves headers to another server',
      [{ op: 'move', from: '/mcp_servers/0/headers', path: '/mcp_servers/1/headers' }],
      'invalid_request',
      'patch[0]',
    ],
    [
      'copies a header to where it is shown',
      [{ op: 'copy', from: '/mcp_servers/0/headers/Authorization', path: '/aliases/x' }],
      'invalid_request',
      'patch[0]',
    ],
    [
      'copies headers to where they are shown',
      [{ op: 'copy', from: '/mcp_servers/0/headers', path: '/aliases' }],
      'invalid_request',
      'patch[0]',
    ],
    [
      'sends a header elsewhere',
      [{ op: 'replace', path: '/mcp_servers/0/url', value: 'http://127.0.0.1:11/mcp' }],
      'invalid_config',
      'mcp_servers[0]: BV40: it would send what is withheld to http://127.0.0.1:11',
    ],
    [
      'sends a hook elsewhere',
      [{ op: 'replace', path: '/plugins/1/config/url', value: 'http://hook.example/in' }],
      'invalid_config',
      'BV40',
    ],
    [
      'makes a server a command',
      [
        { op: 'remove', path: '/mcp_servers/0/url' },
        { op: 'add', path: '/mcp_servers/0/command', value: '/bin/x' },
      ],
      'invalid_config',
      'BV40',
    ],
    [
      'makes it another plugin',
      [{ op: 'replace', path: '/plugins/1/name', value: 'request-logger' }],
      'invalid_config',
      'BV40',
    ],
    [
      'trades the addresses of two servers',
      [
        { op: 'replace', path: '/mcp_servers/0/url', value: 'http://127.0.0.1:10/mcp' },
        { op: 'replace', path: '/mcp_servers/1/url', value: 'http://127.0.0.1:9/mcp' },
      ],
      'invalid_config',
      'BV40',
    ],
    [
      'refers to a secret of the gateway',
      [{ op: 'replace', path: '/plugins/0/config/blocked_words', value: ['${MASTER_KEY}'] }],
      'invalid_config',
      'BV30',
    ],
  ];
  for (const [what, operations, code, says] of REFUSED)
    it(`that ${what} is refused, says why, and changes nothing`, async () => {
      const s = await scene();
      const before = JSON.stringify(s.kept());
      const answer = await s.patch(operations);
      expect(refusalOf(answer).slice(0, 2), answer.text).to.deep.equal([400, code]);
      expect(refusalOf(answer)[2]).to.include(says);
      expect(answer.text).not.to.include(SECRET);
      expect(JSON.stringify(s.kept())).to.equal(before);
      expect((await s.t.get('/admin/config/history')).json().summary.total_versions).to.equal(0);
    });

  it('shows nothing that was withheld, where a change of something else would show it', () => {
    const isWithheldIn = ({ mode }: Fields): boolean => mode === 'a';
    const scrubber = {
      plain: (document: Fields) => document,
      show: (document: Fields) => (isWithheldIn(document) ? { ...document, word: '[REDACTED]' } : document),
    } as unknown as Scrubber;
    const deps = { scrubber, isShipped: () => true };
    const document = { mode: 'a', word: SECRET, other: 'x' };
    const replaced = (path: string, value: string): Fields =>
      patchedDocument(document, [{ op: 'replace', path: [path], value }], deps);
    expect(replaced('other', 'y')).to.deep.equal({ ...document, other: 'y' });
    expect(() => replaced('mode', 'b')).to.throw(RefusedConfiguration, 'word: BV40: it would show what is withheld');
  });

  it('makes no document that grows with each copy of itself', async () => {
    const s = await scene();
    const answer = await s.patch(
      Array.from({ length: 1000 }, (_each, at) => ({ op: 'copy', from: '/aliases', path: `/aliases/x${at}` })),
    );
    expect(refusalOf(answer).slice(0, 2)).to.deep.equal([400, 'invalid_request']);
    expect(refusalOf(answer)[2]).to.include('copies');
  });

  it('is all or nothing, and a test that fails is 412', async () => {
    const s = await scene();
    const before = JSON.stringify(s.kept());
    const answer = await s.patch([
      { op: 'add', path: '/aliases/x', value: 'echo-1' },
      { op: 'test', path: '/aliases/fast', value: 'another' },
    ]);
    expect(refusalOf(answer).slice(0, 2)).to.deep.equal([412, 'version_conflict']);
    expect(JSON.stringify(s.kept())).to.equal(before);
  });

  it('needs the version that it was made for', async () => {
    const s = await scene();
    const operations = [{ op: 'add', path: '/aliases/x', value: 'echo-1' }];
    for (const headers of [{ 'if-match': '' }, { 'if-match': '*' }]) {
      const answer = await s.t.request('PATCH', '/admin/config', operations, {
        'content-type': 'application/json-patch+json',
        ...(headers['if-match'] !== '' && headers),
      });
      expect(refusalOf(answer).slice(0, 2)).to.deep.equal([400, 'invalid_request']);
      expect(refusalOf(answer)[2]).to.include('send If-Match');
    }
    expect((await s.patch(operations)).status).to.equal(200);
    expect(refusalOf(await s.patch(operations, { 'if-match': '"0"' })).slice(0, 2)).to.deep.equal([
      412,
      'version_conflict',
    ]);
    expect(refusalOf(await s.patch(operations, { 'if-match': 'W/"1"' })).slice(0, 2)).to.deep.equal([
      412,
      'version_conflict',
    ]);
  });

  it('that changes nothing makes no version, row or write', async () => {
    const s = await scene();
    const answer = await s.patch([{ op: 'replace', path: '/aliases/fast', value: 'echo-1' }]);
    expect([answer.status, answer.json()]).to.deep.equal([200, { status: 'updated', version: 0, changes: [] }]);
    expect(await s.t.trail('&action=config.update')).to.deep.equal([]);
    expect((await s.t.get('/admin/config/history')).json().summary.total_versions).to.equal(0);
  });

  it('has a twin for browsers, is checked and compared as a whole document is, and is for admins', async () => {
    const s = await scene();
    const operations = [{ op: 'replace', path: '/aliases/fast', value: 'other' }];
    const typed = { 'content-type': 'application/json-patch+json' };
    const etag = (await s.t.get('/admin/config')).headers.get('etag')!;
    const checked = await s.t.request('POST', '/admin/config/validate', operations, typed);
    expect([checked.status, checked.json()]).to.deep.equal([200, { valid: true }]);
    const compared = await s.t.request('POST', '/admin/config/diff', operations, typed);
    expect(compared.json().changes).to.deep.equal([{ path: 'aliases.fast', before: 'echo-1', after: 'other' }]);
    expect(refusalOf(await s.t.request('PUT', '/admin/config', operations, typed))[2]).to.include(
      '/admin/config/patch',
    );
    const reader = await s.t.makeKey();
    const asReader = await s.t.request('POST', '/admin/config/patch', operations, {
      ...typed,
      'if-match': etag,
      ...as(reader.key),
    });
    expect(asReader.status).to.equal(403);
    const twin = await s.t.request('POST', '/admin/config/patch', operations, { 'if-match': etag, ...as(MASTER_KEY) });
    expect(twin.status, twin.text).to.equal(200);
    expect(s.kept().aliases.fast).to.equal('other');
    const wrong = await s.t.request('PATCH', '/admin/config', operations, {
      'if-match': etag,
      'content-type': 'text/plain',
    });
    expect(refusalOf(wrong)[2]).to.include('content type');
    expect(wrong.headers.get('accept-patch')).to.equal('application/json-patch+json');
    const methods = await s.t.request('GET', '/admin/config/patch');
    expect(methods.status).to.equal(405);
  });
});
