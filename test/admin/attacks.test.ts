import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { defineBuiltin } from '../../host/builtin.ts';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { digestOf } from '../../host/stores/principals.ts';
import { fakeClock, MASTER_KEY, some } from '../kit/index.ts';
import { type AdminHost, as, forBackends, refusal, startAdmin } from './kit.ts';

const HOUR = 3_600_000;
const DEAD = [401, 'invalid_api_key'];

/** Texts that a parser on the way might obey. */
const STRANGE = [
  "'; DROP TABLE api_keys; --",
  '" OR ""="',
  "\\'; SELECT 1",
  '%_%',
  '$1',
  '?',
  ':name',
  '/* */',
  '1); DELETE FROM sessions; --',
  '\r\nSet-Cookie: a=b\r\n\r\n<script>',
  '\u0001\u007f\u0085\u2028\u202e',
  '../../etc/passwd',
  '${MASTER_KEY}',
  '{{7*7}}',
  'аdmin',
  'ａｄｍｉｎ',
  'Ａ\u0301',
  '\u{1f511}'.repeat(5),
  '__proto__',
  'constructor',
  'null',
  '-1',
  ' ',
];

/** Status of a call whose header is written as it is, which `fetch` would refuse. */
function rawStatus(t: AdminHost, authorization: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  httpRequest(`${t.url}/admin/keys`, { headers: { authorization }, agent: false }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode));
  })
    .on('error', reject)
    .end();
  return promise;
}

forBackends('an attack on the admin API', (start) => {
  it('by what databases obey: every text is kept as it is, and no filter finds more than it says', async () => {
    const t = await start();
    const made = new Map<string, string>();
    for (const text of some(STRANGE)) {
      const name = `k${text}`;
      const key = await t.makeKey({ name, tags: [name], models: [name], providers: [name], mcp_tools: [name] });
      made.set(key.id, name);
      const shown = (await t.get(`/admin/keys/${key.id}`)).json();
      expect(shown, text).to.deep.include({ name, tags: [name], models: [name], providers: [name], mcp_tools: [name] });
      expect(
        (await t.request('PUT', `/admin/keys/${key.id}`, { name: `${name}2`, tags: [text.trim() || 'x'] })).json(),
      ).to.deep.include({ name: `${name}2`, tags: [text.trim() || 'x'] });
    }
    const rows = await t.trail();
    for (const text of some(STRANGE)) {
      const path = encodeURIComponent(text);
      for (const [method, url] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/revoke'],
        ['POST', '/rotate'],
      ] as const) {
        if (text.trim() !== '')
          expect(refusal(await t.request(method, `/admin/keys/${path}${url}`)), method + text).to.deep.equal([
            404,
            'resource_not_found',
          ]);
      }
      if (text.trim() !== '') expect((await t.request('DELETE', `/admin/sessions/${path}`)).status, text).to.equal(204);
      for (const filter of ['action', 'actor_id'])
        expect((await t.get(`/admin/audit?${filter}=${path}`)).json().data, text).to.deep.equal([]);
      for (const filter of ['limit', 'offset', 'sort', 'active', 'since'])
        expect(refusal(await t.get(`/admin/keys/usage?${filter}=${path}`)), filter + text).to.deep.equal([
          400,
          'invalid_request',
        ]);
    }
    expect((await t.get('/admin/keys')).json()).to.have.length(made.size);
    expect((await t.get('/admin/audit')).json().summary.total_entries).to.be.greaterThan(rows.length);
  });

  it('by a line break in a name: it is in no header, and one line of the log', async () => {
    const t = await start();
    const { id, key } = await t.makeKey({ name: 'a\r\nX-Evil: 1', scopes: ['admin'] });
    const answer = await t.get(`/admin/keys/${id}`, as(key));
    expect([answer.status, answer.headers.get('x-evil')]).to.deep.equal([200, null]);
    const { subject, token } = await t.signIn(key);
    expect(subject).to.equal('a\r\nX-Evil: 1');
    expect((await t.get('/admin/sessions', as(token))).headers.get('x-evil')).to.equal(null);
    for (const line of t.texts) expect(line.trimEnd()).not.to.match(/[\r\n]/);
  });

  it('by a bearer of a megabyte, or of bytes that are not text', async () => {
    const t = await start();
    const long = `gw_${'a'.repeat(1_000_000)}`;
    expect(await rawStatus(t, `Bearer ${long}`)).to.equal(401);
    for (const bearer of [
      `${MASTER_KEY}\u00e9`,
      '\u00ff'.repeat(67),
      `${MASTER_KEY}\t`,
      `${MASTER_KEY} ${MASTER_KEY}`,
      `${MASTER_KEY},`,
      `\u00a0${MASTER_KEY}`,
    ]) {
      expect(await rawStatus(t, `Bearer ${bearer}`), JSON.stringify(bearer)).to.be.oneOf([
        401,
        ...(bearer.endsWith('\t') ? [200] : []),
      ]); // Node takes blanks off the end
    }
    expect(t.texts.join('')).not.to.include('aaaaaaaaaa');
    expect(t.lines.filter(({ level }) => level === 'ERROR')).to.deep.equal([]);
  });

  it('by look-alikes of words: of scopes, of paths, of members', async () => {
    const t = await start();
    for (const scope of ['аdmin', 'ａｄｍｉｎ', 'admin\u200b', 'ADMIN', 'read-only', 'admin\0', 'İadmin']) {
      expect(
        [
          [400, 'invalid_scope'],
          [400, 'invalid_request'],
        ],
        scope,
      ).to.deep.include(refusal(await t.post('/admin/keys', { name: 'x', scopes: [scope] })));
    }
    for (const path of ['/admin/keуs', '/ａdmin/keys', '/ADMIN/keys', '/admin//keys', '/admin/./keys', '/admin/%6beys'])
      expect((await fetch(t.url + path)).status, path).not.to.equal(200);
    expect((await t.post('/admin/keys', '{"nаme":"x"}')).status).to.equal(400);
    expect((await t.get('/admin/keys')).json()).to.deep.equal([]);
  });

  it('by a session that was chosen before: signing in always makes a new token', async () => {
    const t = await start();
    const chosen = `gws_${'ab'.repeat(32)}`;
    const { key } = await t.makeKey();
    const answer = await t.request(
      'POST',
      `/admin/session?token=${chosen}`,
      { token: chosen, id: chosen, session: chosen },
      { ...as(key), cookie: `token=${chosen}`, 'x-session-token': chosen },
    );
    const again = await t.signIn(key);
    expect([answer.status, new Set([answer.json().token, again.token, chosen]).size]).to.deep.equal([201, 3]);
    expect(refusal(await t.get('/admin/keys', as(chosen)))).to.deep.equal(DEAD);
    expect((await t.get('/admin/sessions')).json().data.every(({ id }: { id: string }) => id !== chosen)).to.equal(
      true,
    );
  });

  it("by raising one's own scopes, or by members that a body inherits", async () => {
    const t = await start();
    const reader = await t.makeKey();
    const { token } = await t.signIn(reader.key);
    for (const credential of [reader.key, token]) {
      for (const body of [{ scopes: ['admin'] }, { name: 'x' }, {}])
        expect(refusal(await t.request('PUT', `/admin/keys/${reader.id}`, body, as(credential)))).to.deep.equal([
          403,
          'insufficient_scope',
        ]);
      expect(refusal(await t.post(`/admin/keys/${reader.id}/rotate`, undefined, as(credential)))).to.deep.equal([
        403,
        'insufficient_scope',
      ]);
      expect(refusal(await t.post('/admin/keys', { name: 'x', scopes: ['admin'] }, as(credential)))).to.deep.equal([
        403,
        'insufficient_scope',
      ]);
    }
    for (const body of ['{"__proto__":{"name":"x"}}', '{"constructor":{"prototype":{"name":"x"}}}'])
      expect((await t.post('/admin/keys', body)).status).to.equal(400);
    const plain = (await t.post('/admin/keys', '{"name":"x","__proto__":{"scopes":["admin"],"rpm":1}}')).json();
    expect(plain)
      .to.deep.include({ scopes: ['read_only'] })
      .and.not.have.property('rpm');
    expect((await t.get(`/admin/keys/${reader.id}`)).json()).to.deep.include({ scopes: ['read_only'], name: 'key' });
  });

  it('by a session whose key is gone, also when another key is made with its name', async () => {
    const t = await start();
    const key = await t.adminKey('ada');
    const { token } = await t.signIn(key.key);
    await t.adminKey('other');
    await t.request('DELETE', `/admin/keys/${key.id}`);
    await t.adminKey('ada');
    for (const [method, path] of [
      ['GET', '/admin/keys'],
      ['GET', '/v1/models'],
      ['DELETE', '/admin/session'],
      ['POST', '/admin/session'],
    ] as const)
      expect(refusal(await t.request(method, path, undefined, as(token))), path).to.deep.equal(DEAD);
  });

  it('by a clock that goes back: nothing lives longer by what the clock said, and nothing falls over', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 31, 12));
    let shift = 0;
    const t = await start({ clock: { ...clock, now: () => clock.now() + shift } });
    const key = await t.adminKey();
    const { token } = await t.signIn(key.key);
    await t.get('/admin/keys', as(token));
    const before = (await t.get(`/admin/keys/${key.id}`, as(key.key))).json();
    shift = -24 * HOUR;
    expect((await t.get('/admin/keys', as(token))).status).to.equal(200);
    expect((await t.get(`/admin/keys/${key.id}`, as(key.key))).json()).to.deep.equal({
      ...before,
      usage_count: before.usage_count + 1,
    });
    const { token: second } = await t.signIn(key.key);
    expect((await t.get('/admin/keys', as(second))).status).to.equal(200);
    await t.post(`/admin/keys/${key.id}/rotate`, { end_sessions: true });
    expect([
      (await t.get('/admin/keys', as(token))).status,
      (await t.get('/admin/keys', as(second))).status,
    ]).to.deep.equal([401, 401]);
    expect((await t.trail()).length).to.be.greaterThan(2);
    shift = 0;
    expect([
      (await t.get('/admin/keys', as(token))).status,
      (await t.get('/admin/keys', as(second))).status,
    ]).to.deep.equal([401, 401]);
  });
});

describe('an attack by the time that an answer takes', () => {
  it('learns nothing: a wrong key is looked up as an unknown one is, by its digest, once', async () => {
    const asked: string[] = [];
    class Counting extends MemoryKeys {
      override findAll(digests: readonly string[]): ReturnType<MemoryKeys['findAll']> {
        asked.push(...digests);
        return super.findAll(digests);
      }
    }
    const builtin = defineBuiltin({
      name: 'counting',
      apply: ({ hooks }) =>
        hooks.open.tapPromise('counting', async ({ stores }) => stores.keys.supply('counting', new Counting())),
    });
    const t = await startAdmin({ builtins: [builtin] });
    const { key } = await t.makeKey();
    const wrong = [
      `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
      key.slice(0, 20),
      `gw_${'0'.repeat(64)}`,
      'x',
      `${MASTER_KEY}0`,
      digestOf(key),
    ];
    for (const credential of wrong) await t.get('/admin/keys', as(credential));
    expect(asked).to.deep.equal(wrong.map(digestOf));
  });
});
