import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type PluginModule, type PluginType, reject, type Stage } from 'gw/contract';
import { eventually, fakeClock, forSuite, heldBy, MASTER_KEY, rawClient, slotsOf } from '../kit/index.ts';
import { answerOf, FAMILIES, scene, type Scene, statusOf } from './support/all-families.ts';

const STAGES: readonly Stage[] = ['before_request', 'after_request', 'on_error'];
const TYPES: readonly PluginType[] = ['guardrail', 'ratelimit', 'transform', 'auth', 'logging', 'metrics'];

/** A plugin of each type, which does what the test says, and notes where it was asked. */
interface Plugins extends Scene {
  readonly ran: string[];
  act: { readonly type: PluginType; readonly what: 'reject' | 'throw' } | undefined;
}

async function withPlugins(readsContent: boolean): Promise<Plugins> {
  const ran: string[] = [];
  const plugins: { current: Plugins | undefined } = { current: undefined };
  const moduleOf = (type: PluginType): PluginModule =>
    definePlugin({
      name: `my-${type}`,
      type,
      summary: 'For this test',
      stages: STAGES,
      settings: Joi.object({}),
      readsContent: () => readsContent,
      create: () =>
        Object.fromEntries(
          STAGES.map((stage) => [
            stage,
            ({ surface }: { surface: string }) => {
              ran.push(`${type} ${stage} ${surface}`);
              const act = plugins.current?.act;
              if (act?.type !== type || stage !== 'before_request') return undefined;
              if (act.what === 'throw') throw new Error('a plugin of a test');
              return reject('not today', type === 'ratelimit' ? { retryAfterMs: 7000 } : {});
            },
          ]),
        ),
    });
  const entries = TYPES.flatMap((type) => STAGES.map((stage) => ({ name: `my-${type}`, stage, enabled: true })));
  plugins.current = {
    ...(await scene({}, { plugins: entries }, { modules: TYPES.map(moduleOf) })),
    ran,
    act: undefined,
  };
  return plugins.current;
}

for (const family of FAMILIES) {
  const { name, surface, method, path, isTimedToHeaders, isTunnel = false } = family;

  describe(`governance of ${name}`, () => {
    it('has the circuit breaker: a 5xx opens it, and nothing is sent while it is open', async () => {
      const { ask, called, calls } = await scene({ circuit_breaker: { failure_threshold: 1 } });
      const failing = await ask(family);
      const call = await called(1);
      call.begin(500);
      call.end();
      expect((await answerOf(failing)).status).to.equal(500);
      expect(await answerOf(await ask(family))).to.include({ status: 503, code: 'upstream_unavailable' });
      expect(calls).to.have.length(1);
    });

    if (!isTunnel)
      it('has the circuit breaker: an answer that breaks off counts as a failure, a 4xx does not', async () => {
        // of a tunnel that breaks off nothing is known
        const { ask, called, t } = await scene({ circuit_breaker: { failure_threshold: 1 } });
        const refused = await ask(family);
        const first = await called(1);
        first.begin(404);
        first.end();
        expect((await answerOf(refused)).status).to.equal(404);
        const cut = await ask(family);
        const second = await called(2);
        second.begin(200);
        await cut.until(/\r\n\r\n/);
        second.reset();
        expect(await cut.closed().catch(() => 'cut')).not.to.match(/0\r\n\r\n$/);
        await eventually(() => t.host.slot.leases === 0);
        expect(await answerOf(await ask(family))).to.include({ status: 503, code: 'upstream_unavailable' });
      });

    it('has the limiter: a slot is held to the last byte, the next one waits, the one after it is refused', async () => {
      const { ask, called, calls, t } = await scene({ concurrency: { max_concurrency: 1, queue_size: 1 } });
      const holding = await ask(family);
      const call = await called(1);
      call.begin(200);
      await holding.until(/\r\n\r\n[^]/);
      const waiting = await ask(family);
      await eventually(() => t.host.slot.leases === 2);
      expect(await answerOf(await ask(family))).to.deep.equal({
        status: 429,
        code: 'provider_saturated',
        retryAfter: '1',
      });
      expect(calls).to.have.length(1);
      call.end();
      holding.socket.end();
      const next = await called(2);
      next.begin(200);
      next.end();
      expect(statusOf(await waiting.until(/\r\n\r\n[^]/))).to.equal(200);
      for (const client of [holding, waiting]) client.socket.end();
      await eventually(() => t.host.slot.leases === 0);
    });

    it('has request_timeout: 504 where no headers came in time, and the breaker hears of it', async () => {
      const clock = fakeClock();
      const { ask, called, t } = await scene(
        { circuit_breaker: { failure_threshold: 1 } },
        { request_timeout: '2s' },
        { clock },
      );
      const slow = await ask(family);
      await called(1);
      clock.advance(2000);
      expect(await answerOf(slow)).to.include({ status: 504, code: 'gateway_timeout' });
      expect((await answerOf(await ask(family))).status).to.equal(503);
      await eventually(() => t.host.slot.leases === 0);
    });

    it(`has request_timeout: the rest of the answer is ${isTimedToHeaders ? 'not bounded' : 'cut off'}`, async () => {
      const clock = fakeClock();
      const { ask, called, t } = await scene({}, { request_timeout: '2s' }, { clock });
      const client = await ask(family);
      const call = await called(1);
      call.begin(200);
      await client.until(/\r\n\r\n[^]/);
      clock.advance(2000);
      if (isTimedToHeaders) call.end();
      const text = await client.closed().catch(() => client.received());
      expect(text.includes('}')).to.equal(isTimedToHeaders);
      await eventually(() => t.host.slot.leases === 0);
    });

    for (const [how, end] of [
      ['the client leaves', 'client'],
      ['the upstream leaves', 'upstream'],
    ] as const) {
      for (const [when, isBegun] of [
        ['before the answer', false],
        ['in the middle of it', true],
      ] as const) {
        it(`holds nothing when ${how} ${when}`, async () => {
          const { ask, called, t } = await scene({
            concurrency: { max_concurrency: 1, queue_size: 5 },
            circuit_breaker: { failure_threshold: 9 },
          });
          const slots = slotsOf(t.host);
          const client = await ask(family);
          const call = await called(1);
          if (isBegun) {
            call.begin(200);
            await client.until(/\r\n\r\n[^]/);
          }
          const { leases, slots: taken } = heldBy(t.host, slots);
          expect({ leases, taken }).to.deep.equal({ leases: 1, taken: 1 });
          if (end === 'client') client.socket.resetAndDestroy();
          else call.reset();
          if (end === 'upstream' && !isBegun)
            expect(await answerOf(client)).to.include({ status: 502, code: 'upstream_error' });
          await eventually(() => t.host.slot.leases === 0 && t.host.activity.count === 0);
          expect(heldBy(t.host, slots)).to.include({ leases: 0, requests: 0, slots: 0, waiting: 0 });
        });
      }
    }

    if (method === 'POST')
      it('holds nothing when the client leaves in the middle of its upload', async () => {
        const { t } = await scene({ concurrency: { max_concurrency: 1, queue_size: 5 } });
        const client = await rawClient(t.url);
        client.send(
          `POST ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\nContent-Length: 100000\r\n\r\n{"model":"m","x":"`,
        );
        await eventually(() => t.host.activity.count === 1);
        client.socket.resetAndDestroy();
        await eventually(() => t.host.activity.count === 0);
        expect(heldBy(t.host, slotsOf(t.host))).to.include({ leases: 0, requests: 0, slots: 0, waiting: 0 });
      });

    const plugins = forSuite(() => withPlugins(!isTunnel)); // what a tunnel carries is refused where it would have to be read

    it('has plugins of every type, before and after an answer, and when it fails', async () => {
      const { ask, called, ran, calls, t } = plugins();
      const reached = calls.length;
      ran.length = 0;
      const served = await ask(family);
      const call = await called(reached + 1);
      call.begin(200);
      await served.until(/\r\n\r\n[^]/);
      call.end();
      await served.closed();
      const expected = (stage: Stage): string[] => TYPES.map((type) => `${type} ${stage} ${surface}`);
      await eventually(() => t.host.slot.leases === 0);
      expect(ran).to.deep.equal([...expected('before_request'), ...expected('after_request')]);
      ran.length = 0;
      const failing = await ask(family);
      const failed = await called(reached + 2);
      failed.begin(500);
      failed.end();
      await answerOf(failing);
      await eventually(() => t.host.slot.leases === 0);
      expect(ran).to.deep.equal([...expected('before_request'), ...expected('on_error')]);
    });

    it('has the refusals of plugins of every type, and nothing is sent', async () => {
      const set = plugins();
      const reached = set.calls.length;
      for (const type of TYPES) {
        set.act = { type, what: 'reject' };
        const expected =
          type === 'ratelimit'
            ? { status: 429, code: 'rate_limit_exceeded', retryAfter: '7' }
            : { status: 400, code: 'request_rejected', retryAfter: undefined };
        expect(await answerOf(await set.ask(family)), type).to.deep.equal(expected);
      }
      set.act = undefined;
      expect(set.calls.length).to.equal(reached);
    });

    it('has the faults of plugins: 500, but for those that only watch', async () => {
      const set = plugins();
      for (const type of TYPES) {
        set.act = { type, what: 'throw' };
        const client = await set.ask(family);
        if (type === 'logging' || type === 'metrics') {
          const call = await set.called(set.calls.length + 1);
          call.begin(200);
          await client.until(/\r\n\r\n[^]/);
          call.end();
          expect(statusOf(await client.closed()), type).to.equal(200);
        } else expect(await answerOf(client), type).to.include({ status: 500, code: 'plugin_error' });
      }
      set.act = undefined;
      await eventually(() => set.t.host.slot.leases === 0);
    });

    if (method === 'POST')
      it('has the guardrails that are shipped, also for bodies that they cannot read', async () => {
        const { ask, called, calls } = await scene(
          {},
          {
            plugins: [
              { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['forbidden'] } },
            ],
          },
        );
        const served = await ask(family);
        const call = await called(1);
        call.begin(200);
        call.end();
        expect((await answerOf(served)).status).to.equal(200);
        const routed = surface === 'responses' || path.includes('fine_tuning');
        const bad = [
          '{"model":"m","x":{"y":["so forbidden"]}}',
          `{"model":"m","x":"${'y'.repeat(1024 * 1024)}"}`,
          '{"x":"forbidden","model":"m","x":"fine"}',
          ...(routed ? [] : ['not json', '--b\r\n\r\nx\r\n--b--']),
        ];
        for (const body of bad)
          expect(await answerOf(await ask(family, body)), body.slice(0, 40)).to.include({
            status: 400,
            code: 'request_rejected',
          });
        expect(calls).to.have.length(1);
      });

    it('has a row in the log and figures, with target and provider', async () => {
      const { ask, called, t } = await scene();
      const client = await ask(family);
      const call = await called(1);
      call.begin(200);
      await client.until(/\r\n\r\n[^]/);
      call.end();
      await client.closed();
      await eventually(() => t.host.slot.leases === 0);
      expect(t.lines.find(({ msg }) => msg === 'pass-through request completed')).to.include({
        target: 'a',
        provider: 'a',
      });
      const counted = t.samples.find(({ name: figure }) => figure === 'gateway_requests_total');
      expect(counted?.labels).to.include({ provider: 'a', status: 'success' });
    });
  });
}
