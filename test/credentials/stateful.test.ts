import { expect } from 'chai';
import { fakeClock } from '../kit/index.ts';
import {
  BAD_KEY,
  FORBIDDEN,
  NO_CREDIT,
  type PoolOptions,
  providerOf,
  RATE,
  startPool,
  variablesOf,
  vendorOf,
} from './vendor.ts';

const OK = { status: 200, body: { id: 'resp_1', object: 'response', output: [] } };
const SEALED = [
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAsealed' },
  { type: 'message', role: 'user', content: 'go on' },
];
const ask = (more: object = {}): object => ({ model: 'm', input: 'hi', store: false, ...more });

const STORED: readonly (readonly [name: string, path: string, body: object | undefined])[] = [
  ['a stored response', '/v1/responses', { model: 'm', input: 'hi' }],
  ['previous_response_id', '/v1/responses', ask({ previous_response_id: 'resp_1' })],
  ['a conversation', '/v1/responses', ask({ conversation: 'conv_1' })],
  ['one that runs on', '/v1/responses', ask({ background: true })],
  ['an item by its id', '/v1/responses', ask({ input: [{ type: 'item_reference', id: 'msg_1' }] })],
  ['a response by its id', '/v1/responses/resp_1', undefined],
  ['files', '/v1/files', undefined],
  ['batches', '/v1/batches', undefined],
];

const CONFIG = {
  config: { batch_target: 'acme', responses_target: 'acme' },
} satisfies PoolOptions;

describe('what a vendor keeps', () => {
  for (const [name, path, body] of STORED)
    it(`belongs to the vendor account of the first entry: ${name}`, async () => {
      const vendor = await vendorOf(() => OK);
      const t = await startPool(vendor, ['a', 'b', 'c'], {
        ...CONFIG,
        credentials: { b: { weight: 1000 }, c: { weight: 1000 } },
      });
      for (let at = 0; at < 5; at += 1)
        expect((await t.request(body ? 'POST' : 'GET', path, body)).status, path).to.equal(200);
      expect(new Set(vendor.keys)).to.deep.equal(new Set(['a']));
      const u = await startPool(vendor, ['b', 'a', 'c'], { ...CONFIG, credentials: { a: { weight: 1000 } } });
      vendor.keys.length = 0;
      await u.request(body ? 'POST' : 'GET', path, body);
      expect(vendor.keys, 'another order').to.deep.equal(['b']);
    });

  it('is asked for with any credential of that account, and with none of another', async () => {
    const vendor = await vendorOf(() => OK);
    const t = await startPool(vendor, ['a', 'b', 'c'], {
      ...CONFIG,
      credentials: { a: { vendor_account: 'one' }, b: { vendor_account: 'one' }, c: { weight: 1000 } },
    });
    for (let at = 0; at < 40; at += 1) await t.post('/v1/responses', { model: 'm', input: 'hi' });
    expect(new Set(vendor.keys)).to.deep.equal(new Set(['a', 'b']));
    vendor.answers = () => BAD_KEY;
    vendor.keys.length = 0;
    const t2 = await startPool(vendor, ['a', 'b'], CONFIG);
    await t2.post('/v1/responses', { model: 'm', input: 'hi' });
    const answer = await t2.post('/v1/responses', { model: 'm', input: 'hi' });
    expect([answer.status, answer.json().error.message]).to.deep.equal([503, 'acme has no usable credential']);
    expect(vendor.keys).to.deep.equal(['a']);
  });

  it('spreads over all of them what is not stored', async () => {
    const vendor = await vendorOf(() => OK);
    const t = await startPool(vendor, ['a', 'b', 'c']);
    for (let at = 0; at < 40; at += 1) await t.post('/v1/responses', ask());
    expect(new Set(vendor.keys)).to.deep.equal(new Set(['a', 'b', 'c']));
  });
});

describe('requests that go on as they are', () => {
  it('change no state by a 401 or 403, except POST /v1/responses by a 401', async () => {
    for (const refusal of [BAD_KEY, FORBIDDEN, NO_CREDIT, RATE]) {
      const vendor = await vendorOf(() => refusal);
      const t = await startPool(vendor, ['a']);
      for (let at = 0; at < 3; at += 1) await t.post('/v1/anything', {}, { 'x-provider': 'acme' });
      expect(vendor.keys).to.have.lengthOf(3);
      expect(t.lines.filter(({ msg }) => String(msg).startsWith('credential'))).to.deep.equal([]);
    }
    const vendor = await vendorOf(() => BAD_KEY);
    const t = await startPool(vendor, ['a', 'b'], { random: () => 0 });
    expect((await t.post('/v1/responses', ask())).status).to.equal(401);
    await t.post('/v1/responses', ask());
    expect(vendor.keys).to.deep.equal(['a', 'b']);
  });

  it('leave a credential that has served within the last minute', async () => {
    const clock = fakeClock();
    const vendor = await vendorOf(() => OK);
    const t = await startPool(vendor, ['a'], { clock });
    await t.post('/v1/responses', ask());
    vendor.answers = () => BAD_KEY;
    clock.advance(60_000);
    await t.post('/v1/responses', ask());
    expect((await t.post('/v1/responses', ask())).status).to.equal(401);
    clock.advance(1000);
    await t.post('/v1/responses', ask());
    expect((await t.post('/v1/responses', ask())).status).to.equal(503);
  });
});

describe('a request whose reasoning is sealed', () => {
  const sealed = ask({ input: SEALED });

  it('goes to one vendor account, also while that rests, and byte for byte', async () => {
    const bodies: string[] = [];
    const vendor = await vendorOf((_key, request) => {
      bodies.push(request.text);
      return OK;
    });
    const t = await startPool(vendor, ['a', 'b', 'c'], { credentials: { b: { weight: 1000 } } });
    for (let at = 0; at < 10; at += 1) await t.post('/v1/responses', sealed);
    expect(new Set(vendor.keys)).to.deep.equal(new Set(['a']));
    expect(new Set(bodies)).to.deep.equal(new Set([JSON.stringify(sealed)]));
    vendor.answers = () => RATE;
    await t.post('/v1/responses', sealed);
    vendor.answers = () => OK;
    expect((await t.post('/v1/responses', sealed)).status).to.equal(200);
    expect(new Set(vendor.keys)).to.deep.equal(new Set(['a']));
  });

  it('is 503 where that account is benched, and nothing is sent', async () => {
    const vendor = await vendorOf(() => BAD_KEY);
    const t = await startPool(vendor, ['a', 'b']);
    await t.post('/v1/responses', sealed);
    const answer = await t.post('/v1/responses', sealed);
    expect([answer.status, answer.json().error.message]).to.deep.equal([
      503,
      'the reasoning in this request can be read by acme only, which cannot be called now',
    ]);
    expect(vendor.keys).to.deep.equal(['a']);
  });

  it('may go to another instance of the kind with the label of that account, and to no other', async () => {
    for (const [label, isShared] of [
      ['acme-org', true],
      ['other-org', false],
    ] as const) {
      const [one, two] = [await vendorOf(() => BAD_KEY), await vendorOf(() => OK)];
      const more = (name: string, account: string): PoolOptions => ({
        credentials: { [name]: { vendor_account: account } },
      });
      const t = await startPool(one, ['a'], {
        variables: variablesOf(['a', 'b']),
        config: {
          providers: {
            one: providerOf(one, ['a'], more('a', 'acme-org')),
            two: providerOf(two, ['b'], more('b', label)),
          },
          targets: [{ virtual_key: 'one' }, { virtual_key: 'two' }],
          models: [
            {
              name: 'g',
              routes: [
                { target: 'one', model: 'm' },
                { target: 'two', model: 'm' },
              ],
            },
          ],
        },
      });
      const request = { ...sealed, model: 'g' };
      expect((await t.post('/v1/responses', request)).status).to.equal(401);
      expect((await t.post('/v1/responses', request)).status).to.equal(isShared ? 200 : 503);
      expect(two.keys).to.have.lengthOf(isShared ? 1 : 0);
      expect((await t.post('/v1/responses', ask({ model: 'g' }))).status).to.equal(200);
    }
  });
});

describe('warnings of responses', () => {
  const config = (more: object): PoolOptions => ({
    variables: variablesOf(['a', 'b', 'x']),
    config: {
      targets: [{ virtual_key: 'acme' }, { virtual_key: 'other' }],
      responses_target: 'other',
      models: [{ name: 'g', routes: [{ target: 'acme' }, { target: 'other' }], ...more }],
    },
  });

  it('say where a group stores them elsewhere (WN25), and where several accounts may get sealed reasoning (WN26)', async () => {
    const vendor = await vendorOf();
    const rules = async (more: object): Promise<string[]> => {
      const options = config(more);
      const t = await startPool(vendor, ['a'], {
        ...options,
        config: {
          ...options.config,
          providers: { acme: providerOf(vendor, ['a', 'b']), other: providerOf(vendor, ['x']) },
        },
      });
      return t.lines.map(({ rule }) => String(rule)).filter((rule) => rule === 'WN25' || rule === 'WN26');
    };
    expect(await rules({})).to.have.members(['WN25', 'WN26', 'WN26']);
    expect(await rules({ strategy: { mode: 'fallback', affinity: 'session' } })).to.have.members(['WN25', 'WN26']);
    expect(
      await rules({
        routes: [{ target: 'other' }, { target: 'acme' }],
        strategy: { mode: 'fallback', affinity: 'session' },
      }),
    ).to.have.members(['WN26']);
  });

  it('keep stored responses of a group at its first route, also where responses_target is another', async () => {
    const [one, two] = [await vendorOf(() => OK), await vendorOf(() => OK)];
    const options = config({});
    const t = await startPool(one, ['a'], {
      ...options,
      config: { ...options.config, providers: { acme: providerOf(one, ['a']), other: providerOf(two, ['x']) } },
    });
    await t.post('/v1/responses', { model: 'g', input: 'hi' });
    expect([one.keys, two.keys]).to.deep.equal([['a'], []]);
    await t.get('/v1/responses/resp_1');
    expect([one.keys, two.keys]).to.deep.equal([['a'], ['x']]);
  });
});
