import { expect } from 'chai';
import { type Answer, ask, MASTER_KEY } from '../kit/index.ts';
import { type AdminHost, as, forBackends, refusal, startAdmin } from './kit.ts';

const ONLY_INFERENCE = 'this key is for inference only';

/** What a body says, what becomes of it where nothing else is said, and with GW_KEY_ACCESS_DEFAULT=inference. */
const BODIES: readonly (readonly [scopes: unknown, access: unknown, result: string, byDefault?: string])[] = [
  [undefined, undefined, 'read_only', 'inference'],
  [null, null, 'read_only', 'inference'],
  [[], undefined, 'read_only', 'inference'],
  [undefined, 'inference', 'inference'],
  [[], 'inference', 'inference'],
  [undefined, 'full', 'read_only'],
  [[], 'full', 'read_only'],
  [['read_only'], undefined, 'read_only'],
  [['read_only', 'read_only'], undefined, 'read_only read_only'],
  [['read_only'], 'full', 'read_only'],
  [['read_only'], 'inference', 'inference'],
  [['read_only', 'read_only'], 'inference', 'inference'],
  [['admin'], undefined, 'admin'],
  [['admin'], 'full', 'admin'],
  [['admin'], 'inference', 'a key for inference has no scope admin'],
  [['read_only', 'admin'], 'inference', 'a key for inference has no scope admin'],
  [undefined, '', 'access is ""; use inference or full'],
  [undefined, 'Inference', 'access is "Inference"; use inference or full'],
  [['nothing'], 'everything', 'the scope "nothing" does not exist'],
];

/** What an answer says of a key, or why there is none. */
function resultOf(answer: Answer): string {
  const { error, access, scopes, active } = answer.json();
  if (error) return error.message;
  expect(active).to.equal(true);
  if (access === undefined) return scopes.join(' ');
  expect([access, scopes]).to.deep.equal(['inference', ['read_only']]);
  return 'inference';
}

forBackends('access of keys', (start) => {
  it('is what a body says, or the environment', async () => {
    for (const [variables, place] of [
      [{}, 2],
      [{ GW_KEY_ACCESS_DEFAULT: ' Inference ' }, 3],
    ] as const) {
      const t = await start({ variables });
      for (const body of BODIES) {
        const [scopes, access] = body;
        const answer = await t.post('/admin/keys', { name: 'k', scopes, access });
        const expected = body[place] ?? body[2];
        expect(resultOf(answer), JSON.stringify([scopes, access, variables])).to.include(expected);
        if (answer.status !== 201) continue;
        const { id, access: shown } = answer.json();
        const members = Object.keys(answer.json());
        if (shown !== undefined) expect(members[members.indexOf('active') + 1]).to.equal('access');
        expect((await t.get(`/admin/keys/${id}`)).json().access).to.equal(shown);
        expect((await t.get('/admin/keys')).json().find((key: any) => key.id === id).access).to.equal(shown);
      }
      await t.close();
    }
  });

  it('is widened by access alone, whatever else a change says', async () => {
    const t = await start();
    const change = async (from: object, body: object): Promise<string> => {
      const { id } = await t.makeKey(from);
      const answer = await t.request('PUT', `/admin/keys/${id}`, body);
      const after = (await t.get(`/admin/keys/${id}`)).json();
      if (answer.status !== 200)
        expect(after.access ?? after.scopes.join(' ')).to.equal(
          'access' in from ? 'inference' : after.scopes.join(' '),
        );
      return resultOf(answer);
    };
    await t.adminKey('another'); // so that the guard has nothing to say
    const inference = { access: 'inference' };
    const refused = `${ONLY_INFERENCE}; send access full as well`;
    for (const body of [
      { name: 'x' },
      { scopes: [] },
      { scopes: ['read_only'] },
      { rpm: 5 },
      { clear_expiration: true },
    ])
      expect(await change(inference, body), JSON.stringify(body)).to.equal('inference');
    expect(await change(inference, { scopes: ['admin'] })).to.equal(refused);
    expect(await change(inference, { scopes: ['read_only', 'admin'] })).to.equal(refused);
    expect(await change(inference, { scopes: ['admin'], access: 'inference' })).to.include('has no scope admin');
    expect(await change(inference, { access: 'full' })).to.equal('read_only');
    expect(await change(inference, { scopes: ['admin'], access: 'full' })).to.equal('admin');
    expect(await change({}, { access: 'inference' })).to.equal('inference');
    expect(await change({}, { access: 'full' })).to.equal('read_only');
    expect(await change({ scopes: ['admin'] }, { access: 'inference' })).to.include('has no scope admin');
    expect(await change({ scopes: ['admin'] }, { access: 'inference', scopes: ['read_only'] })).to.equal('inference');
    expect(await change({ scopes: ['admin'] }, { access: 'full' })).to.equal('admin');
    const kept = await t.makeKey(inference);
    expect(resultOf(await t.post(`/admin/keys/${kept.id}/rotate`, {})), 'rotated').to.equal('inference');
  });

  it('cannot be taken from the last key that administers, nor from the own one', async () => {
    const t = await start();
    const admin = await t.adminKey();
    const body = { scopes: ['read_only'], access: 'inference' };
    expect(refusal(await t.request('PUT', `/admin/keys/${admin.id}`, body))).to.deep.equal([409, 'last_admin_key']);
    await t.adminKey();
    expect(refusal(await t.request('PUT', `/admin/keys/${admin.id}`, body, as(admin.key)))).to.deep.equal([
      409,
      'self_mutation_forbidden',
    ]);
  });

  it('ends with a session that was made before, until the key is wider again', async () => {
    const t = await start();
    const key = await t.makeKey();
    const { token } = await t.signIn(key.key);
    const statuses = async (): Promise<number[]> =>
      Promise.all(['/v1/models', '/admin/keys'].map(async (path) => (await t.get(path, as(token))).status));
    expect(await statuses()).to.deep.equal([200, 200]);
    await t.request('PUT', `/admin/keys/${key.id}`, { access: 'inference' });
    expect(await statuses()).to.deep.equal([401, 401]);
    expect((await t.get('/admin/sessions')).json().data.map(({ active }: any) => active)).to.deep.equal([false]);
    await t.request('PUT', `/admin/keys/${key.id}`, { access: 'full' });
    expect(await statuses()).to.deep.equal([200, 200]);
    const [widened, narrowed] = (await t.trail('&action=key.update')).map(({ detail }) => JSON.parse(detail));
    expect([widened, narrowed]).to.deep.equal([
      { name: 'key', scopes: ['read_only'], access: 'full' },
      { name: 'key', scopes: ['read_only'], access: 'inference' },
    ]);
  });

  it('is refused where it signs in with a key for inference', async () => {
    const t = await start();
    const { id, key } = await t.makeKey({ access: 'inference' });
    const answer = await t.request('POST', '/admin/session', undefined, as(key));
    expect([...refusal(answer), answer.json().error.message]).to.deep.equal([
      403,
      'insufficient_scope',
      ONLY_INFERENCE,
    ]);
    expect((await t.get('/admin/sessions')).json().data).to.deep.equal([]);
    const [row] = await t.trail('&action=session.create');
    expect(row).to.include({ outcome: 'denied', target_id: '*', actor: `key (${id})` });
    expect(JSON.parse(row!['detail'])).to.deep.equal({ reason: 'insufficient_scope' });
  });
});

describe('a key for inference', () => {
  it('calls models, and can ask what it is', async () => {
    const t: AdminHost = await startAdmin();
    const { key } = await t.makeKey({ access: 'inference' });
    expect((await t.get('/v1/models', as(key))).status).to.equal(200);
    const chat = await t.post('/v1/chat/completions', { ...ask('hi'), model: 'echo' }, as(key));
    expect(chat.status, chat.text).to.equal(200);
    const own = (await t.get('/v1/key', as(key))).json();
    expect(own).to.deep.include({ kind: 'key', access: 'inference', scopes: [] });
  });

  it('is one of the kinds of credential that can ask what they are', async () => {
    const t = await startAdmin();
    const keys = {
      admin: (await t.adminKey()).key,
      session: (await t.signIn((await t.makeKey()).key)).token,
      master: MASTER_KEY,
    };
    const kinds = await Promise.all(
      [keys.admin, keys.session, keys.master].map(async (credential) =>
        (await t.get('/v1/key', as(credential))).json(),
      ),
    );
    expect(kinds.map(({ kind, access, scopes }) => [kind, access, scopes])).to.deep.equal([
      ['key', 'full', ['admin']],
      ['session', 'full', ['read_only']],
      ['master', 'full', ['admin']],
    ]);
  });
});
