import { expect } from 'chai';
import {
  ask,
  chatReply,
  type FakeClock,
  fakeClock,
  MASTER_KEY,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

async function limitedHost(
  variables: Record<string, string>,
): Promise<{ t: TestHost; clock: FakeClock; stub: StubUpstream }> {
  const clock = fakeClock();
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const t = await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] }, { clock, variables });
  return { t, clock, stub };
}

const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

describe('the per-address limit', () => {
  it('starts full, refuses beyond the burst and refills continuously', async () => {
    const { t, clock, stub } = await limitedHost({ RATE_LIMIT_RPS: '2', RATE_LIMIT_BURST: '3' });
    const statusAfter = async (ms: number): Promise<number> => {
      clock.advance(ms);
      return (await t.post(CHAT, ask())).status;
    };
    expect([await statusAfter(0), await statusAfter(0), await statusAfter(0), await statusAfter(0)]).to.deep.equal([
      200, 200, 200, 429,
    ]);
    expect(await statusAfter(499)).to.equal(429);
    expect(await statusAfter(1)).to.equal(200);
    expect(await statusAfter(0)).to.equal(429);
    expect([await statusAfter(60_000), await statusAfter(0), await statusAfter(0), await statusAfter(0)]).to.deep.equal(
      [200, 200, 200, 429],
    );
    expect(stub.seen).to.have.length(7);
  });

  it('answers with the envelope, before authentication, methods and paths', async () => {
    const { t } = await limitedHost({
      RATE_LIMIT_RPS: '1',
      RATE_LIMIT_BURST: '1',
      CORS_ORIGINS: 'https://app.example',
    });
    await t.get('/nowhere');
    const origin = { origin: 'https://app.example' };
    for (const [method, path, headers] of [
      ['POST', CHAT, origin],
      ['GET', CHAT, origin],
      ['GET', '/nowhere', origin],
      ['OPTIONS', CHAT, {}],
      ['GET', '/', { accept: 'text/html' }],
    ] as const) {
      const response = await fetch(t.url + path, { method, headers });
      expect(response.status, `${method} ${path}`).to.equal(429);
      expect(await response.json()).to.deep.include({
        error: {
          message: 'too many requests from this address',
          type: 'rate_limit_error',
          code: 'rate_limit_exceeded',
        },
      });
      expect(response.headers.get('retry-after')).to.equal('1');
      expect(response.headers.get('x-frame-options')).to.equal('DENY');
      expect(response.headers.get('x-request-id')).to.match(/^[0-9a-f]{32}$/);
      expect(response.headers.get('vary')).to.equal('Origin');
      if (headers === origin)
        expect(response.headers.get('access-control-allow-origin')).to.equal('https://app.example');
    }
  });

  it('says how long the refill takes, in whole seconds', async () => {
    const { t, clock } = await limitedHost({ RATE_LIMIT_RPS: '0.1', RATE_LIMIT_BURST: '1' });
    const retryAfter = async (): Promise<string | null> => (await t.get('/nowhere')).headers.get('retry-after');
    expect(await retryAfter()).to.equal(null);
    expect(await retryAfter()).to.equal('10');
    clock.advance(3500);
    expect(await retryAfter()).to.equal('7');
    clock.advance(6499);
    expect(await retryAfter()).to.equal('1');
    clock.advance(1);
    expect(await retryAfter()).to.equal(null);
  });

  it('costs nothing for preflights and probes', async () => {
    const { t } = await limitedHost({ RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '1' });
    for (let round = 0; round < 3; round += 1) {
      expect(
        (await fetch(t.url + CHAT, { method: 'OPTIONS', headers: { origin: 'https://app.example' } })).status,
      ).to.equal(204);
      expect((await t.get('/readyz')).status).to.equal(200);
    }
    expect((await t.post(CHAT, ask())).status).to.equal(200);
    expect((await t.post(CHAT, ask())).status).to.equal(429);
    expect(
      (await fetch(t.url + CHAT, { method: 'OPTIONS', headers: { origin: 'https://app.example' } })).status,
    ).to.equal(204);
  });

  it('counts each address by itself, and an IPv6 network of 64 bits as one', async () => {
    const { t } = await limitedHost({ RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '1' });
    const status = async (address: string): Promise<number> => (await t.get('/nowhere', from(address))).status;
    expect(await status('203.0.113.1')).to.equal(404);
    expect(await status('203.0.113.1:999')).to.equal(429);
    expect(await status('203.0.113.2')).to.equal(404);
    expect(await status('2001:db8:0:1::1')).to.equal(404);
    expect(await status('2001:DB8:0:1:ffff:ffff:ffff:ffff')).to.equal(429);
    expect(await status('[2001:db8:0:1::7]:80')).to.equal(429);
    expect(await status('2001:db8:0:2::1')).to.equal(404);
    expect(await status('::ffff:203.0.113.1')).to.equal(429);
  });

  it('counts an untrusted client by its connection, not by the address it claims', async () => {
    const { t } = await limitedHost({ RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '1', TRUSTED_PROXIES: '10.0.0.0/8' });
    expect((await t.get('/nowhere', from('203.0.113.1'))).status).to.equal(404);
    expect((await t.get('/nowhere', from('203.0.113.2'))).status).to.equal(429);
  });

  it('is counted and logged', async () => {
    const { t } = await limitedHost({ RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '1' });
    for (let round = 0; round < 3; round += 1) await t.get('/nowhere');
    const rejections = t.samples.filter(({ name }) => name === 'gateway_rate_limit_rejections_total');
    expect(rejections.map(({ labels, value }) => ({ labels, value }))).to.deep.equal(
      Array.from({ length: 2 }, () => ({ labels: { key_type: 'ip' }, value: 1 })),
    );
    const levels = t.lines.filter(({ msg }) => msg === 'http request').map(({ level, status }) => `${level} ${status}`);
    expect(levels).to.deep.equal(['WARN 404', 'WARN 429', 'WARN 429']);
  });

  it('takes the rate as the burst when that is 0, and at least one request', async () => {
    const { t } = await limitedHost({ RATE_LIMIT_RPS: '0.5', RATE_LIMIT_BURST: '0' });
    expect((await t.get('/nowhere')).status).to.equal(404);
    expect((await t.get('/nowhere')).headers.get('retry-after')).to.equal('2');
  });

  it('lets everything through when it is off', async () => {
    const { t } = await limitedHost({ RATE_LIMIT_RPS: '0', RATE_LIMIT_BURST: '1' });
    for (let round = 0; round < 60; round += 1)
      expect((await t.get('/nowhere', { authorization: `Bearer ${MASTER_KEY}` })).status).to.equal(404);
  });
});
