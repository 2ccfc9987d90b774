import { expect } from 'chai';
import type { ProviderModule } from 'gw/contract';
import { once } from 'node:events';
import { EventEmitter } from 'node:events';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import { atEnd, type FakeClock, fakeClock, replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

const discovery: ProviderModule['discovery'] = {
  path: '/models',
  read: (body) => (body as { data: { id: string; created?: number }[] }).data,
};

interface Live {
  readonly host: TestHost;
  /** Answers of the upstream from now on. */
  answer: (status: number, data: unknown) => void;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly asked: () => number;
  /** Resolves once the next round has been applied, or its failure logged. */
  readonly round: () => Promise<void>;
}

async function live(
  status: number,
  data: unknown,
  variables: Record<string, string> = { GW_MODEL_DISCOVERY_INTERVAL: '1m' },
): Promise<Live> {
  let current = { status, data };
  const rounds = new EventEmitter();
  const upstream = await stubUpstream((_request, response) => {
    replyJson(response, current.status, { data: current.data });
    response.once('close', () => setImmediate(() => setImmediate(() => rounds.emit('round'))));
  });
  const clock = fakeClock();
  const first = once(rounds, 'round');
  const host = await startHost(
    { strategy: { mode: 'fallback' }, targets: [upstream.target('a', { models: ['declared'] }, { discovery })] },
    { variables, clock },
  );
  if (variables['GW_MODEL_DISCOVERY_INTERVAL'] === '1m') await first;
  return {
    host,
    clock,
    asked: () => upstream.seen.length,
    answer: (next, list) => {
      current = { status: next, data: list };
    },
    round: () => once(rounds, 'round').then(() => {}),
  };
}

const ids = async (host: TestHost): Promise<string[]> =>
  (await host.get('/v1/models')).json().data.map(({ id }: { id: string }) => id);

/** Applying a list takes a few turns of the event loop. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) if (await condition()) return;
  expect.fail('it never came to pass');
}

/** Applying what was heard ends with the next round's timer. */
async function settled(clock: FakeClock, timers: number): Promise<void> {
  for (let tries = 0; tries < 1000 && clock.waiting !== timers; tries += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

/** How many listeners were added to cancellations since, and are still there. */
function countListeners(): () => number {
  const { prototype } = Cancellation;
  const { onCancel } = prototype; // oxlint-disable-line typescript/unbound-method -- called with its own `this` below
  let count = 0;
  prototype.onCancel = function counted(listener) {
    const stop = onCancel.call(this, listener);
    count += 1;
    return () => {
      count -= 1;
      stop();
    };
  };
  atEnd(() => {
    prototype.onCancel = onCancel;
  });
  return () => count;
}

describe('live models', () => {
  it('are listed with the time the provider states, and route', async () => {
    const { host } = await live(200, [
      { id: 'live', created: 1_700_000_001 },
      { id: 'live' },
      { id: '' },
      { id: 'other' },
    ]);
    await until(async () => (await ids(host)).length === 3);
    expect((await host.get('/v1/models')).json().data).to.deep.include({
      id: 'other',
      object: 'model',
      owned_by: 'a',
      created: 0,
    });
    expect(await ids(host)).to.deep.equal(['live', 'other', 'declared']);
  });

  it('are asked for with the credential, again after each interval', async () => {
    const { host, clock, asked, answer, round } = await live(200, [{ id: 'one' }]);
    await until(async () => (await ids(host)).includes('one'));
    answer(200, [{ id: 'two' }]);
    const next = round();
    clock.advance(60_000);
    await next;
    await until(async () => (await ids(host)).includes('two'));
    expect(await ids(host)).to.deep.equal(['two', 'declared']);
    expect(asked()).to.equal(2);
  });

  it('stay as they were when the provider fails, or lists none', async () => {
    const { host, clock, answer, round } = await live(200, [{ id: 'one' }]);
    await until(async () => (await ids(host)).includes('one'));
    for (const [status, data] of [
      [500, []],
      [200, []],
      [301, []],
      [200, 'no list'],
    ] as const) {
      answer(status, data);
      const next = round();
      clock.advance(60_000);
      await next;
      expect(await ids(host), String(status)).to.deep.equal(['one', 'declared']);
    }
    expect(host.lines.filter(({ msg }) => msg === 'live models could not be listed').length).to.be.greaterThan(1);
  });

  for (const [location, error] of [
    [undefined, 'it answers 307 without a Location'],
    ['http://[::1', 'it answers 307 with a Location that is not an address'],
    [
      '/v2/models?key=hidden',
      'it answers 307 and leads to a relative address, the same host; redirects are not followed',
    ],
    [
      'https://user:hidden@elsewhere.example/x?key=hidden',
      'it answers 307 and leads to https://elsewhere.example, another host; redirects are not followed',
    ],
  ] as const) {
    it(`are not sought where the redirect ${JSON.stringify(location ?? null)} leads`, async () => {
      const upstream = await stubUpstream((_request, response) => {
        response.writeHead(307, location === undefined ? {} : { location }).end();
      });
      const host = await startHost(
        { targets: [upstream.target('a', {}, { discovery })] },
        { variables: { GW_MODEL_DISCOVERY_INTERVAL: '1m' }, clock: fakeClock() },
      );
      const line = (): Record<string, unknown> | undefined =>
        host.lines.find(({ msg }) => msg === 'live models could not be listed');
      await until(async () => (await host.get('/livez')).status === 200 && line() !== undefined);
      expect(line()).to.include({ provider: 'a', error });
      expect(upstream.seen).to.have.length(1);
      expect(JSON.stringify(host.lines)).to.not.include('hidden');
    });
  }

  it('make no new generation when nothing changed', async () => {
    const { host, clock, round } = await live(200, [{ id: 'one' }]);
    await until(async () => (await ids(host)).includes('one'));
    const before = host.host.current?.number;
    const next = round();
    clock.advance(60_000);
    await next;
    expect(host.host.current?.number).to.equal(before);
  });

  it('leave nothing behind from round to round: no listener, and one timer', async () => {
    const { clock, round, host } = await live(200, [{ id: 'one' }]);
    await until(async () => (await ids(host)).includes('one'));
    await settled(clock, 1);
    const listeners = countListeners();
    for (let turn = 0; turn < 20; turn += 1) {
      const next = round();
      clock.advance(60_000);
      await next;
      await settled(clock, 1);
    }
    expect([listeners(), clock.waiting]).to.deep.equal([0, 1]);
    await host.close();
    expect(clock.waiting).to.equal(0);
  });

  for (const interval of ['', '30s', 'often']) {
    it(`are not asked for with the interval "${interval}"`, async () => {
      const { asked, host } = await live(200, [], { GW_MODEL_DISCOVERY_INTERVAL: interval });
      expect(asked()).to.equal(0);
      expect(host.host.settings.notes.some(({ message }) => message.includes('GW_MODEL_DISCOVERY_INTERVAL'))).to.equal(
        interval !== '',
      );
    });
  }
});
