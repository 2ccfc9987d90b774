import { expect } from 'chai';
import { NO_CATALOG } from '../../host/common/catalog.ts';
import { answer, type ChatReply, definePlugin } from 'gw/contract';
import Joi from 'joi';
import { ask, chatReply, replyJson } from '../kit/index.ts';
import { PATH, RATES, refusal, refused, scene, STAGES, usage } from './budget-scene.ts';
import { withKeys } from './kit.ts';

describe('budget', () => {
  it('serves the request that crosses the limit, and refuses the next with 402 and without a time', async () => {
    const { send, upstream } = await scene({ ...RATES, spend_limit_usd: 20 });
    for (const status of [200, 200]) expect((await send()).status).to.equal(status);
    expect(refusal(await send())).to.deep.equal(refused('spent $36.0000 of $20.00 limit'));
    expect(refusal(await send({ stream: true }))).to.deep.equal(refused('spent $36.0000 of $20.00 limit'));
    expect(upstream.seen).to.have.length(2);
  });

  it('refuses at the limit itself, and states four decimals of what was spent and two of the limit', async () => {
    const { send } = await scene({ input_per_m_tokens: 1, output_per_m_tokens: 0.125, spend_limit_usd: 0.000011875 });
    expect((await send()).status).to.equal(200); // 11 + 0.875 micro-dollars, of which 11 are whole
    expect((await send()).status).to.equal(200);
    expect(refusal(await send())).to.deep.equal(refused('spent $0.0000 of $0.00 limit'));
  });

  it('counts each credential by itself, and no request without one', async () => {
    const { send } = await scene({ ...RATES, spend_limit_usd: 1 });
    expect([(await send()).status, (await send()).status, (await send({}, 'key-b')).status]).to.deep.equal([
      200, 402, 200,
    ]);
    const open = await scene({ ...RATES, spend_limit_usd: 1 }, undefined, STAGES, {
      variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' },
    });
    const bare = (): Promise<number> =>
      fetch(`${open.host.url}${PATH}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(ask()),
      }).then(({ status }) => status);
    expect([await bare(), await bare(), await bare()]).to.deep.equal([200, 200, 200]);
  });

  it('without a limit refuses no request, and counts all the same', async () => {
    const { send, spent, apply } = await scene(RATES);
    for (let time = 0; time < 3; time += 1) expect((await send()).status).to.equal(200);
    expect(spent()).to.equal(54_000_000);
    await apply({ ...RATES, spend_limit_usd: 54 });
    expect((await send()).status).to.equal(402);
  });

  it('counts on every surface, but no request for a model that no target serves', async () => {
    const { send, spent } = await scene({ ...RATES, spend_limit_usd: 5 }, (_request, response) =>
      replyJson(response, 200, {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [1] }],
        model: 'm',
        usage: { prompt_tokens: 6, total_tokens: 6 },
      }),
    );
    expect((await send({ model: 'nosuch' })).status).to.equal(404);
    expect([
      (await send({ input: 'x' }, 'key-a', '/v1/embeddings')).status,
      (await send({ input: 'x' }, 'key-a', '/v1/embeddings')).status,
    ]).to.deep.equal([200, 402]);
    expect(spent()).to.equal(6_000_000);
  });

  for (const [what, rates, told, cost] of [
    [
      'cached tokens on the input rate without their own',
      { input_per_m_tokens: 10, output_per_m_tokens: 100 },
      { cache_read_tokens: 4 },
      10 * 10 + 5 * 100,
    ],
    [
      'cached tokens by their rate',
      { input_per_m_tokens: 10, output_per_m_tokens: 100, cache_read_per_m_tokens: 1 },
      { cache_read_tokens: 4 },
      6 * 10 + 4 + 5 * 100,
    ],
    [
      'cached tokens free at 0',
      { input_per_m_tokens: 10, output_per_m_tokens: 100, cache_read_per_m_tokens: 0 },
      { cache_read_tokens: 4 },
      6 * 10 + 5 * 100,
    ],
    [
      'no more cached tokens than the prompt has',
      { input_per_m_tokens: 10, cache_read_per_m_tokens: 1 },
      { cache_read_tokens: 40 },
      10,
    ],
    [
      'cache writes beside the prompt',
      { input_per_m_tokens: 10, cache_write_per_m_tokens: 7 },
      { cache_write_tokens: 3 },
      10 * 10 + 3 * 7,
    ],
    [
      'cache writes in the prompt',
      { input_per_m_tokens: 10, cache_write_per_m_tokens: 7 },
      { prompt_tokens_details: { cache_write_tokens: 3 } },
      7 * 10 + 3 * 7,
    ],
    [
      'cache writes in the prompt on the input rate without their own',
      { input_per_m_tokens: 10 },
      { prompt_tokens_details: { cache_write_tokens: 3 } },
      10 * 10,
    ],
    ['reasoning as part of the completion', { output_per_m_tokens: 100 }, { reasoning_tokens: 5 }, 500],
  ] as const) {
    it(`bills ${what}`, async () => {
      const { send, spent } = await scene(rates, (_request, response) =>
        replyJson(response, 200, chatReply('x', usage(10, 5, told))),
      );
      await send();
      expect(spent()).to.equal(cost);
    });
  }

  it('bills by the catalog when no rate is written, what it does not know not at all', async () => {
    const { send, spent, host } = await scene({ spend_limit_usd: 1 });
    const cost = {
      totalUsd: 0.6,
      inputUsd: 0,
      outputUsd: 0,
      cacheReadUsd: 0,
      cacheWriteUsd: 0,
      reasoningUsd: 0,
      modelFound: true,
      priced: true,
      catalog: 'test',
    };
    await send();
    expect(spent()).to.equal(0);
    const { services } = host.host;
    services.catalog = { ...NO_CATALOG, cost: () => cost };
    for (const status of [200, 200]) expect((await send()).status).to.equal(status);
    expect(refusal(await send())).to.deep.equal(refused('spent $1.2000 of $1.00 limit'));
  });

  it('bills nothing for answers of a cache', async () => {
    const cached = definePlugin({
      name: 'cached',
      type: 'transform',
      keepsModel: true,
      summary: 'Answers',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({ before_request: () => answer(chatReply('x') as ChatReply) }),
    });
    const { send, spent } = await scene(
      { ...RATES, spend_limit_usd: 10 },
      undefined,
      STAGES,
      { modules: [cached], builtins: [withKeys('a')] },
      [{ name: 'cached', stage: 'before_request', enabled: true }],
    );
    for (const stream of [false, true]) expect((await send({ stream })).status).to.equal(200);
    expect(spent()).to.equal(0);
  });
});

describe('budget, settings', () => {
  const problemOf = async (config: object, stages = STAGES): Promise<string> => {
    const { apply } = await scene({});
    return apply(config, stages).then(
      () => 'applied',
      (error: Error) => error.message,
    );
  };

  for (const setting of [
    'spend_limit_usd',
    'input_per_m_tokens',
    'output_per_m_tokens',
    'cache_read_per_m_tokens',
    'cache_write_per_m_tokens',
    'max_keys',
  ]) {
    it(`refuses ${setting} unless it is a number of 0 or more`, async () => {
      for (const value of [-1, '5', '${AMOUNT}', null])
        expect(await problemOf({ [setting]: value }), String(value))
          .to.include('BV05')
          .and.include('budget')
          .and.include(setting);
    });
  }

  it('refuses a limit that rates of 0 never reach, and takes none, and no rates at all', async () => {
    for (const rates of [
      { input_per_m_tokens: 0 },
      { input_per_m_tokens: 0, output_per_m_tokens: 0, cache_read_per_m_tokens: 0, cache_write_per_m_tokens: 0 },
    ]) {
      expect(await problemOf({ ...rates, spend_limit_usd: 1 }))
        .to.include('BV05')
        .and.include('spend_limit_usd');
      expect(await problemOf(rates)).to.equal('applied');
    }
    for (const fine of [{ spend_limit_usd: 1 }, { spend_limit_usd: 1, input_per_m_tokens: 0, output_per_m_tokens: 1 }])
      expect(await problemOf(fine)).to.equal('applied');
  });

  it('refuses other settings that are not theirs, or not right', async () => {
    for (const [config, setting] of [
      [{ limit: 1 }, 'limit'],
      [{ store_id: 3 }, 'store_id'],
      [{ reserve_tokens: 0.5 }, 'reserve_tokens'],
      [{ reserve_tokens: -1 }, 'reserve_tokens'],
    ] as const) {
      expect(await problemOf(config))
        .to.include('BV06')
        .and.include('budget')
        .and.include(setting);
    }
  });

  it('must stand before and after, and may stand at on_error', async () => {
    expect(await problemOf({}, ['before_request']))
      .to.include('BV07')
      .and.include('budget')
      .and.include('after_request is missing');
    expect(await problemOf({}, ['after_request', 'on_error']))
      .to.include('BV07')
      .and.include('before_request is missing');
    expect(await problemOf({}, [...STAGES, 'on_error'])).to.equal('applied');
  });
});
