import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type PluginModule, type RawReply, reject, rewrite, type Verdict } from 'gw/contract';
import { Slots } from '../../builtins/resilience/slots.ts';
import {
  type Answer,
  eventually,
  faultUpstream,
  type FaultName,
  type FaultUpstream,
  startHost,
  type TestHost,
} from '../kit/index.ts';

const bytes = Buffer.from('these are other sounds');

function plugin(name: string, after: (reply: RawReply) => Verdict | undefined): PluginModule {
  return definePlugin({
    name,
    type: 'guardrail',
    summary: 'For this test',
    stages: ['after_request'],
    settings: Joi.object({}),
    create: () => ({ after_request: ({ reply }) => after(reply as RawReply) }),
  });
}

async function* noted(body: RawReply['body'], ended: () => void): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) yield Buffer.from(piece).fill(0x2e);
  } finally {
    ended();
  }
}

interface Scene {
  readonly host: TestHost;
  readonly upstream: FaultUpstream;
  readonly slots: Slots;
  speak(): Promise<Answer>;
}

async function scene(fault: FaultName, ...modules: readonly PluginModule[]): Promise<Scene> {
  const upstream = await faultUpstream({ script: () => ({ fault }) });
  const target = upstream.target('a', {
    concurrency: { max_concurrency: 2 },
    circuit_breaker: { failure_threshold: 2 },
  });
  const host = await startHost(
    {
      strategy: { mode: 'single' },
      targets: [target],
      plugins: modules.map(({ name }) => ({ name, stage: 'after_request', enabled: true })),
    },
    { modules },
  );
  const view = host.host.carryover.open();
  const slots = view.lease('limiter a', () => new Slots());
  await view.release();
  return {
    host,
    upstream,
    slots,
    speak: () => host.post('/v1/audio/speech', { model: 'm', input: 'hi', voice: 'alloy' }),
  };
}

async function expectFree({ host, upstream, slots }: Scene): Promise<void> {
  await eventually(() => host.host.slot.leases === 0 && slots.held === 0 && upstream.busy === 0);
  expect({
    leases: host.host.slot.leases,
    held: slots.held,
    waiting: slots.waiting,
    answering: upstream.busy,
  }).to.deep.equal({ leases: 0, held: 0, waiting: 0, answering: 0 });
}

const withSound = (): Verdict => rewrite({ contentType: 'audio/x-other', body: bytes });

describe('a rewrite of audio that still arrives', () => {
  for (const fault of ['ok', 'stall'] as const) {
    it(`takes its place; slot, probe and connection are given back, call after call: ${fault}`, async () => {
      const set = await scene(fault, plugin('other', withSound));
      for (let call = 0; call < 5; call += 1) {
        const answer = await set.speak();
        expect([answer.status, answer.headers.get('content-type'), answer.text]).to.deep.equal([
          200,
          'audio/x-other',
          bytes.toString(),
        ]);
      }
      await expectFree(set);
    });

    it(`that another plugin refuses then leaves nothing behind: ${fault}`, async () => {
      const set = await scene(
        fault,
        plugin('other', withSound),
        plugin('no', () => reject('no')),
      );
      for (let call = 0; call < 5; call += 1) expect((await set.speak()).status).to.equal(502);
      await expectFree(set);
    });

    it(`of the wrong shape is a fault of the plugin, and leaves nothing behind: ${fault}`, async () => {
      for (const body of [
        {},
        { model: 'm2' },
        { contentType: 'audio/x-other' },
        { contentType: 7, body: bytes },
        { contentType: 'audio/x-other', body: 'text' },
      ]) {
        const set = await scene(
          fault,
          plugin('other', () => ({ action: 'rewrite', body }) as never),
        );
        for (let call = 0; call < 3; call += 1) expect((await set.speak()).json().error.code).to.equal('plugin_error');
        await expectFree(set);
      }
    });
  }

  it('may wrap what arrives, and is read to its end', async () => {
    let ended = 0;
    const set = await scene(
      'ok',
      plugin('dots', ({ contentType, body }) =>
        rewrite({
          contentType,
          body: noted(body, () => {
            ended += 1;
          }),
        }),
      ),
    );
    for (let call = 0; call < 5; call += 1) {
      const answer = await set.speak();
      expect(answer.status).to.equal(200);
      expect(answer.text).to.match(/^\.{4096}$/);
    }
    await expectFree(set);
    expect(ended).to.equal(5);
  });

  it("that wraps what breaks off counts as the provider's failure", async () => {
    const set = await scene(
      'reset-in-body',
      plugin('dots', ({ contentType, body }) => rewrite({ contentType, body: noted(body, () => {}) })),
    );
    for (let call = 0; call < 2; call += 1)
      await set.speak().then(
        () => expect.fail('it was whole'),
        () => {},
      );
    await expectFree(set);
    expect((await set.speak()).status).to.equal(503);
  });
});
