import { expect } from 'chai';
import { NO_CATALOG } from '../../host/common/catalog.ts';
import { definePlugin } from 'gw/contract';
import Joi from 'joi';
import {
  ask,
  chatReply,
  eventually,
  openSse,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  stubUpstream,
  type StubHandler,
} from '../kit/index.ts';
import { entries, PATH, RATES, refusal, refused, scene, STAGES, usage } from './budget-scene.ts';

describe('budget, in flight', () => {
  const held = (): { handler: StubHandler; open: () => void } => {
    const gate = Promise.withResolvers<void>();
    return {
      handler: async (_request, response) => {
        await gate.promise;
        replyJson(response, 200, chatReply('x'));
      },
      open: () => gate.resolve(),
    };
  };
  /** 'hi' is a token: two characters by four, and one. */
  for (const [what, config, request, inFlight] of [
    ['the prompt and the declared ceiling', {}, { max_tokens: 4 }, 5],
    ['the ceiling that goes before the other', {}, { max_tokens: 9, max_completion_tokens: 4 }, 5],
    ['the ceiling of each choice', {}, { max_tokens: 2, n: 2 }, 5],
    ['reserve_tokens without a ceiling', { reserve_tokens: 3 }, {}, 4],
    ['nothing for an answer where reserve_tokens says so', { reserve_tokens: 0 }, {}, 1],
  ] as const) {
    it(`reserves ${what}`, async () => {
      const { handler, open } = held();
      const { send, upstream, reserved, spent } = await scene(
        { ...RATES, ...config, spend_limit_usd: inFlight },
        handler,
      );
      const first = send(request);
      await eventually(() => upstream.seen.length === 1);
      expect(reserved()).to.equal(inFlight * 1e6);
      expect(refusal(await send())).to.deep.equal(refused(`spent $0.0000 of $${inFlight}.00 limit`));
      open();
      expect((await first).status).to.equal(200);
      expect([reserved(), spent()]).to.deep.equal([0, 18_000_000]);
    });
  }

  it('reserves at the price of the dearest target', async () => {
    const { handler, open } = held();
    const { send, upstream, reserved, host } = await scene({ spend_limit_usd: 1 }, handler);
    const { services } = host.host;
    services.catalog = {
      ...NO_CATALOG,
      tokenPrice: () => ({
        input: 2,
        output: 3,
        cacheRead: undefined,
        cacheWrite: undefined,
        embedding: undefined,
        image: undefined,
      }),
    };
    const first = send({ max_tokens: 100 });
    await eventually(() => upstream.seen.length === 1);
    expect(reserved()).to.equal(2 + 300);
    open();
    await first;
  });

  it('gives back what failed, whatever stage it failed at, and bills it at on_error where it reports', async () => {
    const failing = await scene({ ...RATES, spend_limit_usd: 1 }, (_request, response) => replyJson(response, 500, {}));
    for (let time = 0; time < 3; time += 1) expect((await failing.send({ max_tokens: 50 })).status).to.equal(502);
    expect([failing.spent(), failing.reserved()]).to.deep.equal([0, 0]);
    const filter = (stages: readonly string[]): object[] =>
      stages.map((stage) => ({ name: 'word-filter', stage, enabled: true, config: { blocked_words: ['hello'] } }));
    for (const [stages, billed] of [
      [STAGES, 0],
      [[...STAGES, 'on_error'], 18_000_000],
    ] as const) {
      const { send, spent, reserved } = await scene(RATES, undefined, stages, {}, filter(['after_request']));
      expect((await send()).status).to.equal(502);
      expect([spent(), reserved()]).to.deep.equal([billed, 0]);
    }
  });

  it('gives back what a later plugin refused', async () => {
    const no = definePlugin({
      name: 'no',
      type: 'guardrail',
      summary: 'Refuses',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({ before_request: () => ({ action: 'reject', reason: 'no' }) }),
    });
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('x')));
    const host = await startHost(
      {
        targets: [upstream.target('a')],
        plugins: [...entries({ ...RATES, spend_limit_usd: 1 }), { name: 'no', stage: 'before_request', enabled: true }],
      },
      { modules: [no] },
    );
    for (let time = 0; time < 3; time += 1)
      expect((await host.post(PATH, ask('hi', { max_tokens: 50 }))).status).to.equal(400);
  });
});

describe('budget, streams', () => {
  const piece = (content: string): string =>
    sseEvent({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    });
  const told = sseEvent({ id: 'c', choices: [], ...usage(3, 2) });

  it('are billed as they report', async () => {
    const { send, spent, reserved } = await scene(RATES, (_request, response) => replyStream(response, ['a', 'b']));
    expect((await send({ stream: true, max_tokens: 100 })).text).to.include('[DONE]');
    expect([spent() > 0, reserved()]).to.deep.equal([true, 0]);
  });

  for (const [what, events, billed] of [
    ['the usage that arrived', piece('abcd') + told, 5],
    ['prompt and delivered text where none did', piece('abcd') + piece('efgh'), 1 + 2],
  ] as const) {
    it(`that break are billed from ${what}`, async () => {
      const { send, spent, reserved } = await scene(RATES, (_request, response) => {
        openSse(response);
        response.end(events + sseEvent({ error: { message: 'boom' } }));
      });
      expect((await send({ stream: true, max_tokens: 100 })).text).to.include('stream_error');
      await eventually(() => spent() > 0);
      expect([spent(), reserved()]).to.deep.equal([billed * 1e6, 0]);
    });
  }

  it('that the client leaves are billed from what was delivered', async () => {
    const { host, spent, reserved } = await scene(RATES, (_request, response) => {
      openSse(response);
      response.write(piece('abcd'));
    });
    const leaving = new AbortController();
    const response = await fetch(`${host.url}${PATH}`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: 'Bearer key-a', 'content-type': 'application/json' },
      body: JSON.stringify(ask('hi', { stream: true, max_tokens: 100 })),
    });
    await response.body?.getReader().read();
    expect(reserved()).to.equal(101e6);
    leaving.abort();
    await eventually(() => spent() > 0);
    expect([spent(), reserved()]).to.deep.equal([2e6, 0]);
  });

  it('that never begin are given back', async () => {
    const { send, spent, reserved } = await scene(RATES, (_request, response) => replyJson(response, 500, {}));
    expect((await send({ stream: true, max_tokens: 100 })).status).to.equal(502);
    expect([spent(), reserved()]).to.deep.equal([0, 0]);
  });

  it('that a guardrail ends are billed as they were delivered', async () => {
    const filter = [
      {
        name: 'word-filter',
        stage: 'after_request',
        enabled: true,
        config: { blocked_words: ['efgh'], stream: 'window' },
      },
    ];
    const { send, spent } = await scene(
      RATES,
      (_request, response) => {
        openSse(response);
        response.end(`${piece('abcd')}${piece('efgh')}${told}${sseEvent('[DONE]')}`);
      },
      STAGES,
      {},
      filter,
    );
    expect((await send({ stream: true })).text).to.include('stream_error');
    await eventually(() => spent() > 0);
    expect(spent()).to.be.within(1e6, 3e6);
  });
});
