import { expect } from 'chai';
import { as, startAdmin, type AdminHost } from '../admin/kit.ts';
import { eventually, fakeClock, MASTER_KEY } from '../kit/index.ts';
import { issuerConfig, makeKey, stubIssuer, type StubIssuer, withIssuers } from './issuer.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Place {
  readonly t: AdminHost;
  readonly issuer: StubIssuer;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly status: (token: Promise<string> | string) => Promise<number>;
  /** How often keys were asked for. */
  readonly asks: () => number;
}

async function start(more: object = {}, prepare: (issuer: StubIssuer) => void = () => {}): Promise<Place> {
  const clock = fakeClock();
  const issuer = await stubIssuer(clock.now);
  prepare(issuer);
  const t = await startAdmin({ clock }, withIssuers(issuerConfig(issuer, { bearer: { audiences: ['gw'] }, ...more })));
  const status = async (token: Promise<string> | string): Promise<number> =>
    (await t.get('/v1/models', as(await token))).status;
  return { t, issuer, clock, status, asks: () => issuer.asked.filter((path) => path === '/keys').length };
}

let count = 0;
/** One that no memory has. */
const fresh = (issuer: StubIssuer, more: object = {}): Promise<string> =>
  issuer.token({ jti: `${(count += 1)}` }, more);

const away = (issuer: StubIssuer): void => {
  issuer.answering = () => ({ status: 500 });
};

const states = async (t: AdminHost): Promise<any> => (await t.get('/admin/health')).json().identity.issuers[0];

describe('keys of an issuer', () => {
  it('are read once at the start, and when they are ten minutes old and needed', async () => {
    const { issuer, clock, status, asks, t } = await start();
    expect(await status(fresh(issuer))).to.equal(200);
    expect([asks(), issuer.asked.length]).to.deep.equal([1, 2]);
    clock.advance(9 * MINUTE);
    expect([await status(fresh(issuer)), asks()]).to.deep.equal([200, 1]);
    clock.advance(MINUTE);
    expect([await status(fresh(issuer)), asks(), issuer.asked.length]).to.deep.equal([200, 2, 3]);
    clock.advance(HOUR);
    expect([await status(fresh(issuer)), asks(), issuer.asked.length]).to.deep.equal([200, 3, 5]);
    expect(await states(t)).to.deep.equal({ name: 'corp', state: 'answers', keys: 1, keys_age_seconds: 0 });
    const figures = (await t.get('/metrics')).text;
    expect(figures).to.include('gateway_identity_keys_age_seconds{issuer="corp"} 0');
  });

  it('that are new count at once, and those that were removed no longer than ten minutes', async () => {
    const { issuer, clock, status } = await start();
    expect(await status(fresh(issuer))).to.equal(200);
    const added = await makeKey('ES256', 'added');
    issuer.keys = [added.jwk];
    expect(await status(fresh(issuer, { key: added }))).to.equal(200);
    expect(await status(fresh(issuer)), 'it was removed').to.equal(401);
    issuer.keys = [issuer.key.jwk];
    clock.advance(10 * MINUTE);
    expect(await status(fresh(issuer))).to.equal(200);
    expect(await status(fresh(issuer, { key: added })), 'removed again').to.equal(401);
  });

  it('that are not known are asked for once in half a minute, also while the issuer is away', async () => {
    const { issuer, clock, status, asks } = await start();
    expect(await status(fresh(issuer))).to.equal(200);
    const flood = async (): Promise<number[]> => {
      const made = await makeKey('ES256', `made-up-${(count += 1)}`);
      return Promise.all(Array.from({ length: 40 }, () => status(fresh(issuer, { key: made }))));
    };
    expect(new Set(await flood())).to.deep.equal(new Set([401]));
    expect(new Set(await flood())).to.deep.equal(new Set([401]));
    expect(asks()).to.equal(2);
    clock.advance(30_000);
    away(issuer);
    expect(new Set(await flood())).to.deep.equal(new Set([503]));
    expect(new Set(await flood())).to.deep.equal(new Set([503]));
    expect(asks()).to.equal(3);
    expect(await status(fresh(issuer)), 'a known one').to.equal(200);
  });

  it('that are known count while the issuer is away, as long as max_stale', async () => {
    for (const [stale, until] of [
      ['1h', HOUR],
      ['0', 10 * MINUTE],
    ] as const) {
      const { issuer, clock, status, t } = await start({ max_stale: stale });
      expect(await status(fresh(issuer))).to.equal(200);
      away(issuer);
      clock.advance(until);
      expect(await status(fresh(issuer)), `${stale}, at its end`).to.equal(200);
      clock.advance(1);
      const answer = await t.get('/v1/models', as(await fresh(issuer)));
      expect([answer.status, answer.json().error.code, answer.headers.get('retry-after')]).to.deep.equal([
        503,
        'identity_unavailable',
        null,
      ]);
      expect((await states(t)).state).to.equal('away');
      issuer.answering = () => undefined;
      expect(await status(fresh(issuer)), 'within the rest').to.equal(503);
      clock.advance(30_000);
      expect(await status(fresh(issuer))).to.equal(200);
      const told = t.lines.filter(({ msg }) => String(msg).startsWith('issuer ')).map(({ msg, rule }) => [msg, rule]);
      expect(told).to.deep.equal([
        ['issuer does not answer', 'WN36'],
        ['issuer answers again', undefined],
      ]);
    }
  });

  it('of an issuer that is away from the start keep nothing else from being served', async () => {
    const { t, issuer, clock, status, asks } = await start({}, away);
    const { key } = await t.makeKey();
    expect(await status(fresh(issuer))).to.equal(503);
    expect(await status(fresh(issuer))).to.equal(503);
    expect([asks(), issuer.asked.length], 'asked once, for its metadata').to.deep.equal([0, 1]);
    expect((await t.get('/v1/models', as(key))).status).to.equal(200);
    expect((await t.get('/readyz')).status).to.equal(200);
    expect((await t.signIn(MASTER_KEY)).token).to.match(/^gws_/);
    issuer.answering = () => undefined;
    clock.advance(30_000);
    expect(await status(fresh(issuer))).to.equal(200);
  });

  it('are waited for by all who need them, with one question, and five seconds at most', async () => {
    const held = Promise.withResolvers<void>();
    const { issuer, clock, status, asks, t } = await start({}, (stub) => {
      stub.ready = held.promise;
    });
    const tokens = await Promise.all(Array.from({ length: 60 }, () => fresh(issuer)));
    let arrived = 0;
    t.server.on('request', () => (arrived += 1));
    const waiting = Promise.all(tokens.map((token) => status(token)));
    await eventually(() => arrived === 60);
    clock.advance(5000);
    expect(new Set(await waiting)).to.deep.equal(new Set([503]));
    expect(issuer.asked).to.have.length(1);
    held.resolve();
    clock.advance(30_000);
    expect(new Set(await Promise.all(tokens.map((token) => status(token))))).to.deep.equal(new Set([200]));
    expect(asks()).to.equal(1);
  });

  const refused: Readonly<Record<string, (issuer: StubIssuer) => void>> = {
    'is that of another issuer': (issuer) => {
      issuer.metadata = { issuer: 'https://other.example' };
    },
    'names keys over plain http': (issuer) => {
      issuer.metadata = { jwks_uri: 'http://keys.example/' };
    },
    'has no keys': (issuer) => {
      issuer.keys = [];
    },
    'has 101 keys': (issuer) => {
      issuer.keys = Array.from({ length: 101 }, (_, index) => ({ ...issuer.key.jwk, kid: `k${index}` }));
    },
    'has a shared secret': (issuer) => {
      issuer.keys = [{ kty: 'oct', k: 'c2VjcmV0', kid: issuer.key.kid, alg: 'HS256' }];
    },
    'has a key for another use': (issuer) => {
      issuer.keys = [{ ...issuer.key.jwk, use: 'enc' }];
    },
    'has a short key': (issuer) => {
      issuer.keys = [{ kty: 'RSA', e: 'AQAB', n: Buffer.alloc(128, 255).toString('base64url'), kid: issuer.key.kid }];
    },
    'is not JSON': (issuer) => {
      issuer.answering = () => ({ body: '<html>' });
    },
    'is too large': (issuer) => {
      issuer.answering = () => ({ body: `"${'a'.repeat(2 ** 21)}"` });
    },
    'is a redirect': (issuer) => {
      issuer.answering = () => ({ status: 302, location: '/other' });
    },
  };
  for (const [what, prepare] of Object.entries(refused))
    it(`count not where the answer ${what}`, async () => {
      const { issuer, status, t } = await start({}, prepare);
      expect(await status(fresh(issuer))).to.equal(503);
      expect(issuer.asked).to.not.include('/other');
      expect((await states(t)).state).to.be.oneOf(['refused', 'away']);
    });

  it('are found at jwks_url, where the issuer has no metadata', async () => {
    const clock = fakeClock();
    const issuer = await stubIssuer(clock.now);
    const more = { jwks_url: `${issuer.url}/keys` };
    const t = await startAdmin({ clock }, withIssuers(issuerConfig(issuer, more)));
    expect((await t.get('/v1/models', as(await issuer.token()))).status).to.equal(200);
    expect(issuer.asked).to.deep.equal(['/keys']);
  });

  it('are meant without a kid where one alone fits', async () => {
    const { issuer, status } = await start();
    expect(await status(fresh(issuer, { header: { kid: undefined } }))).to.equal(200);
    const twin = await makeKey('ES256', 'twin');
    issuer.keys = [issuer.key.jwk, twin.jwk];
    expect(await status(fresh(issuer, { key: twin }))).to.equal(200);
    expect(await status(fresh(issuer, { header: { kid: undefined } }))).to.equal(401);
  });
});
