import { expect } from 'chai';
import Joi from 'joi';
import { answer, type ChatRequest, definePlugin, type PluginType, rewrite, texts } from 'gw/contract';
import { chatReply } from '../kit/index.ts';
import { calling, setUp, stdio, toolContents } from './setup.ts';

const entry = (name: string, stage: string, config: object = {}): object => ({ name, stage, enabled: true, config });

/** A plugin that notes how many messages it sees at each stage, and whose request. */
function noting(name: string, type: PluginType, seen: string[]): ReturnType<typeof definePlugin> {
  return definePlugin({
    name,
    type,
    summary: 'For this test',
    stages: ['before_request', 'after_request'],
    settings: Joi.object({}),
    keepsModel: true,
    create: () => ({
      before_request: ({ request, measurements: { costUsd } }) =>
        void seen.push(`${name} ${(request as ChatRequest).messages.length} ${costUsd}`),
      after_request: ({ request, usage }) =>
        void seen.push(
          `${name} after ${(request as ChatRequest).messages.length} ${'tools' in request} ${usage?.total_tokens}`,
        ),
    }),
  });
}

describe('the plugins of a loop of tool calls', () => {
  it('see each further turn if they are guardrails, rate limits or auth, and the end with the sums once', async () => {
    const seen: string[] = [];
    const types = ['guardrail', 'ratelimit', 'auth', 'transform', 'logging', 'metrics'] as const;
    const setup = await setUp([stdio('s')], {
      turns: [calling([['echo']]), calling([['echo'], ['echo']]), chatReply('done')],
      modules: types.map((type) => noting(type, type, seen)),
      config: { plugins: types.flatMap((type) => [entry(type, 'before_request'), entry(type, 'after_request')]) },
    });
    await setup.chat();
    expect(seen).to.deep.equal([
      ...types.map((type) => `${type} 1 undefined`),
      ...['guardrail', 'ratelimit', 'auth'].map((type) => `${type} 3 undefined`),
      ...['guardrail', 'ratelimit', 'auth'].map((type) => `${type} 6 undefined`),
      ...types.map((type) => `${type} after 1 false 54`),
    ]);
  });

  for (const more of [{}, { stream: true }]) {
    it(`may refuse the result of a tool: no further call is made, and the answer is plain JSON: ${JSON.stringify(more)}`, async () => {
      const setup = await setUp([stdio('s')], {
        turns: [calling([['echo', { a: 'forbidden' }]]), chatReply('never')],
        config: { plugins: [entry('word-filter', 'before_request', { blocked_words: ['forbidden'] })] },
      });
      const answer = await setup.chat(more);
      expect([answer.status, answer.json().error.code, setup.sent().length]).to.deep.equal([
        400,
        'request_rejected',
        1,
      ]);
      expect(answer.json().error.message).to.include('word-filter');
      expect(setup.t.samples).to.deep.include({
        name: 'gateway_requests_total',
        labels: { provider: 'a', model: 'm', status: 'rejected' },
        value: 1,
      });
      expect(setup.t.samples.filter(({ name }) => name === 'gateway_provider_errors_total')).to.deep.equal([]);
    });
  }

  it('may mask the result of a tool: what is sent is masked, and the request of the caller stays', async () => {
    const masking = definePlugin({
      name: 'masking',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: (exchange) =>
          [...texts(exchange)].some((text) => text.includes('4111'))
            ? rewrite(JSON.parse(JSON.stringify(exchange.request).replaceAll('4111', '****')) as ChatRequest)
            : undefined,
      }),
    });
    const setup = await setUp([stdio('s')], {
      turns: [calling([['echo', { a: '4111' }]]), chatReply('done')],
      modules: [masking],
      config: { plugins: [entry('masking', 'before_request')] },
    });
    await setup.chat();
    expect(toolContents(setup.messages())).to.deep.equal(['echo {"a":"****"}']);
    expect(setup.sent()[1].tools).to.have.lengthOf(1);
  });

  for (const config of [{}, { mcp: { stream: true } }]) {
    it(`may answer in the place of a further turn: ${JSON.stringify(config)}`, async () => {
      const answering = definePlugin({
        name: 'answering',
        type: 'guardrail',
        summary: 'For this test',
        stages: ['before_request'],
        settings: Joi.object({}),
        create: () => ({
          before_request: ({ request }) =>
            (request as ChatRequest).messages.length > 1
              ? answer({
                  choices: [{ index: 0, message: { role: 'assistant', content: 'not that' }, finish_reason: 'stop' }],
                })
              : undefined,
        }),
      });
      const setup = await setUp([stdio('s')], {
        turns: [calling([['echo']]), chatReply('never')],
        modules: [answering],
        config: { ...config, plugins: [entry('answering', 'before_request')] },
      });
      const whole = await setup.chat();
      expect([
        whole.status,
        whole.json().choices[0].message.content,
        whole.json().provider,
        setup.sent().length,
      ]).to.deep.equal([200, 'not that', 'answering', 1]);
    });
  }

  it('count a rate limit for each turn', async () => {
    const setup = await setUp([stdio('s')], {
      turns: [calling([['echo']])],
      config: { plugins: [entry('rate-limit', 'before_request', { requests_per_second: 0.001, burst: 2 })] },
    });
    const answer = await setup.chat({ stream: true });
    expect([answer.status, answer.json().error.code, setup.sent().length]).to.deep.equal([
      429,
      'rate_limit_exceeded',
      2,
    ]);
    expect(Number(answer.headers.get('retry-after'))).to.be.greaterThan(0);
  });

  it('have a budget count the turns so far, and bill them when it refuses', async () => {
    const budget = { spend_limit_usd: 20, input_per_m_tokens: 1_000_000, output_per_m_tokens: 1_000_000 };
    const setup = await setUp([stdio('s')], {
      turns: [calling([['echo']])],
      config: { plugins: ['before_request', 'after_request'].map((stage) => entry('budget', stage, budget)) },
    });
    for (const more of [{ stream: true }, {}]) {
      const answer = await setup.chat(more);
      expect([answer.status, answer.json().error.code, answer.headers.get('retry-after')]).to.deep.equal([
        402,
        'insufficient_quota',
        null,
      ]);
    }
    expect(setup.sent().length, '18 dollars a turn: the third is not made, and no turn of the next request').to.equal(
      2,
    );
  });

  it('have the cache answer for model and tool, streams as well', async () => {
    const setup = await setUp([stdio('s')], {
      turns: [calling([['echo']]), chatReply('done')],
      config: { plugins: ['before_request', 'after_request'].map((stage) => entry('response-cache', stage, {})) },
    });
    const states: (string | null)[] = [];
    for (const more of [{}, {}, { stream: true }, { stream: true }]) {
      const answer = await setup.chat(more);
      states.push(answer.headers.get('x-gateway-cache'));
      const choices: any[] =
        'stream' in more ? answer.events().flatMap((event) => event.choices ?? []) : answer.json().choices;
      expect(choices.map(({ delta, message }) => (delta ?? message).content ?? '').join('')).to.equal('done');
    }
    expect([states, setup.sent().length]).to.deep.equal([['miss', 'hit', 'miss', 'hit'], 3]);
  });

  it('guard the answer of a loop that a client gets as a stream: what they withhold does not leave', async () => {
    const setup = await setUp([stdio('s')], {
      turns: [calling([['echo']]), chatReply('a forbidden word')],
      config: { plugins: [entry('word-filter', 'after_request', { blocked_words: ['forbidden'] })] },
    });
    const answer = await setup.chat({ stream: true });
    expect(answer.text).to.not.include('forbidden word');
  });
});

describe('readiness and health with tool servers', () => {
  const PLAIN = { config: {} };

  it('list each with its state; the reason is for administrators', async () => {
    const setup = await setUp([stdio('good'), { name: 'bad', command: 'x', env: { A: '${NOT_SET}' } }], {
      waits: false,
      ...PLAIN,
    });
    await setup.ready('good');
    const ready = await setup.t.get('/readyz');
    expect([ready.status, ready.json().mcp_servers]).to.deep.equal([
      200,
      [
        { name: 'good', ready: true, required: false },
        { name: 'bad', ready: false, required: false },
      ],
    ]);
    const health = (await setup.t.get('/admin/health')).json();
    expect(health.mcp_servers).to.deep.equal([
      { name: 'good', ready: true, required: false, last_error: '' },
      { name: 'bad', ready: false, required: false, last_error: 'an environment variable is not set: NOT_SET' },
    ]);
    expect(health.status).to.equal('healthy');
  });

  it('are lowered by a server that is required and not ready, and by no other', async () => {
    const setup = await setUp([{ name: 'bad', command: 'x', env: { A: '${NOT_SET}' }, required: true }], {
      waits: false,
    });
    const ready = await setup.t.get('/readyz');
    expect([ready.status, ready.json()]).to.deep.equal([
      503,
      {
        status: 'not_ready',
        reason: 'required mcp server unavailable',
        targets: [{ name: 'a', routable: true, circuit: 'closed' }],
      },
    ]);
    expect((await setup.t.get('/admin/health')).json().status).to.equal('degraded');
    expect((await setup.chat()).status, 'requests are served').to.equal(200);
  });

  it('have no such list without servers', async () => {
    const setup = await setUp([]);
    expect((await setup.t.get('/readyz')).json()).to.not.have.property('mcp_servers');
    expect((await setup.t.get('/admin/health')).json().mcp_servers).to.deep.equal([]);
  });
});
