import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import { isUsableAdmin, recordOf, type StoredKey } from '../../host/stores/keys/key-record.ts';
import type { KeyFilters, KeyPlace, UsageQuery } from '../../host/stores/keys/key-repository.ts';
import type { StoredSession } from '../../host/stores/sessions/session-record.ts';
import { allKeys, allSessions, onEveryBackend, type OpenRepositories } from './backends.ts';

const NOON = Date.parse('2026-11-22T12:00:00.123Z');

const digest = (letter: string): string => letter.repeat(64);

function aKey(id: string, more: Partial<StoredKey> = {}): StoredKey {
  return {
    id,
    digest: digest(id),
    display: 'gw_01234...',
    name: `key ${id}`,
    scopes: ['read_only'],
    createdAt: NOON,
    usageCount: 0,
    active: true,
    limits: {},
    ...more,
  };
}

/** By one digest. */
const foundIn = async <T>(
  repository: { findAll(digests: readonly string[]): Promise<readonly T[]> },
  one: string,
): Promise<T | undefined> => (await repository.findAll([one]))[0];

/** As a repository gives it back: what is absent is absent, whatever it is absent as. */
function plain(value: object | undefined): object | undefined {
  return value && (JSON.parse(JSON.stringify(value)) as object);
}

/** Texts that databases, headers and terminals give a meaning to. */
const TEXTS = [
  `Robert'); DROP TABLE api_keys;--`,
  `" OR 1=1 --`,
  '%_\\',
  '$1 ? ?? :name',
  'a\r\nSet-Cookie: x=1',
  'ｇｗ_key',
  'аdmin',
  '\u202eevil',
  '👩‍🚀',
  '\ufeff',
  'x'.repeat(10_000),
];

function keyTests(open: OpenRepositories): void {
  describe('the repository of keys', () => {
    it('gives back what it was given, every member of it', async () => {
      const { keys } = await open();
      const full = aKey('a', {
        scopes: ['admin', 'read_only', 'admin'],
        revokedAt: NOON + 1,
        expiresAt: NOON + 2,
        rotatedAt: NOON + 3,
        active: false,
        sessionsFrom: NOON + 4,
        previous: { digest: digest('p'), until: NOON + 5 },
        limits: {
          models: ['m', 'a,b'],
          providers: [],
          tags: ['ü'],
          mcp_tools: ['s/*'],
          rpm: 1,
          tpm: 9_007_199_254_740_991,
          budget_usd: 0.1,
        },
      });
      for (const key of [full, aKey('b')]) {
        await keys.insert(key);
        expect(plain(await keys.get(key.id))).to.deep.equal(plain(key));
        expect(plain(await foundIn(keys, key.digest))).to.deep.equal(plain(key));
      }
      expect((await foundIn(keys, digest('p')))?.id).to.equal('a');
      expect([await keys.get('c'), await foundIn(keys, digest('c')), await keys.get('')]).to.deep.equal([
        undefined,
        undefined,
        undefined,
      ]);
      await keys.ping();
    });

    it('keeps any text as it is', async () => {
      const { keys } = await open();
      for (const [at, name] of TEXTS.entries())
        await keys.insert(
          aKey(`${at}`, { digest: `${at}`.padStart(64, '0'), name, limits: { tags: [name], models: [name] } }),
        );
      for (const [at, name] of TEXTS.entries())
        expect(await keys.get(`${at}`)).to.deep.include({ name, limits: { tags: [name], models: [name] } });
      for (const text of TEXTS)
        expect([await keys.get(text), await foundIn(keys, text)], text.slice(0, 40)).to.deep.equal([
          undefined,
          undefined,
        ]);
      expect(await allKeys(keys)).to.have.length(TEXTS.length);
    });

    it('keeps moments of every year that can be written', async () => {
      const { keys } = await open();
      for (const [at, text] of [
        '0000-01-01T00:00:00.000Z',
        '0001-12-31T23:59:59.999Z',
        '1969-12-31T23:59:59.999Z',
        '9999-12-31T23:59:59.999Z',
      ].entries()) {
        await keys.insert(aKey(`${at}`, { expiresAt: Date.parse(text) }));
        expect(new Date((await keys.get(`${at}`))?.expiresAt ?? 0).toISOString()).to.equal(text);
      }
    });

    it('changes all of a key or nothing', async () => {
      const { keys } = await open();
      await keys.insert(aKey('a', { expiresAt: NOON, previous: { digest: digest('p'), until: NOON } }));
      const changed = await keys.change('a', {
        apply: (key) => key && { ...key, name: 'new', digest: digest('n'), previous: undefined, expiresAt: undefined },
      });
      expect(plain(changed)).to.deep.equal(plain(aKey('a', { name: 'new', digest: digest('n') })));
      expect(plain(await keys.get('a'))).to.deep.equal(plain(changed));
      expect([
        await foundIn(keys, digest('a')),
        await foundIn(keys, digest('p')),
        (await foundIn(keys, digest('n')))?.id,
      ]).to.deep.equal([undefined, undefined, 'a']);
      const refusal = new GatewayError('last_admin_key', 'no');
      const thrown = await keys
        .change('a', {
          apply: () => {
            throw refusal;
          },
        })
        .catch((error: unknown) => error);
      expect(thrown).to.equal(refusal);
      expect(plain(await keys.get('a'))).to.deep.equal(plain(changed));
      expect(await keys.change('a', { apply: () => undefined })).to.equal(undefined);
      expect([await keys.get('a'), await foundIn(keys, digest('n'))]).to.deep.equal([undefined, undefined]);
    });

    it('shows a change of a key that is not there, and keeps nothing of it', async () => {
      const { keys } = await open();
      const seen: unknown[] = [];
      expect(
        await keys.change('x', {
          apply: (key) => {
            seen.push(key);
            return undefined;
          },
        }),
      ).to.equal(undefined);
      expect([seen, await allKeys(keys)]).to.deep.equal([[undefined], []]);
    });

    it('counts the keys that can administer as the rules have it', async () => {
      const { keys } = await open();
      const all = [
        aKey('a', { scopes: ['admin'] }),
        aKey('b', { scopes: ['read_only', 'admin'] }),
        aKey('c', { scopes: ['admin', 'admin'] }),
        aKey('d', {
          scopes: ['superadmin' as 'admin', 'admin_read' as 'admin', 'Admin' as 'admin', '\\"admin\\"' as 'admin'],
        }),
        aKey('e', { scopes: ['admin'], active: false }),
        aKey('f', { scopes: ['admin'], revokedAt: NOON }),
        aKey('g', { scopes: ['admin'], expiresAt: NOON - 1 }),
        aKey('h', { scopes: ['admin'], expiresAt: NOON }),
        aKey('i', { scopes: [] }),
      ];
      for (const key of all) await keys.insert(key);
      let counted = 0;
      await keys.change('a', {
        countAt: NOON,
        apply: (key, admins) => {
          counted = admins;
          return key;
        },
      });
      expect(counted).to.equal(4);
      expect(all.filter((key) => isUsableAdmin(key, NOON)).length).to.equal(4);
    });

    it('lets one transaction of several decide at a time', async () => {
      const { keys } = await open();
      const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
      for (const id of ids) await keys.insert(aKey(id, { scopes: ['admin'] }));
      const ends = await Promise.allSettled(
        ids.map((id) =>
          keys.change(id, {
            countAt: NOON,
            apply: (key, admins) => {
              if (admins <= 1) throw new GatewayError('last_admin_key', 'no');
              return key && { ...key, active: false };
            },
          }),
        ),
      );
      expect(ends.filter(({ status }) => status === 'fulfilled')).to.have.length(7);
      expect((await allKeys(keys)).filter(({ active }) => active)).to.have.length(1);
    });

    it('adds uses to what is there, and nothing else touches them', async () => {
      const { keys } = await open();
      for (const id of ['a', 'b', 'c']) await keys.insert(aKey(id));
      await keys.addUses([
        { id: 'a', count: 2, at: NOON + 5 },
        { id: 'gone', count: 1, at: NOON },
        { id: 'b', count: 1, at: NOON },
      ]);
      await Promise.all([
        keys.addUses([{ id: 'a', count: 3, at: NOON + 1 }]),
        keys.change('a', { apply: (key) => key && { ...key, name: 'n', usageCount: 0, lastUsedAt: undefined } }),
      ]);
      expect(await keys.get('a')).to.deep.include({ name: 'n', usageCount: 5, lastUsedAt: NOON + 5 });
      expect(await keys.get('b')).to.deep.include({ usageCount: 1, lastUsedAt: NOON });
      expect((await keys.get('c'))?.lastUsedAt).to.equal(undefined);
      await keys.addUses(
        Array.from({ length: 1000 }, (_, at) => ({ id: at === 999 ? 'c' : `x${at}`, count: 2 ** 31, at: NOON })),
      );
      expect((await keys.get('c'))?.usageCount).to.equal(2 ** 31);
    });

    it('lists the newest first, then by id', async () => {
      const { keys } = await open();
      for (const [id, createdAt] of [
        ['b', NOON],
        ['a', NOON + 1],
        ['d', NOON],
        ['c', NOON],
      ] as const)
        await keys.insert(aKey(id, { createdAt }));
      expect((await allKeys(keys)).map(({ id }) => id)).to.deep.equal(['a', 'd', 'c', 'b']);
    });

    it('lists page after page, each behind the last key of the one before, also where that is gone meanwhile', async () => {
      const { keys } = await open();
      const ids = 'gfedcba'.split('');
      for (const [at, id] of ids.entries()) await keys.insert(aKey(id, { createdAt: NOON - (at >> 1) }));
      const order = 'gfedcba'.split('');
      const pages: string[][] = [];
      let place: KeyPlace | undefined;
      do {
        const { keys: page, next } = await keys.page({}, 3, place);
        pages.push(page.map(({ id }) => id));
        place = next;
        if (place) await keys.change(place.id, { apply: () => undefined });
      } while (place);
      expect(pages).to.deep.equal([order.slice(0, 3), order.slice(3, 6), order.slice(6)]);
      expect((await keys.page({}, 4)).next, 'as many as there are left').not.to.equal(undefined);
      expect([(await keys.page({}, 5)).next, await keys.placeOf('e'), await keys.count({})]).to.deep.equal([
        undefined,
        undefined,
        5,
      ]);
      const behind = await keys.page({}, 9, await keys.placeOf('f'));
      expect(behind.keys.map(({ id }) => id)).to.deep.equal(['d', 'c', 'a']);
    });

    it('finds keys by part of their name, whatever the case of A to Z, and by their ids', async () => {
      const { keys } = await open();
      const names = ['Billing EU', 'billing us', '50%_off\\', 'Ärger', 'ärger', 'x'];
      for (const [at, name] of names.entries()) await keys.insert(aKey('abcdef'.charAt(at), { name }));
      const found = async (filters: KeyFilters): Promise<string> => {
        const { keys: page } = await keys.page(filters, 9);
        expect(await keys.count(filters)).to.equal(page.length);
        return page.map(({ id }) => id).join('');
      };
      for (const [name, ids] of [
        ['BILLING', 'ba'],
        ['g e', 'a'],
        ['%', 'c'],
        ['_', 'c'],
        ['\\', 'c'],
        ['ärger', 'e'],
        ['ÄRGER', 'd'],
        ["' OR '1'='1", ''],
      ] as const)
        expect(await found({ name }), name).to.equal(ids);
      expect(await found({ ids: ['f', 'a', 'gone', 'a'] })).to.equal('fa');
      expect(await found({ ids: ['f', 'a'], name: 'bill' })).to.equal('a');
      expect(await found({ ids: [] })).to.equal('');
    });

    it('sums up all keys: an expiry that is now has not passed, and a revoked key may have expired too', async () => {
      const { keys } = await open();
      expect(await keys.totals(1000)).to.deep.equal({ total: 0, active: 0, expired: 0, uses: 0 });
      for (const more of [
        {},
        { expiresAt: 999 },
        { expiresAt: 1000 },
        { expiresAt: 5, active: false, revokedAt: 7 },
        { active: false },
      ].map((each, at) => aKey('abcde'.charAt(at), each)))
        await keys.insert(more);
      await keys.addUses(['a', 'e'].map((id) => ({ id, count: 4, at: 10 })));
      expect(await keys.totals(1000)).to.deep.equal({ total: 5, active: 3, expired: 2, uses: 8 });
    });

    describe('as a page of usage', () => {
      const rows: readonly (readonly [id: string, more: Partial<StoredKey>])[] = [
        ['a', { usageCount: 5, lastUsedAt: NOON + 10 }],
        ['b', { usageCount: 5, lastUsedAt: NOON + 20 }],
        ['c', { usageCount: 5 }],
        ['d', { usageCount: 9, lastUsedAt: NOON, active: false }],
        ['e', { usageCount: 0, createdAt: NOON + 1 }],
        ['f', { usageCount: 0 }],
        ['g', { usageCount: 1, lastUsedAt: NOON + 20 }],
      ];
      const PAGE: UsageQuery = { sort: 'usage', limit: 100, offset: 0 };

      async function page(query: Partial<UsageQuery>): Promise<unknown[]> {
        const { keys } = await open();
        for (const [id, { usageCount = 0, lastUsedAt, ...more }] of rows) {
          await keys.insert(aKey(id, more));
          if (usageCount > 0)
            await keys.addUses(
              [{ id, count: usageCount, at: lastUsedAt ?? Number.NaN }].filter(({ at }) => !Number.isNaN(at)),
            );
        }
        const found = await keys.usage({ ...PAGE, ...query });
        return [found.keys.map(({ id }) => id).join(''), found.totalKeys, found.activeKeys, found.totalUsage];
      }

      const cases: readonly (readonly [query: Partial<UsageQuery>, expected: unknown[]])[] = [
        [{}, ['dbagefc', 7, 6, 20]],
        [{ sort: 'last_used' }, ['bgadefc', 7, 6, 20]],
        [{ limit: 2 }, ['db', 7, 6, 20]],
        [{ limit: 2, offset: 2 }, ['ag', 7, 6, 20]],
        [{ offset: 100 }, ['', 7, 6, 20]],
        [{ active: true }, ['bagefc', 6, 6, 11]],
        [{ active: false }, ['d', 1, 0, 9]],
        [{ since: NOON + 20 }, ['bg', 2, 2, 6]],
        [{ since: NOON + 11, active: false }, ['', 0, 0, 0]],
      ];
      for (const [query, expected] of cases)
        it(`answers ${JSON.stringify(query)}`, async () => {
          expect(await page(query)).to.deep.equal(expected);
        });
    });
  });
}

function sessionTests(open: OpenRepositories): void {
  const aSession = (id: string, more: Partial<StoredSession> = {}): StoredSession => ({
    id,
    digest: digest(id),
    subject: 'ada',
    credentialId: 'k',
    scopes: ['admin'],
    createdAt: NOON,
    expiresAt: NOON + 1000,
    ...more,
  });

  describe('the repository of sessions', () => {
    it('gives back what it was given, and finds it by its digest alone', async () => {
      const { sessions } = await open();
      for (const session of [
        aSession('a'),
        aSession('b', { subject: TEXTS.join(), lastSeenAt: NOON + 7, scopes: [] }),
      ]) {
        await sessions.insert(session);
        expect(plain(await foundIn(sessions, session.digest))).to.deep.equal(plain(session));
      }
      expect(await foundIn(sessions, 'a')).to.equal(undefined);
      await sessions.ping();
    });

    it('lists the newest first, then by id', async () => {
      const { sessions } = await open();
      for (const [id, createdAt] of [
        ['b', NOON],
        ['a', NOON + 1],
        ['c', NOON],
      ] as const)
        await sessions.insert(aSession(id, { createdAt }));
      expect((await allSessions(sessions)).map(({ id }) => id)).to.deep.equal(['a', 'c', 'b']);
    });

    it('lists page after page, and knows the newest of a credential', async () => {
      const { sessions } = await open();
      for (const [at, id] of 'dcba'.split('').entries())
        await sessions.insert(aSession(id, { createdAt: NOON - (at >> 1), credentialId: at === 3 ? 'other' : 'one' }));
      const first = await sessions.page(3);
      const second = await sessions.page(3, first.next);
      expect([first, second].map(({ sessions: page }) => page.map(({ id }) => id).join(''))).to.deep.equal([
        'dcb',
        'a',
      ]);
      expect([second.next, await sessions.placeOf('gone')]).to.deep.equal([undefined, undefined]);
      await sessions.delete('b');
      expect((await sessions.page(3, await sessions.placeOf('c'))).sessions.map(({ id }) => id)).to.deep.equal(['a']);
      expect([
        await sessions.newestOf('other'),
        await sessions.newestOf('one'),
        await sessions.newestOf('x'),
      ]).to.deep.equal([NOON - 1, NOON, undefined]);
    });

    it('touches forwards only', async () => {
      const { sessions } = await open();
      await sessions.insert(aSession('a'));
      for (const at of [NOON + 5, NOON + 3]) await sessions.touch('a', at);
      await sessions.touch('gone', NOON);
      expect((await foundIn(sessions, digest('a')))?.lastSeenAt).to.equal(NOON + 5);
    });

    it('ends one, or all of them', async () => {
      const { sessions } = await open();
      for (const id of ['a', 'b', 'c']) await sessions.insert(aSession(id));
      expect([
        await sessions.delete('a'),
        await sessions.delete('a'),
        await sessions.delete(`' OR '1'='1`),
        await foundIn(sessions, digest('a')),
      ]).to.deep.equal([true, false, false, undefined]);
      expect([await sessions.deleteAll(), await sessions.deleteAll(), await allSessions(sessions)]).to.deep.equal([
        2,
        0,
        [],
      ]);
    });

    it('sweeps what is over by either bound, at its very moment, and no more than it is to', async () => {
      const { sessions } = await open();
      const now = Date.now(); // a shared database goes by its own clock
      const all: readonly (readonly [string, Partial<StoredSession>])[] = [
        ['a', { createdAt: now, expiresAt: now }],
        ['b', { createdAt: now, expiresAt: now + 60_000 }],
        ['c', { createdAt: now - 600_000, expiresAt: now + 60_000 }],
        ['d', { createdAt: now - 900_000, expiresAt: now + 60_000, lastSeenAt: now - 500_000 }],
        ['e', { createdAt: now - 900_000, expiresAt: now + 60_000, lastSeenAt: now - 600_000 }],
      ];
      for (const [id, more] of all) await sessions.insert(aSession(id, more));
      const swept = [await sessions.sweep(now, 600_000, 2), await sessions.sweep(now, 600_000, 2)];
      expect(swept).to.deep.equal([2, 1]);
      expect((await allSessions(sessions)).map(({ id }) => id).toSorted()).to.deep.equal(['b', 'd']);
    });
  });
}

function auditTests(open: OpenRepositories): void {
  describe('the repository of the audit trail', () => {
    const entry = (action: string, more: object = {}) => ({
      occurredAt: NOON,
      action,
      actor: 'ada (k)',
      outcome: 'ok' as const,
      ...more,
    });

    it('gives back what it was given, the newest first, and of one moment the last', async () => {
      const { audit } = await open();
      const full = entry('full', {
        occurredAt: NOON + 9,
        actorId: 'k',
        targetId: `' ; --`,
        outcome: 'denied',
        detail: '{"reason":"x"}',
        sourceIp: '::1',
        traceId: digest('0').slice(0, 32),
        changes: '[{"field":"a","before":null,"after":1}]',
        configVersion: 7,
      });
      await audit.append([entry('1'), full, entry('2')]);
      await audit.append([entry('3')]);
      const { entries, total } = await audit.list({ limit: 10, offset: 0 });
      expect(
        entries.map(({ id }) => Number(id)).toSorted((a, b) => b - a),
        'each its own',
      ).to.have.lengthOf(new Set(entries.map(({ id }) => id)).size);
      expect(plain(entries.map(({ id: _id, ...entry }) => entry))).to.deep.equal(
        plain([full, entry('3'), entry('2'), entry('1')]),
      );
      expect(total).to.equal(4);
      expect((await audit.list({ limit: 2, offset: 1 })).entries.map(({ action }) => action)).to.deep.equal(['3', '2']);
      expect(await audit.list({ limit: 2, offset: 9 })).to.deep.equal({ entries: [], total: 4 });
      await audit.ping();
    });

    it('filters exactly', async () => {
      const { audit } = await open();
      await audit.append([
        entry('key.create', { actorId: 'a' }),
        entry('key.delete', { actorId: 'a', outcome: 'error' }),
        entry('key.create', { actorId: 'b', occurredAt: NOON + 1 }),
        entry('key.create'),
      ]);
      const found = async (query: object): Promise<number> =>
        (await audit.list({ limit: 10, offset: 0, ...query })).total;
      expect(
        await Promise.all([
          found({ action: 'key.create' }),
          found({ action: 'key%' }),
          found({ actorId: 'a' }),
          found({ outcome: 'error' }),
          found({ since: NOON + 1 }),
          found({ since: NOON + 2 }),
          found({ until: NOON + 1 }),
          found({ targetId: 'none' }),
          found({ action: 'key.create', actorId: 'a', outcome: 'ok', since: NOON }),
        ]),
      ).to.deep.equal([3, 0, 2, 1, 1, 0, 3, 0, 1]);
    });
  });
}

onEveryBackend((open) => {
  keyTests(open);
  sessionTests(open);
  auditTests(open);
});

describe('a record', () => {
  it('has nothing that only repositories need', () => {
    expect(
      Object.keys(recordOf(aKey('a', { previous: { digest: 'x', until: 1 }, sessionsFrom: 1 }), 2)).toSorted(),
    ).to.deep.equal(['active', 'createdAt', 'display', 'id', 'limits', 'name', 'scopes', 'usageCount']);
  });
});
