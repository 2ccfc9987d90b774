import { expect } from 'chai';
import { createApp } from '../../host/http/app.ts';
import { createHttpServer, listen } from '../../host/http/server.ts';
import { createRouter } from '../../host/http/router.ts';
import type { Host } from '../../host/host.ts';
import { atEnd, fakeClock, type FakeClock, MASTER_KEY, some, startHost } from '../kit/index.ts';
import { identityId } from '../../builtins/identity/issuer.ts';
import { issuerConfig, makeKey, stubIssuer, type StubIssuer, withIssuers } from '../identity/issuer.ts';
import { type Needs, NEEDS, OTHER_PATHS, ROUTES } from './route-access.ts';

const HOUR = 3_600_000;

interface Doors {
  readonly host: Host;
  readonly clock: FakeClock;
  readonly issuer: StubIssuer;
  readonly lines: () => string;
  readonly data: string;
  readonly admin: string;
}

/** One gateway behind two listeners. */
async function openDoors(): Promise<Doors> {
  const clock = fakeClock();
  const issuer = await stubIssuer(clock.now);
  const { host, texts } = await startHost(withIssuers(issuerConfig(issuer, { sign_in: { client_id: 'client' } })), {
    clock,
    variables: { ENABLE_PPROF: 'true' },
  });
  const app = createApp(host);
  const urlOf = async (listener: 'data' | 'admin'): Promise<string> => {
    const server = createHttpServer(app.of(listener), host);
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${await listen(server, '0', { address: '127.0.0.1' })}`;
  };
  return { host, clock, issuer, lines: () => texts.join(''), data: await urlOf('data'), admin: await urlOf('admin') };
}

interface Mounted {
  readonly method: string;
  readonly path: string;
}

/** Every method of every route of the router; one that takes the methods that are left is passed over. */
function mounted(host: Host): readonly Mounted[] {
  const router = createRouter({ caseSensitive: true, strict: true });
  host.hooks.mount.call(router, host);
  return router.stack.flatMap(({ route }): readonly Mounted[] => {
    if (!route) return [];
    const methods = new Set(route.stack.map(({ method }) => method?.toUpperCase() ?? 'ANY'));
    if (methods.size > 1) methods.delete('ANY');
    return [...methods].map((method) => ({ method, path: route.path.replaceAll('\\', '') }));
  });
}

/** With something for each parameter. */
const filled = (path: string): string =>
  path
    .replaceAll(/[:*](?!generate|stream|count|embed|batch)\w+/g, '1')
    .replaceAll(/[{}]/g, '')
    .replace(/profile$/, '$&?seconds=x');

/** What a credential is worth: `live` with what it may do, or nothing any more. */
interface Credential {
  readonly value: string;
  /** `nothing`: an issuer vouches for it, and no rule gives it anything. */
  readonly may: 'admin' | 'read' | 'infer' | 'nothing' | undefined;
  /** Nothing that a session is made of. */
  readonly isSession?: boolean;
}

/** A session of a person with these groups. */
async function personOf({ host, issuer, clock }: Doors, groups: string, blockedAt?: number): Promise<string> {
  const { identities, sessions } = host.stores;
  const subject = `${groups} ${blockedAt}`;
  const id = identityId(issuer.url, subject);
  const record = { id, issuerUrl: issuer.url, issuer: 'corp', subject, name: 'p', firstSeenAt: clock.now(), blockedAt };
  await identities.change(id, () => ({ ...record, claims: { groups } }));
  return (await sessions.create({ credentialId: id, subject: 'p', scopes: ['admin'] })).token;
}

/** Every kind of credential that there is, each also in every way in which it may have ended. */
async function credentialsOf(doors: Doors): Promise<Readonly<Record<string, Credential>>> {
  const { host, clock, issuer } = doors;
  const { keys, principals } = host.stores;
  const make = (scopes: readonly ('admin' | 'read_only')[], more: object = {}) =>
    keys.create({ name: 'k', scopes, ...more });
  const signIn = async (id: string, scopes: readonly ('admin' | 'read_only')[]) =>
    principals.sessions.create({ credentialId: id, subject: 'k', scopes });
  const [admin, reader, inference, spare] = [
    await make(['admin']),
    await make(['read_only']),
    await make([]),
    await make(['admin']),
  ];
  const old = await signIn(spare.record.id, ['admin']);
  clock.advance(25 * HOUR);
  const account = { limits: { account: '/acme' } };
  const [ofAccount, readerOfAccount] = [await make([], account), await make(['read_only'], account)];
  const [revoked, deleted, rotated, graced, expired] = [
    await make(['admin']),
    await make(['admin']),
    await make(['admin']),
    await make(['admin']),
    await make(['admin'], { expiresAt: clock.now() - 1 }),
  ];
  const ofRevoked = await signIn(revoked.record.id, ['admin']);
  await keys.revoke(revoked.record.id, spare.record.id);
  await keys.delete(deleted.record.id, spare.record.id);
  await keys.rotate(rotated.record.id);
  await keys.rotate(graced.record.id, { graceMs: HOUR });
  const narrowed = await make(['admin']);
  const ofNarrowed = await signIn(narrowed.record.id, ['admin']);
  await keys.update(narrowed.record.id, { scopes: ['read_only'], access: 'inference' }, spare.record.id);
  const ended = await signIn(admin.record.id, ['admin']);
  await principals.sessions.delete(ended.session.id);
  const adminSession = await signIn(admin.record.id, ['admin']);
  const readerSession = await signIn(reader.record.id, ['read_only']);
  const gone = undefined;
  return {
    master: { value: MASTER_KEY, may: 'admin' },
    'an admin key': { value: admin.key, may: 'admin' },
    'the value before, in its grace': { value: graced.key, may: 'admin' },
    'a key that reads': { value: reader.key, may: 'read' },
    'a key that reads, of an account': { value: readerOfAccount.key, may: 'read' },
    'a key for inference': { value: inference.key, may: 'infer' },
    'a key for inference, of an account': { value: ofAccount.key, may: 'infer' },
    'a key that became one for inference': { value: narrowed.key, may: 'infer' },
    'a session of an administrator': { value: adminSession.token, may: 'admin', isSession: true },
    'a session of a person': { value: await personOf(doors, 'admins'), may: 'admin', isSession: true },
    'a session of a person who reads': { value: await personOf(doors, 'viewers'), may: 'read', isSession: true },
    'a session of a person whom no rule knows': { value: await personOf(doors, 'others'), may: gone },
    'a session of a person who is blocked': { value: await personOf(doors, 'admins', clock.now()), may: gone },
    'a session of a reader': { value: readerSession.token, may: 'read', isSession: true },
    nothing: { value: '', may: gone },
    'an unknown key': { value: `gw_${'0'.repeat(64)}`, may: gone },
    'an unknown session': { value: `gws_${'0'.repeat(64)}`, may: gone },
    'a revoked key': { value: revoked.key, may: gone },
    'a deleted key': { value: deleted.key, may: gone },
    'an expired key': { value: expired.key, may: gone },
    'a value that was replaced': { value: rotated.key, may: gone },
    'a session that was ended': { value: ended.token, may: gone },
    'a session that has timed out': { value: old.token, may: gone },
    'a session of a revoked key': { value: ofRevoked.token, may: gone },
    'a session of a key that became one for inference': { value: ofNarrowed.token, may: gone },
    ...(await tokensOf(issuer, clock)),
  };
}

/** Tokens of an issuer, by what its rules make of them. */
async function tokensOf(issuer: StubIssuer, clock: FakeClock): Promise<Readonly<Record<string, Credential>>> {
  const now = Math.floor(clock.now() / 1000);
  const made = async (
    may: Credential['may'],
    claims: object,
    more: Parameters<StubIssuer['token']>[1] = {},
  ): Promise<Credential> => ({ value: await issuer.token(claims, more), may, isSession: true });
  return {
    'a token of an administrator': await made('admin', { sub: 'a', groups: 'admins' }),
    'a token of a reader': await made('read', { sub: 'b', groups: 'viewers' }),
    'a token for inference, of an account': await made('infer', { sub: 'c', groups: 'team-search' }),
    'a token that no rule gives anything': await made('nothing', { sub: 'd', groups: 'guests' }),
    'an expired token': await made(undefined, { groups: 'admins', exp: now - 60, iat: now - 120 }),
    'a token for another service': await made(undefined, { groups: 'admins', aud: 'other' }),
    'a token that was signed by others': await made(undefined, { groups: 'admins' }, { key: await makeKey() }),
  };
}

/** The status that the table promises. `undefined`: the credential is let through, and the route has its say. */
function refusalOf(needs: Needs, { may, isSession }: Credential): number | undefined {
  if (needs === 'nothing') return undefined;
  if (needs === 'a key to sign in with')
    return may === undefined || isSession === true ? 401 : may === 'infer' ? 403 : undefined;
  if (may === undefined) return 401;
  if (may === 'nothing') return 403;
  if (needs === 'any credential') return undefined;
  if (may === 'infer') return 403;
  return needs === 'admin' && may !== 'admin' ? 403 : undefined;
}

describe('who may call which route', () => {
  it('is written in one table, of every route that is mounted and no other', async () => {
    const { host } = await openDoors();
    const routes = mounted(host).map(({ method, path }) => `${method} ${path}`);
    expect(
      routes.filter((route) => !Object.hasOwn(ROUTES, route)),
      'routes without a row',
    ).to.deep.equal([]);
    expect(
      Object.keys(ROUTES).filter((row) => !routes.includes(row)),
      'rows without a route',
    ).to.deep.equal([]);
    expect(new Set(Object.values(ROUTES).map(([needs]) => needs))).to.deep.equal(new Set(NEEDS));
  });

  it('holds for every kind of credential, whole or ended, on both listeners', async function tried() {
    this.timeout(120_000);
    const doors = await openDoors();
    const rows = [
      ...mounted(doors.host).map(({ method, path }) => ({
        method,
        path: filled(path),
        row: ROUTES[`${method} ${path}`],
      })),
      ...Object.entries(OTHER_PATHS).map(([route, row]) => {
        const [method = '', path = ''] = route.split(' ');
        return { method, path, row };
      }),
    ];
    const wrong: string[] = [];
    for (const { method, path, row } of some(rows, { every: 14 })) {
      const [needs = 'admin', plane = 'control', answered = 0] = row ?? [];
      let credentials = await credentialsOf(doors);
      for (const kind of Object.keys(credentials)) {
        if (`${method} ${path}` === 'DELETE /admin/sessions') credentials = await credentialsOf(doors); // each that may ends all
        const credential = credentials[kind]!;
        doors.clock.advance(6000); // one more try to sign in
        const asked = async (url: string) => {
          const sent = method === 'ANY' ? 'GET' : method;
          return fetch(`${url}${path}`, {
            method: sent,
            redirect: 'manual',
            headers: {
              ...(credential.value !== '' && { authorization: `Bearer ${credential.value}` }),
              ...(sent !== 'GET' && { 'content-type': 'application/json' }),
            },
            ...(sent !== 'GET' && { body: '{}' }),
          });
        };
        const what = `${method} ${path} with ${kind}`;
        const elsewhere = await asked(doors.data);
        const isElsewhere = elsewhere.status === 404 && (await elsewhere.text()) === '404 page not found';
        expect(isElsewhere, `${what} on the listener for models: ${elsewhere.status}`).to.equal(plane === 'control');
        if (plane === 'control') expect(elsewhere.headers.get('www-authenticate'), what).to.equal(null);
        const here = plane === 'control' ? await asked(doors.admin) : elsewhere;
        const expected = refusalOf(needs, credential);
        const allowed = expected === undefined ? [answered].flat() : [expected];
        if (!allowed.includes(here.status)) wrong.push(`${what}: ${here.status}, not ${allowed.join(' or ')}`);
        if (expected === 403 && plane === 'control') {
          const { code, message } = ((await here.json()) as { error: { code: string; message: string } }).error;
          expect(code, what).to.equal('insufficient_scope');
          if (credential.may === 'infer') expect(message, what).to.equal('this key is for inference only');
        }
        if (plane === 'data' && method !== 'DELETE') {
          const there = await asked(doors.admin);
          expect(there.status, `${what} on the other listener`).to.equal(here.status);
          await there.body?.cancel();
        }
        if (!here.bodyUsed) await here.body?.cancel();
      }
    }
    expect(wrong).to.deep.equal([]);
    expect(doors.lines()).not.to.include('gw_000').and.not.include('panic');
  });
});
