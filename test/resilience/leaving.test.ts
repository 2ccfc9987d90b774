import { expect } from 'chai';
import { Slots } from '../../builtins/resilience/slots.ts';
import {
  eventually,
  fakeClock,
  type FaultStep,
  faultUpstream,
  type FaultUpstream,
  MOST_TURNS,
  startHost,
  type TestHost,
  type TestHostOptions,
  turnsUntil,
} from '../kit/index.ts';
import { type Ask, ASK_NAMES, askFor } from './support/surfaces.ts';

interface Scene {
  readonly host: TestHost;
  readonly upstream: FaultUpstream;
  /** The upstream's connection has gone silent. */
  readonly hangs: Promise<void>;
  /** The upstream saw that its connection was closed. */
  readonly left: Promise<void>;
}

async function sceneOf(step: FaultStep, target: object = {}, options: TestHostOptions = {}): Promise<Scene> {
  const [hangs, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const upstream = await faultUpstream({
    script: () => step,
    onHang: () => hangs.resolve(),
    onLeft: () => left.resolve(),
  });
  // No timer of the gateway can be what ends anything: its clock stands still.
  const host = await startHost(
    { strategy: { mode: 'single' }, targets: [upstream.target('a', target)] },
    { clock: fakeClock(), ...options },
  );
  return { host, upstream, hangs: hangs.promise, left: left.promise };
}

interface Client {
  leave(): void;
  /** The first bytes of the body are there. */
  readonly begun: Promise<void>;
}

function clientOf({ host }: Scene, ask: Ask): Client {
  const [leaving, begun] = [new AbortController(), Promise.withResolvers<void>()];
  askFor(ask, { url: host.url, onData: begun.resolve, signal: leaving.signal }).catch(() => {});
  return {
    begun: begun.promise,
    leave: () => leaving.abort(),
  };
}

const canceled = ({ host }: Scene): unknown[] =>
  host.lines.filter(({ msg }) => msg === 'request canceled by the client');
const isFree = ({ host }: Scene): boolean => host.host.slot.leases === 0;

async function expectForgotten(scene: Scene, calls: number): Promise<void> {
  await eventually(() => isFree(scene) && scene.upstream.busy === 0);
  expect([isFree(scene), scene.upstream.busy, scene.upstream.played.length]).to.deep.equal([true, 0, calls]);
  expect(canceled(scene)).to.have.length(1);
  expect(scene.host.lines.filter(({ level }) => level === 'ERROR')).to.deep.equal([]);
}

describe('a client that leaves is noticed at once', () => {
  for (const ask of ASK_NAMES) {
    it(`while the upstream says nothing: ${ask}`, async () => {
      const scene = await sceneOf({ fault: 'silence' });
      const client = clientOf(scene, ask);
      await scene.hangs;
      client.leave();
      expect(await turnsUntil(scene.left)).to.be.below(MOST_TURNS);
      await expectForgotten(scene, 1);
    });

    it(`while it waits for a slot, and the upstream never hears of it: ${ask}`, async () => {
      const scene = await sceneOf({ fault: 'silence' }, { concurrency: { max_concurrency: 1 } });
      const view = scene.host.host.carryover.open();
      const slots = view.lease('limiter a', () => new Slots());
      const served = clientOf(scene, 'chat');
      await scene.hangs;
      const queued = clientOf(scene, ask);
      await eventually(() => slots.waiting === 1);
      queued.leave();
      await eventually(() => slots.waiting === 0 && canceled(scene).length === 1);
      expect([slots.held, slots.waiting, canceled(scene).length]).to.deep.equal([1, 0, 1]);
      served.leave();
      await scene.left;
      await eventually(() => isFree(scene));
      expect([slots.held, scene.upstream.played.length]).to.deep.equal([0, 1]);
      await view.release();
    });

    it(`while it waits for another try, which never comes: ${ask}`, async () => {
      const clock = fakeClock();
      const scene = await sceneOf(
        { fault: 'rate-limit', headers: { 'retry-after': '20' } },
        { retry: { attempts: 3 } },
        { clock },
      );
      const client = clientOf(scene, ask);
      await eventually(() => scene.host.lines.some(({ msg }) => msg === 'retrying target'));
      client.leave();
      await eventually(() => canceled(scene).length > 0);
      expect(canceled(scene)).to.have.length(1);
      clock.advance(60_000);
      await expectForgotten(scene, 1);
    });
  }

  for (const ask of ['stream', 'speech'] as const) {
    it(`in the middle of the answer: ${ask}`, async () => {
      const scene = await sceneOf({ fault: 'stall' }, { concurrency: { max_concurrency: 1 } });
      const client = clientOf(scene, ask);
      await client.begun;
      client.leave();
      expect(await turnsUntil(scene.left)).to.be.below(MOST_TURNS);
      await expectForgotten(scene, 1);
    });
  }
});

describe('bytes that go on as they arrive', () => {
  it("hold their slot to the last one, and are bounded by the request's clock", async () => {
    const clock = fakeClock();
    const upstream = await faultUpstream({ script: () => ({ fault: 'stall' }) });
    const host = await startHost(
      {
        strategy: { mode: 'single' },
        request_timeout: '30s',
        targets: [upstream.target('a', { concurrency: { max_concurrency: 1 } })],
      },
      { clock },
    );
    const view = host.host.carryover.open();
    const slots = view.lease('limiter a', () => new Slots());
    const begun = Promise.withResolvers<void>();
    const asked = askFor('speech', { url: host.url, onData: begun.resolve });
    await begun.promise;
    expect(slots.held).to.equal(1);
    clock.advance(30_000);
    expect((await asked).isCut).to.equal(true);
    await eventually(() => slots.held === 0 && upstream.busy === 0);
    expect([slots.held, upstream.busy]).to.deep.equal([0, 0]);
    expect(
      host.samples
        .filter(({ name }) => name === 'gateway_provider_errors_total')
        .map(({ labels }) => labels['error_type']),
    ).to.deep.equal(['timeout']);
    await view.release();
  });

  it("that break off are the provider's failure: the circuit opens, on_error runs, and the failure is logged", async () => {
    const upstream = await faultUpstream({ script: () => ({ fault: 'reset-in-body' }) });
    const host = await startHost({
      strategy: { mode: 'single' },
      targets: [upstream.target('a', { circuit_breaker: { failure_threshold: 2 } })],
    });
    for (let call = 0; call < 2; call += 1) expect((await askFor('speech', { url: host.url })).isCut).to.equal(true);
    await eventually(() => host.lines.filter(({ msg }) => msg === 'speech request failed').length === 2);
    expect(host.lines.filter(({ msg }) => msg === 'speech request failed')).to.have.length(2);
    expect((await askFor('speech', { url: host.url })).status).to.equal(503);
  });
});
