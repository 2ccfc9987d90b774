import { expect } from 'chai';
import { fakeClock } from '../kit/index.ts';
import { BAD_KEY, BROKEN, chat, FORBIDDEN, NO_CREDIT, RATE, startPool, variablesOf, vendorOf } from './vendor.ts';

const FIVE = ['a', 'b', 'c', 'd', 'e'];

describe('the next credential', () => {
  for (const [name, refusal] of [
    ['rate', RATE],
    ['billing', NO_CREDIT],
    ['invalid_key', BAD_KEY],
  ] as const)
    it(`follows at once after ${name}, three times at most, and counts as no retry`, async () => {
      const vendor = await vendorOf(() => refusal);
      const t = await startPool(vendor, FIVE, { target: { retry: { attempts: 1 } } });
      const answer = await t.post('/v1/chat/completions', chat());
      expect(vendor.keys).to.have.lengthOf(4);
      expect(new Set(vendor.keys)).to.have.lengthOf(4);
      expect(answer.headers.get('x-gateway-attempts')).to.equal('4');
      expect(answer.status).to.equal(name === 'invalid_key' ? 502 : 429);
      for (const key of FIVE) expect(answer.text).not.to.include(`acme/${key}`);
    });

  it('follows once after a refusal that may be the request’s own, and the client gets the last one', async () => {
    const vendor = await vendorOf(() => FORBIDDEN);
    const t = await startPool(vendor, FIVE);
    const answer = await t.post('/v1/chat/completions', chat());
    expect(answer.status).to.equal(502);
    expect(answer.json().error.code).to.equal('upstream_auth_error');
    expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
  });

  it('answers in the place of one that is refused', async () => {
    const vendor = await vendorOf((key) => (key === 'a' ? BAD_KEY : undefined));
    const t = await startPool(vendor, ['a', 'b'], { random: () => 0 });
    const answer = await t.post('/v1/chat/completions', chat());
    expect(answer.status).to.equal(200);
    expect(vendor.keys).to.deep.equal(['a', 'b']);
    await t.post('/v1/chat/completions', chat());
    expect(vendor.keys).to.deep.equal(['a', 'b', 'b']);
    const line = t.lines.find(({ msg }) => msg === 'retrying target');
    expect(line).to.include({ credential: 'a', reason: 'credential', target: 'acme' });
    expect(t.lines.filter(({ msg }) => msg === 'credential benched')).to.have.lengthOf(1);
  });

  it('leaves the tries of the retry policy as they are, and a further one calls a single resting credential', async () => {
    const vendor = await vendorOf(() => RATE);
    const t = await startPool(vendor, ['a', 'b'], { target: { retry: { attempts: 3, initial_backoff_ms: 1 } } });
    const answer = await t.post('/v1/chat/completions', chat());
    expect([answer.status, answer.headers.get('x-gateway-attempts')]).to.deep.equal([429, '4']);
    const steps = t.lines.filter(({ msg }) => msg === 'retrying target').map(({ reason }) => reason);
    expect(steps).to.deep.equal(['credential', undefined, undefined]);
  });

  it('does not follow a failure of the target, which is tried again with the same credential', async () => {
    let calls = 0;
    const vendor = await vendorOf(() => ((calls += 1) < 3 ? BROKEN : undefined));
    const t = await startPool(vendor, ['a', 'b', 'c'], {
      target: { retry: { attempts: 3, initial_backoff_ms: 1 } },
    });
    const answer = await t.post('/v1/chat/completions', chat());
    expect(answer.status).to.equal(200);
    expect(new Set(vendor.keys)).to.have.lengthOf(1);
    expect(vendor.keys).to.have.lengthOf(3);
  });

  it('keeps the slot of its target, with a full queue behind it', async () => {
    const opened = Promise.withResolvers<void>();
    const vendor = await vendorOf((key) => (key === 'a' ? RATE : undefined));
    const t = await startPool(vendor, ['a', 'b'], {
      random: () => 0,
      target: { concurrency: { max_concurrency: 1, queue_size: 1 } },
    });
    opened.resolve();
    const answers = await Promise.all([0, 1].map(() => t.post('/v1/chat/completions', chat())));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(vendor.keys).to.deep.equal(['a', 'b', 'b']);
  });

  it('goes on to the next target after a key that was refused, which others do not', async () => {
    const vendor = await vendorOf(() => BAD_KEY);
    const other = await vendorOf();
    const t = await startPool(vendor, ['a'], {
      variables: variablesOf(['x']),
      config: {
        providers: {
          acme: { kind: 'openai', base_url: `${vendor.url}/v1`, api_key: '${KEY_A}' },
          other: { kind: 'openai', base_url: `${other.url}/v1`, api_key: '${KEY_X}' },
        },
        targets: [
          { virtual_key: 'acme', models: ['m'] },
          { virtual_key: 'other', models: ['m'] },
        ],
      },
    });
    const answer = await t.post('/v1/chat/completions', chat());
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('x-gateway-target')).to.equal('other');
    await t.post('/v1/chat/completions', chat());
    expect(vendor.keys).to.deep.equal(['a']);
  });

  it('leaves a stream before its first chunk, and never after it', async () => {
    const vendor = await vendorOf((key) => (key === 'a' ? RATE : undefined));
    const t = await startPool(vendor, ['a', 'b'], { random: () => 0 });
    await t.post('/v1/chat/completions', chat('m', { stream: true }));
    expect(vendor.keys).to.deep.equal(['a', 'b']);
  });

  it('says the smallest wait of those that were asked, and none where the credit is over', async () => {
    const waits: Record<string, string> = { a: '30', b: '20', c: '40' };
    const vendor = await vendorOf((key) => ({ ...RATE, headers: { 'retry-after': waits[key] ?? '' } }));
    const t = await startPool(vendor, ['a', 'b', 'c'], { clock: fakeClock() });
    const answer = await t.post('/v1/chat/completions', chat());
    expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([429, '20']);
    const spent = await vendorOf(() => ({ ...RATE, headers: { 'retry-after': '3600' } }));
    const u = await startPool(spent, ['a', 'b']);
    const over = await u.post('/v1/chat/completions', chat());
    expect([over.status, over.headers.get('retry-after'), over.headers.get('x-should-retry')]).to.deep.equal([
      429,
      null,
      'false',
    ]);
  });

  it('is 503 where none is usable, and 429 where each serves its most calls', async () => {
    const vendor = await vendorOf(() => BAD_KEY);
    const t = await startPool(vendor, ['a', 'b']);
    await t.post('/v1/chat/completions', chat());
    const answer = await t.post('/v1/chat/completions', chat());
    expect([answer.status, answer.json().error.message, answer.headers.get('retry-after')]).to.deep.equal([
      503,
      'acme has no usable credential',
      null,
    ]);
    expect(vendor.keys).to.have.lengthOf(2);
    expect(
      t.samples.filter(
        ({ name, labels }) => name === 'gateway_provider_errors_total' && labels['error_type'] === 'no_credential',
      ),
    ).to.have.lengthOf(1);
  });
});
