import { expect } from 'chai';
import { defineBuiltin } from '../../host/builtin.ts';
import { MemoryAudit } from '../../host/stores/audit/memory-audit.ts';
import type { PendingChange } from '../../host/stores/changes.ts';
import type { StoredKey } from '../../host/stores/keys/key-record.ts';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { MemorySessions } from '../../host/stores/sessions/memory-sessions.ts';
import { type Answer, eventually, fakeClock, type FakeClock, MASTER_KEY } from '../kit/index.ts';
import { type AdminHost, as, refusal, startAdmin } from './kit.ts';

const SECRET = 'driver says: connect to db.internal:5432 as gateway refused';

interface Outage {
  readonly t: AdminHost;
  readonly clock: FakeClock;
  /** Which stores do not answer. */
  readonly away: Set<'audit' | 'keys' | 'sessions'>;
}

/** Stores that can be away: every call then fails as a driver does. */
async function breakable(keysOf = (_away: Outage['away']): MemoryKeys => new MemoryKeys()): Promise<Outage> {
  const away: Outage['away'] = new Set();
  const clock = fakeClock();
  const behind = <T extends object>(name: 'audit' | 'keys' | 'sessions', store: T): T =>
    new Proxy(store, {
      get: (target, member) => {
        const value: unknown = Reflect.get(target, member, target);
        return typeof value === 'function'
          ? async (...given: unknown[]): Promise<unknown> => {
              if (away.has(name)) throw new Error(SECRET);
              return (value as (...given: unknown[]) => unknown).apply(target, given);
            }
          : value;
      },
    });
  const builtin = defineBuiltin({
    name: 'breakable-stores',
    apply: ({ hooks }) =>
      hooks.open.tapPromise('breakable-stores', async ({ stores }) => {
        stores.keys.supply('breakable', behind('keys', keysOf(away)));
        stores.sessions.supply('breakable', behind('sessions', new MemorySessions()));
        stores.audit.supply('breakable', behind('audit', new MemoryAudit()));
      }),
  });
  return { t: await startAdmin({ builtins: [builtin], clock }), clock, away };
}

/** Keys of which the first that is made is kept, though its store is away as soon as that is decided. */
function undecided(away: Outage['away']): MemoryKeys {
  return new (class extends MemoryKeys {
    override async insert(key: StoredKey, change?: PendingChange): Promise<void> {
      await super.insert(key);
      change?.decide();
      away.add('keys');
      throw new Error(SECRET);
    }
  })();
}

const aWhile = (): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(resolve, 5, undefined);
  });

function expectWithoutDriver(answer: Answer): void {
  expect(answer.text).not.to.include('driver').and.not.include('db.internal');
}

describe('the admin API while the key store is away', () => {
  const changes: readonly [string, string, unknown, string][] = [
    ['POST', '/admin/keys', { name: 'x' }, 'key.create'],
    ['PUT', '/admin/keys/ID', { name: 'y' }, 'key.update'],
    ['PUT', '/admin/keys/ID', { scopes: ['read_only'] }, 'key.update'],
    ['DELETE', '/admin/keys/ID', undefined, 'key.delete'],
    ['POST', '/admin/keys/ID/revoke', undefined, 'key.revoke'],
    ['POST', '/admin/keys/ID/rotate', undefined, 'key.rotate'],
  ];
  for (const [method, path, body, action] of changes) {
    it(`${method} ${path} of ${JSON.stringify(body)} is 503, changes nothing and leaves its row`, async () => {
      const { t, away } = await breakable();
      const { id } = await t.makeKey({ name: 'one', scopes: ['admin'] });
      const before = (await t.get('/admin/keys')).json();
      away.add('keys');
      for (const target of [id, 'unknown']) {
        const answer = await t.request(method, path.replace('ID', target), body);
        expect(refusal(answer)).to.deep.equal([503, 'store_unavailable']);
        expect(answer.json().error.type).to.equal('server_error');
        expectWithoutDriver(answer);
      }
      away.clear();
      expect((await t.get('/admin/keys')).json()).to.deep.equal(before);
      const [, row] = await t.trail();
      const error = 'the key store does not answer; nothing was changed, try again';
      expect(row).to.include({ action, outcome: 'error', target_id: action === 'key.create' ? '*' : id });
      expect(JSON.parse(row!['detail'] as string)).to.deep.equal(
        action === 'key.create' ? { error, name: 'x' } : { error },
      );
    });
  }

  it('says that a change may be done where its answer was lost, and mends a key that was given to no one', async () => {
    const { t, clock, away } = await breakable(undecided);
    const answer = t.request('POST', '/admin/keys', { name: 'x' });
    await eventually(() => away.has('keys')); // it has decided, and from then on nothing is answered
    while ((await Promise.race([answer, aWhile()])) === undefined) clock.advance(1000);
    expect(refusal(await answer)).to.deep.equal([503, 'store_unavailable']);
    expect((await answer).json().error.message).to.equal(
      'the key store does not answer; it is not known whether this was done: look before you repeat it',
    );
    away.clear();
    const names = async (): Promise<unknown[]> =>
      ((await t.get('/admin/keys')).json() as { name: unknown }[]).map(({ name }) => name);
    expect(await names()).to.deep.equal(['x']);
    clock.advance(5000);
    await eventually(async () => (await names()).length === 0);
    const [row] = await t.trail();
    expect(row).to.include({ action: 'key.create', actor: 'gateway', outcome: 'error', detail: '{"mended":true}' });
  });

  it('still refuses what a key must not do to itself, for which no store is needed', async () => {
    const { t, away } = await breakable();
    const own = await t.adminKey();
    expect((await t.get('/admin/keys', as(own.key))).status).to.equal(200); // it is in use, and known from now on
    away.add('keys');
    for (const [method, path, body] of [
      ['DELETE', '', undefined],
      ['POST', '/revoke', undefined],
      ['PUT', '', { scopes: ['read_only'] }],
    ] as const) {
      expect(
        refusal(await t.request(method, `/admin/keys/${own.id}${path}`, body, as(own.key))),
        `${method} ${path}`,
      ).to.deep.equal([409, 'self_mutation_forbidden']);
    }
    const rows = (await t.trail('&outcome=denied')).map(({ action, detail }) => [action, detail]);
    expect(rows).to.deep.equal(
      ['key.update', 'key.revoke', 'key.delete'].map((action) => [action, '{"reason":"self_mutation_forbidden"}']),
    );
  });

  it("cannot be read: 500 without the driver's message, which is in the log", async () => {
    const { t, away } = await breakable();
    const { id } = await t.makeKey();
    away.add('keys');
    for (const path of ['/admin/keys', '/admin/keys/usage', `/admin/keys/${id}`, '/admin/keys/unknown']) {
      const answer = await t.get(path);
      expect(refusal(answer), path).to.deep.equal([500, 'internal_error']);
      expectWithoutDriver(answer);
    }
    expect(t.texts.join('')).to.include('driver says');
    expect(t.lines.filter(({ msg }) => msg === 'panic recovered')).to.deep.equal([]);
    away.clear();
    expect((await t.get('/admin/keys')).status).to.equal(200);
  });

  it('knows the keys of the last hour and the master key; of others it cannot say whether they are good', async () => {
    const { t, clock, away } = await breakable();
    const [seen, fresh] = [await t.adminKey('seen'), await t.adminKey('fresh')];
    expect((await t.get('/admin/audit', as(seen.key))).status).to.equal(200);
    away.add('keys');
    clock.advance(59 * 60_000);
    expect((await t.get('/admin/audit', as(seen.key))).status).to.equal(200);
    for (const credential of [fresh.key, 'gw_unknown']) {
      const answer = await t.get('/admin/audit', as(credential));
      expect(refusal(answer)).to.deep.equal([503, 'store_unavailable']);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
    }
    expect((await t.get('/admin/audit', as(MASTER_KEY))).status).to.equal(200);
    expect((await t.get('/v1/models', as(seen.key))).status).to.equal(200);
  });

  it('does not sign in with an unknown key, and says so: 503 and a row', async () => {
    const { t, away } = await breakable();
    away.add('keys');
    const answer = await t.request('POST', '/admin/session', undefined, as('gw_unknown'));
    expect(refusal(answer)).to.deep.equal([503, 'store_unavailable']);
    expectWithoutDriver(answer);
    expect((await t.trail())[0]).to.include({
      action: 'session.create',
      outcome: 'error',
      target_id: '*',
      actor: 'unattributed',
    });
  });
});

describe('the deep health', () => {
  it('tells which stores do not answer, and lowers the status for the key store alone', async () => {
    const { t, away } = await breakable();
    const told = async (): Promise<unknown[]> => {
      const answer = await t.get('/admin/health');
      expectWithoutDriver(answer);
      const { status, components } = answer.json();
      return [
        answer.status,
        status,
        ...components
          .filter(({ name }: { name: string }) => name.includes('Key') || name.includes('Audit'))
          .map((each: { status: string }) => each.status),
      ];
    };
    expect(await told()).to.deep.equal([200, 'healthy', 'healthy', 'healthy']);
    away.add('audit');
    expect(await told()).to.deep.equal([200, 'healthy', 'healthy', 'unavailable']);
    away.add('keys');
    expect(await told()).to.deep.equal([200, 'degraded', 'unavailable', 'unavailable']);
    expect(refusal(await t.get('/admin/dashboard'))).to.deep.equal([500, 'internal_error']);
    away.clear();
    expect(await told()).to.deep.equal([200, 'healthy', 'healthy', 'healthy']);
  });
});

describe('the admin API while the session store is away', () => {
  it('changes are 503 with a row, the list is 500, and sessions in use go on', async () => {
    const { t, away } = await breakable();
    const { token } = await t.signIn(MASTER_KEY);
    expect((await t.get('/admin/keys', as(token))).status).to.equal(200);
    const id = await t.newestSession();
    away.add('sessions');
    const changes: readonly [string, string, Record<string, string>, string, string][] = [
      ['POST', '/admin/session', as(MASTER_KEY), 'session.create', '*'],
      ['DELETE', '/admin/session', as(token), 'session.logout', id],
      ['DELETE', `/admin/sessions/${id}`, {}, 'session.revoke', id],
      ['DELETE', '/admin/sessions', {}, 'session.revoke_all', '*'],
    ];
    for (const [method, path, headers, action, target_id] of changes) {
      const answer = await t.request(method, path, undefined, headers);
      expect(refusal(answer), path).to.deep.equal([503, 'store_unavailable']);
      expectWithoutDriver(answer);
      expect((await t.trail())[0]).to.include({ action, outcome: 'error', target_id });
      expect((await t.trail())[0]!['actor_id']).to.match(/^master-key:/);
    }
    expect(refusal(await t.get('/admin/sessions'))).to.deep.equal([500, 'internal_error']);
    expect((await t.get('/admin/keys', as(token))).status).to.equal(200);
    away.clear();
    expect((await t.get('/admin/sessions')).json().data).to.have.length(1);
    expect((await t.get('/admin/keys', as(token))).status).to.equal(200);
  });
});

describe('the admin API while the audit store is away', () => {
  it('changes go on, their rows come later, and the trail is 500', async () => {
    const { t, clock, away } = await breakable();
    away.add('audit');
    const { id } = await t.makeKey();
    expect((await t.request('DELETE', `/admin/keys/${id}`)).status).to.equal(204);
    const answer = await t.get('/admin/audit');
    expect(refusal(answer)).to.deep.equal([500, 'internal_error']);
    expectWithoutDriver(answer);
    expect(t.lines.filter(({ msg }) => msg === 'admin audit').map(({ action }) => action as string)).to.deep.equal([
      'key.create',
      'key.delete',
    ]);
    away.clear();
    clock.advance(10_000);
    expect((await t.trail()).map(({ action, target_id }) => [action, target_id])).to.deep.equal([
      ['key.delete', id],
      ['key.create', id],
    ]);
  });

  it('changes do not wait for a store that is slow', async () => {
    const slow = Promise.withResolvers<void>();
    class SlowAudit extends MemoryAudit {
      override async append(entries: Parameters<MemoryAudit['append']>[0]): Promise<void> {
        await slow.promise;
        return super.append(entries);
      }
    }
    const builtin = defineBuiltin({
      name: 'slow-audit',
      apply: ({ hooks }) =>
        hooks.open.tapPromise('slow-audit', async ({ stores }) => stores.audit.supply('slow', new SlowAudit())),
    });
    const t = await startAdmin({ builtins: [builtin] });
    const { id } = await t.makeKey();
    expect((await t.request('DELETE', `/admin/keys/${id}`)).status).to.equal(204);
    slow.resolve();
    expect(await t.trail()).to.have.length(2);
  });
});
