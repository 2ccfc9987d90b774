import { expect } from 'chai';
import { RecentMedian } from '../../builtins/routing/median.ts';
import {
  ask,
  chatChunks,
  chatReply,
  fakeClock,
  MASTER_KEY,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { seeded } from './support.ts';

const PATH = '/v1/chat/completions';
const medianOf = (host: TestHost, key: string): number | undefined => host.host.current?.hooks.median.call(key);

/** An upstream whose answers take as long as the clock is moved on by. */
async function slow(
  clock: ReturnType<typeof fakeClock>,
  ms: () => number,
  status: () => number = () => 200,
): Promise<StubUpstream> {
  return stubUpstream((_request, response) => {
    clock.advance(ms());
    replyJson(response, status(), status() === 200 ? chatReply('hello') : { error: { message: 'no' } });
  });
}

describe('the median of recent samples', () => {
  it('is the upper one in the middle of the sorted samples', () => {
    const median = new RecentMedian(100);
    expect(median.value).to.equal(undefined);
    const values = [5, 1, 9, 3].map((sample) => {
      median.add(sample);
      return median.value;
    });
    expect(values).to.deep.equal([5, 5, 5, 5]);
  });

  it('forgets what is older than the window, and equals a plain computation', () => {
    const random = seeded(5);
    const median = new RecentMedian(100);
    const samples: number[] = [];
    for (let at = 0; at < 1000; at += 1) {
      const sample = Math.floor(random() * 40); // many equal ones
      samples.push(sample);
      median.add(sample);
      const recent = samples.slice(-100).toSorted((a, b) => a - b);
      expect(median.value).to.equal(recent[Math.floor(recent.length / 2)]);
    }
  });
});

describe('the latency of targets', () => {
  it('is measured of successful calls, each try by itself, and never of failures', async () => {
    const clock = fakeClock();
    const answer = { ms: 40, status: 200 };
    const a = await slow(
      clock,
      () => answer.ms,
      () => answer.status,
    );
    const host = await startHost({ strategy: { mode: 'single' }, targets: [a.target('a')] }, { clock });
    expect(medianOf(host, 'a')).to.equal(undefined);
    await host.post(PATH, ask());
    expect(medianOf(host, 'a')).to.equal(40);
    for (const status of [500, 400, 404, 429]) {
      Object.assign(answer, { ms: 1, status });
      await host.post(PATH, ask());
    }
    expect(medianOf(host, 'a')).to.equal(40);
    Object.assign(answer, { ms: 90, status: 200 });
    await host.post(PATH, ask());
    expect(medianOf(host, 'a')).to.equal(90);
  });

  it('is, of a stream, the time to its first chunk', async () => {
    const clock = fakeClock();
    const heard = Promise.withResolvers<void>();
    const a = await stubUpstream(async (_request, response) => {
      openSse(response);
      clock.advance(15);
      const [first = '', ...rest] = chatChunks(['one', 'two']).map(sseEvent);
      response.write(first);
      await heard.promise;
      clock.advance(1000);
      response.end(`${rest.join('')}data: [DONE]\n\n`);
    });
    const host = await startHost({ strategy: { mode: 'single' }, targets: [a.target('a')] }, { clock });
    const response = await fetch(`${host.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('hi', { stream: true })),
    });
    heard.resolve(); // the headers come with the first chunk
    expect(await response.text()).to.contain('two');
    expect(medianOf(host, 'a')).to.equal(15);
  });

  it('is kept over a configuration change for targets that stay, and forgotten for those that go', async () => {
    const clock = fakeClock();
    const [a, b] = [await slow(clock, () => 10), await slow(clock, () => 20)];
    const [first, second] = [a.target('a', { weight: 1 }), b.target('b', { weight: 1 })];
    const host = await startHost({ strategy: { mode: 'least-latency' }, targets: [first, second] }, { clock });
    for (let call = 0; call < 2; call += 1) await host.post(PATH, ask());
    expect([medianOf(host, 'a'), medianOf(host, 'b')]).to.deep.equal([10, 20]);
    await host.apply({ strategy: { mode: 'loadbalance' }, targets: [first] });
    expect([medianOf(host, 'a'), medianOf(host, 'b')]).to.deep.equal([10, undefined]);
    await host.apply({ strategy: { mode: 'least-latency' }, targets: [first, second] });
    expect([medianOf(host, 'a'), medianOf(host, 'b')]).to.deep.equal([10, undefined]);
  });

  it('decides under least-latency once every target has been measured', async () => {
    const clock = fakeClock();
    const [a, b, c] = [await slow(clock, () => 30), await slow(clock, () => 10), await slow(clock, () => 20)];
    const host = await startHost(
      { strategy: { mode: 'least-latency' }, targets: [a.target('a'), b.target('b'), c.target('c')] },
      { clock },
    );
    const served: (string | null)[] = [];
    for (let call = 0; call < 6; call += 1) served.push((await host.post(PATH, ask())).headers.get('x-gateway-target'));
    expect(served.slice(0, 3)).to.have.members(['a', 'b', 'c']);
    expect(served.slice(3)).to.deep.equal(['b', 'b', 'b']);
  });
});
