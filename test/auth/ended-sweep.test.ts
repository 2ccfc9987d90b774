import { expect } from 'chai';
import endedCredentials from '../../builtins/auth/ended-credentials.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import { createHostHooks } from '../../host/host-hooks.ts';
import type { Host } from '../../host/host.ts';
import type { RequestContext } from '../../host/http/context.ts';
import { RunningRequests } from '../../host/http/running-requests.ts';
import type { CredentialChange, Standing } from '../../host/stores/credential-standing.ts';
import { Dice, eventually, fakeClock, type FakeClock } from '../kit/index.ts';

const SWEEP_MS = 5000;

/** What a sweep needs of a host, and what it did. */
interface Stand {
  readonly running: RunningRequests;
  readonly clock: FakeClock;
  readonly memory: Map<string, Standing>;
  readonly store: Map<string, Standing>;
  /** Digests that memory, and the store, were asked for. */
  readonly looked: string[];
  readonly asked: string[];
  readonly change: (of: 'key' | 'session', change: CredentialChange) => void;
  /** A request under a credential; `of` is the id of its key. */
  readonly run: (digest: string, more?: object) => RequestContext;
  /** Reasons of those that were ended, as the lines have them. */
  readonly reasons: string[];
}

async function stand(): Promise<Stand> {
  const hooks = createHostHooks<Host>();
  endedCredentials.apply({ hooks });
  const clock = fakeClock();
  const running = new RunningRequests();
  const heard: ((of: 'key' | 'session', change: CredentialChange) => void)[] = [];
  const found = {
    running,
    clock,
    memory: new Map<string, Standing>(),
    store: new Map<string, Standing>(),
    looked: [] as string[],
    asked: [] as string[],
    reasons: [] as string[],
    change: (of: 'key' | 'session', change: CredentialChange): void => {
      for (const hear of heard) hear(of, change);
    },
    run: (digest: string, more: object = {}): RequestContext => {
      const context = {
        id: digest,
        request: {},
        principal: { id: `key of ${digest}` },
        protectedBy: { prefix: '/v1/', isLimited: true },
        arrivedAt: clock.monotonic(),
        place: -1,
        kind: 'unary',
        isOver: false,
        ...more,
      } as unknown as RequestContext;
      running.add(context, digest);
      return context;
    },
  };
  const host = {
    running,
    services: { clock },
    counters: { add: () => {} },
    log: { debug: (_msg: string, { reason }: { reason: string }) => found.reasons.push(reason) },
    stores: {
      principals: {
        onChange: (hear: (of: 'key' | 'session', change: CredentialChange) => void) => heard.push(hear),
        standing: (digest: string, _principal: HostPrincipal) => {
          found.looked.push(digest);
          return found.memory.get(digest) ?? 'unknown';
        },
        askStanding: async (digest: string) => {
          found.asked.push(digest);
          return found.store.get(digest) ?? 'gone';
        },
      },
    },
  } as unknown as Host;
  await hooks.open.promise(host);
  return found;
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('the look at all that runs', () => {
  it('is at none that is younger than a second, and at each credential once', async () => {
    const s = await stand();
    for (const digest of ['a', 'a', 'b']) s.run(digest);
    s.memory.set('a', 'stands').set('b', 'revoked').set('c', 'revoked');
    s.clock.advance(SWEEP_MS - 500);
    const young = s.run('c');
    s.clock.advance(500);
    await turn();
    expect([s.looked, s.asked, s.reasons]).to.deep.equal([['a', 'b'], [], ['revoked']]);
    expect(young.ended).to.equal(undefined);
    s.clock.advance(SWEEP_MS);
    await turn();
    expect(young.ended?.code).to.equal('invalid_api_key');
  });

  it('asks the store once for each credential that memory does not know, and goes by what it says', async () => {
    const s = await stand();
    const runs = Array.from({ length: 2000 }, (_, at) => s.run(`d${at % 700}`));
    for (let at = 0; at < 700; at += 2) s.store.set(`d${at}`, 'stands');
    s.clock.advance(SWEEP_MS);
    await eventually(() => s.reasons.length === 1000);
    expect([s.asked.length, new Set(s.asked).size]).to.deep.equal([700, 700]);
    expect(runs.filter(({ ended }) => ended).map(({ digest }) => Number(digest?.slice(1)) % 2)).to.deep.equal(
      Array.from({ length: 1000 }, () => 1),
    );
  });

  it('gives others a turn after each thousand, and after each fifty that it ends', async () => {
    const s = await stand();
    const runs = Array.from({ length: 10_000 }, () => s.run('a'));
    s.memory.set('a', 'stands');
    s.clock.advance(SWEEP_MS);
    await turn();
    s.memory.set('a', 'revoked');
    const ended = (): number => runs.filter((context) => context.ended).length;
    const steps: number[] = [];
    s.change('key', { id: 'key of a', isGone: false });
    for (; ended() < 10_000 && steps.length < 1000; await turn()) steps.push(ended());
    expect(Math.max(...steps.map((count, at) => count - (steps[at - 1] ?? 0)))).to.be.at.most(100);
    expect(steps.length).to.be.above(100);
  });

  it('rests while nothing runs, and goes on once something does', async () => {
    const s = await stand();
    expect(s.clock.waiting).to.equal(0);
    for (let round = 0; round < 3; round += 1) {
      const context = s.run('a');
      s.memory.set('a', 'stands');
      expect(s.clock.waiting).to.equal(1);
      s.clock.advance(SWEEP_MS);
      await turn();
      expect(s.clock.waiting).to.equal(1);
      s.running.remove(context);
      s.clock.advance(SWEEP_MS);
      await turn();
      expect(s.clock.waiting).to.equal(0);
    }
  });

  it('does not end what was over before it began, or while the store was asked', async () => {
    const s = await stand();
    const [gone, left] = [s.run('a'), s.run('b')];
    s.running.remove(gone);
    s.clock.advance(SWEEP_MS);
    s.running.remove(left);
    await turn();
    expect([s.reasons, gone.ended, left.ended]).to.deep.equal([[], undefined, undefined]);
    expect(s.running.size).to.equal(0);
    s.running.add(left, 'b');
    expect(s.running.size, 'its connection has closed').to.equal(0);
  });

  it('is of a key and its sessions where that changes, of a session alone where that does', async () => {
    const s = await stand();
    const made = (sessionId?: string): RequestContext =>
      s.run(`d${sessionId ?? ''}`, { principal: { id: 'k', sessionId } });
    const [key, one, two, other] = [made(), made('1'), made('2'), s.run('x')];
    s.change('session', { id: '1', isGone: true });
    expect([key, one, two, other].map(({ ended }) => ended !== undefined)).to.deep.equal([false, true, false, false]);
    s.change('key', { id: 'k', isGone: true });
    expect([key, one, two, other].map(({ ended }) => ended !== undefined)).to.deep.equal([true, true, true, false]);
  });

  it('keeps the list of what runs whole, whatever comes and goes', () => {
    const running = new RunningRequests();
    const dice = new Dice(7);
    const live = new Set<RequestContext>();
    for (let step = 0; step < 5000; step += 1) {
      if (live.size === 0 || dice.below(2) === 0) {
        const context = { place: -1, isOver: false } as RequestContext;
        running.add(context, String(step));
        running.add(context, 'again');
        live.add(context);
      } else {
        const context = [...live][dice.below(live.size)] as RequestContext;
        running.remove(context);
        running.remove(context);
        live.delete(context);
      }
      expect(running.size).to.equal(live.size);
    }
    const listed = running.filter(() => true);
    expect([listed.length, listed.filter((context) => live.has(context)).length]).to.deep.equal([live.size, live.size]);
  });
});
