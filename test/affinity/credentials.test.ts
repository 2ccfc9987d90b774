import { expect } from 'chai';
import { chat, startPool, type Vendor, vendorOf } from '../credentials/vendor.ts';
import { chatReply, type TestHost } from '../kit/index.ts';

const PATH = '/v1/chat/completions';

const sessions = (count: number): string[] => Array.from({ length: count }, (_each, at) => `s-${at}`);

const AFFINITY = { strategy: { mode: 'fallback', affinity: 'session' } };

async function keyOf(t: TestHost, vendor: Vendor, session: string, more: object = {}): Promise<string> {
  const answer = await t.post(PATH, chat('m', more), { 'x-gateway-session': session });
  expect(answer.status).to.equal(200);
  return vendor.keys.at(-1) ?? '';
}

describe('credentials of a session', () => {
  it('follow the vectors of the reference, whatever the strategy', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a', 'b', 'c'], { config: AFFINITY });
    const used = new Map<string, number>();
    for (const session of sessions(30)) {
      const key = await keyOf(t, vendor, session);
      for (let turn = 0; turn < 2; turn += 1) expect(await keyOf(t, vendor, session)).to.equal(key);
      used.set(key, (used.get(key) ?? 0) + 1);
    }
    expect([...used.keys()].toSorted()).to.deep.equal(['a', 'b', 'c']);
  });

  it('are drawn anew for each request without a session', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a', 'b', 'c'], { config: AFFINITY });
    const keys = new Set<string>();
    for (let at = 0; at < 30; at += 1) {
      await t.post(PATH, chat(), { 'x-gateway-affinity': 'off' });
      keys.add(vendor.keys.at(-1) ?? '');
    }
    expect(keys.size).to.equal(3);
  });

  it('move where the first is benched, stay there until the key is cleared, and the other sessions stay too', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a', 'b', 'c'], { config: AFFINITY });
    const before = new Map<string, string>();
    for (const session of sessions(20)) before.set(session, await keyOf(t, vendor, session));
    vendor.answers = (key) =>
      key === 'a' ? { status: 401, body: { error: { message: 'no', code: 'invalid_api_key' } } } : undefined;
    let moved = 0;
    for (const [session, key] of before) {
      const answer = await t.post(PATH, chat(), { 'x-gateway-session': session });
      const now = vendor.keys.at(-1);
      if (key === 'a') {
        expect(now).to.not.equal('a');
        expect(answer.headers.get('x-gateway-affinity')).to.equal('moved');
        moved += 1;
        expect(await keyOf(t, vendor, session)).to.equal(now);
      } else {
        expect(now).to.equal(key);
        expect(answer.headers.get('x-gateway-affinity')).to.equal('new');
      }
    }
    expect(moved).to.be.above(0);
  });

  it('of one labelled vendor account are one place: load decides inside it', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a', 'b', 'c', 'd'], {
      config: AFFINITY,
      credentials: {
        a: { vendor_account: 'acme' },
        b: { vendor_account: 'acme' },
        c: { vendor_account: 'other' },
        d: { vendor_account: 'other' },
      },
    });
    const account = (key: string): string => ('ab'.includes(key) ? 'acme' : 'other');
    const keys = new Set<string>();
    for (const session of sessions(12)) {
      const first = await keyOf(t, vendor, session);
      for (let turn = 0; turn < 4; turn += 1) {
        const key = await keyOf(t, vendor, session);
        keys.add(key);
        expect(account(key)).to.equal(account(first));
      }
    }
    expect([...keys].toSorted()).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('of two keys with one session id are chosen apart, each as itself on every call', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a', 'b', 'c', 'd', 'e'], { config: AFFINITY });
    const used = new Set<string>();
    for (let at = 0; at < 8; at += 1) {
      const made = await t.post('/admin/keys', { name: `key ${at}` });
      const authorization = `Bearer ${String(made.json().key)}`;
      const keys = new Set<string>();
      for (let turn = 0; turn < 3; turn += 1) {
        const answer = await t.post(PATH, chat(), { authorization, 'x-gateway-session': 'one and the same' });
        expect(answer.status).to.equal(200);
        keys.add(vendor.keys.at(-1) ?? '');
      }
      expect(keys.size).to.equal(1);
      for (const key of keys) used.add(key);
    }
    expect(used.size).to.be.above(1);
  });
});

/** Caches what each organisation has sent, as vendors do: a turn finds its earlier turns where they were sent before. */
function cachingVendor(organisationOf: (key: string) => string): { answers: Vendor['answers']; hits: () => number } {
  const seen = new Map<string, Set<string>>();
  let hits = 0;
  const answers: Vendor['answers'] = (key, request) => {
    const { messages } = (request as unknown as { json(): { messages: unknown[] } }).json();
    const cache = seen.get(organisationOf(key)) ?? new Set<string>();
    seen.set(organisationOf(key), cache);
    const isHit = cache.has(JSON.stringify(messages.slice(0, -2)));
    cache.add(JSON.stringify(messages));
    if (isHit) hits += 1;
    const reply = chatReply('hi') as { usage: object };
    return {
      body: {
        ...reply,
        usage: {
          prompt_tokens: 1000,
          completion_tokens: 1,
          total_tokens: 1001,
          prompt_tokens_details: { cached_tokens: isHit ? 900 : 0 },
        },
      },
    };
  };
  return { answers, hits: () => hits };
}

describe("a vendor's cache of prefixes by organisation", () => {
  const TURNS = 11;
  const CONVERSATIONS = 30;

  async function hitRate(affinity: 'session' | 'off'): Promise<number> {
    const { answers, hits } = cachingVendor((key) => `organisation of ${key}`);
    const vendor = await vendorOf(answers);
    const t = await startPool(vendor, ['a', 'b', 'c'], { config: { strategy: { mode: 'fallback', affinity } } });
    for (let turn = 0; turn < TURNS; turn += 1)
      for (let one = 0; one < CONVERSATIONS; one += 1) {
        const messages = [{ role: 'user', content: `conversation ${one}` }];
        for (let at = 0; at < turn; at += 1)
          messages.push({ role: 'assistant', content: 'hi' }, { role: 'user', content: `turn ${at}` });
        await t.post(PATH, { model: 'm', messages });
      }
    return hits() / ((TURNS - 1) * CONVERSATIONS); // the first turn of each finds nothing
  }

  it('is hit by every later turn with affinity, and by about a third of them without', async function shares() {
    const withAffinity = await hitRate('session');
    const without = await hitRate('off');
    if (this.test) this.test.title += ` (${withAffinity.toFixed(2)} beside ${without.toFixed(2)})`;
    expect(withAffinity).to.be.at.least(0.95);
    expect(without).to.be.within(0.2, 0.47); // 300 draws of a third: five standard deviations
  });
});
