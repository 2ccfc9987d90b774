import { expect } from 'chai';
import { definePlugin, rewrite } from 'gw/contract';
import Joi from 'joi';
import {
  type Answer,
  ask,
  chatReply,
  type FakeClock,
  fakeClock,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { WITH_EMBEDDINGS, withKeys } from './kit.ts';

const PATH = '/v1/chat/completions';

const entries = (config: object, stages: readonly string[]): object[] =>
  stages.map((stage) => ({ name: 'rate-limit', type: 'guardrail', stage, enabled: true, config }));

interface Scene {
  readonly clock: FakeClock;
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  readonly send: (request?: object, key?: string, path?: string) => Promise<Answer>;
  readonly apply: (config: object, stages?: readonly string[]) => Promise<void>;
}

async function scene(config: object, stages: readonly string[] = ['before_request', 'after_request']): Promise<Scene> {
  const clock = fakeClock();
  const upstream = await stubUpstream((seen, response) => {
    if (seen.url.endsWith('/embeddings'))
      replyJson(response, 200, {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [1] }],
        model: 'm',
        usage: { prompt_tokens: 6, total_tokens: 6 },
      });
    else
      replyJson(
        response,
        seen.json()['fail'] ? 500 : 200,
        chatReply('hello', { usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } }),
      );
  });
  const full = (settings: object, at: readonly string[]): object => ({
    targets: [upstream.target('a', {}, WITH_EMBEDDINGS)],
    plugins: entries(settings, at),
  });
  const host = await startHost(full(config, stages), { clock, builtins: [withKeys('a', 'b')] });
  return {
    clock,
    host,
    upstream,
    send: (request = {}, key = 'key-a', path = PATH) =>
      host.post(path, path === PATH ? ask('hi', request) : { model: 'm', ...request }, {
        authorization: `Bearer ${key}`,
      }),
    apply: (settings, at = stages) => host.apply(full(settings, at)),
  };
}

const refusal = (answer: Answer): unknown[] => [
  answer.status,
  answer.json().error?.code,
  answer.json().error?.message,
  answer.headers.get('retry-after'),
];
const refused = (reason: string, seconds: string): unknown[] => [
  429,
  'rate_limit_exceeded',
  `request rejected by rate-limit (before_request): ${reason}`,
  seconds,
];

describe('rate-limit, requests', () => {
  it('admits a burst, then as many as refill, and tells when to come back', async () => {
    const { send, clock, upstream, host } = await scene({ requests_per_second: 0.25, burst: 2 }, ['before_request']);
    expect([(await send()).status, (await send()).status]).to.deep.equal([200, 200]);
    const answer = await send();
    expect(refusal(answer)).to.deep.equal(refused('rate limit exceeded', '4'));
    expect(answer.json().error.type).to.equal('rate_limit_error');
    clock.advance(3001);
    expect(refusal(await send())[3]).to.equal('1');
    clock.advance(999);
    expect((await send()).status).to.equal(200);
    expect(upstream.seen).to.have.length(3);
    expect(
      host.samples
        .filter(({ name }) => name === 'gateway_rate_limit_rejections_total')
        .map(({ labels, value }) => [labels, value]),
    ).to.deep.equal(Array.from({ length: 2 }, () => [{ key_type: 'plugin' }, 1]));
  });

  it('has a burst of requests_per_second, and of at least one', async () => {
    const three = await scene({ requests_per_second: 3 }, ['before_request']);
    for (const status of [200, 200, 200, 429]) expect((await three.send()).status).to.equal(status);
    for (const config of [{ requests_per_second: 0.5 }, { requests_per_second: 2, burst: 0.1 }, { key_rpm: 0.5 }]) {
      const one = await scene(config, ['before_request']);
      for (const status of [200, 429]) expect((await one.send()).status, JSON.stringify(config)).to.equal(status);
    }
  });

  it('has 100 a second unless said', async () => {
    const { send } = await scene({}, ['before_request']);
    const statuses = await Promise.all(Array.from({ length: 101 }, () => send().then(({ status }) => status)));
    expect(statuses.filter((status) => status === 429)).to.have.length(1);
  });

  it('counts each credential by itself', async () => {
    const { send, clock } = await scene({ key_rpm: 2 }, ['before_request']);
    for (const status of [200, 200]) expect((await send()).status).to.equal(status);
    expect(refusal(await send())).to.deep.equal(refused('per-key rate limit exceeded', '30'));
    expect((await send({}, 'key-b')).status).to.equal(200);
    clock.advance(30_000);
    expect((await send()).status).to.equal(200);
  });

  it('counts each user of each credential by itself, and no request without one', async () => {
    const { send } = await scene({ user_rpm: 1 }, ['before_request']);
    expect((await send({ user: 'u' })).status).to.equal(200);
    expect(refusal(await send({ user: 'u' }))).to.deep.equal(refused('per-user rate limit exceeded', '60'));
    expect((await send({ user: 'v' })).status).to.equal(200);
    expect((await send({ user: 'u' }, 'key-b')).status).to.equal(200);
    for (let time = 0; time < 3; time += 1) expect((await send()).status).to.equal(200);
    expect((await send({ user: 'u', input: 'x' }, 'key-a', '/v1/embeddings')).status).to.equal(429);
  });

  it('knows users apart whom a guardrail in front of it masks, and follows a plugin that names another', async () => {
    const { upstream } = await scene({});
    const renaming = definePlugin({
      name: 'renaming',
      type: 'transform',
      summary: 'For this test',
      stages: ['before_request'],
      keepsModel: true,
      settings: Joi.object({}),
      create: () => ({
        before_request: ({ request }) => (request['user'] === 'old' ? rewrite({ ...request, user: 'new' }) : undefined),
      }),
    });
    const other = await startHost(
      {
        targets: [upstream.target('a')],
        plugins: [
          { name: 'renaming', stage: 'before_request', enabled: true },
          { name: 'pii-redact', stage: 'before_request', enabled: true },
          ...entries({ user_rpm: 1 }, ['before_request']),
        ],
      },
      { modules: [renaming] },
    );
    const statuses = async (...users: readonly string[]): Promise<number[]> => {
      const seen: number[] = [];
      for (const user of users) seen.push((await other.post(PATH, ask('hi', { user }))).status);
      return seen;
    };
    expect(await statuses('a@example.com', 'b@example.com', 'a@example.com')).to.deep.equal([200, 200, 429]);
    expect(upstream.seen.map((seen) => seen.json()['user'])).to.deep.equal(['[EMAIL_1]', '[EMAIL_1]']);
    expect(await statuses('new', 'old')).to.deep.equal([200, 429]);
  });

  it('asks overall, key, user in this order; what an earlier one took is gone', async () => {
    const { send } = await scene({ requests_per_second: 0.01, burst: 4, key_rpm: 2, user_rpm: 1 }, ['before_request']);
    const reasons: unknown[] = [];
    for (let time = 0; time < 5; time += 1)
      reasons.push(
        String((await send({ user: 'u' })).json().error?.message ?? 'admitted')
          .split('): ')
          .at(-1),
      );
    expect(reasons).to.deep.equal([
      'admitted',
      'per-user rate limit exceeded',
      'per-key rate limit exceeded',
      'per-key rate limit exceeded',
      'rate limit exceeded',
    ]);
  });

  it('does not stand in the way of anybody without a credential, but for the overall rate', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('x')));
    const host = await startHost(
      { targets: [upstream.target('a')], plugins: entries({ key_rpm: 1 }, ['before_request']) },
      { variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } },
    );
    for (let time = 0; time < 3; time += 1)
      expect(
        (
          await fetch(`${host.url}${PATH}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(ask()),
          })
        ).status,
      ).to.equal(200);
  });

  it('spends nothing for models that no target serves', async () => {
    const { send } = await scene({ key_rpm: 1 }, ['before_request']);
    expect((await send({ model: 'nosuch' })).status).to.equal(404);
    expect((await send()).status).to.equal(200);
  });
});

describe('rate-limit, tokens', () => {
  for (const [setting, reason] of [
    ['tokens_per_minute', 'rate limit exceeded'],
    ['key_tpm', 'per-key rate limit exceeded'],
    ['user_tpm', 'per-user rate limit exceeded'],
  ] as const) {
    it(`${setting} admits while its bucket is above zero, and debits what was used`, async () => {
      const { send, clock } = await scene({ [setting]: 30 });
      expect([(await send({ user: 'u' })).status, (await send({ user: 'u' })).status]).to.deep.equal([200, 200]); // 30 - 18 - 18 = -6
      expect(refusal(await send({ user: 'u' }))).to.deep.equal(refused(reason, '12'));
      clock.advance(12_000);
      expect((await send({ user: 'u' })).status).to.equal(429); // at zero, not above
      clock.advance(1);
      expect((await send({ user: 'u' })).status).to.equal(200);
    });
  }

  it('count on every surface, and debit in time whatever stages are listed', async () => {
    for (const stages of [['before_request'], ['before_request', 'after_request']]) {
      const { send } = await scene({ key_tpm: 6 }, stages);
      expect((await send({ input: 'x' }, 'key-a', '/v1/embeddings')).status).to.equal(200);
      expect((await send({ input: 'x' }, 'key-a', '/v1/embeddings')).status).to.equal(429);
      expect((await send({ input: 'x' }, 'key-b', '/v1/embeddings')).status).to.equal(200);
    }
  });

  it('are not debited for what failed', async () => {
    const { send } = await scene({ key_tpm: 1 });
    for (let time = 0; time < 3; time += 1) expect((await send({ fail: true })).status).to.equal(502);
    expect([(await send()).status, (await send()).status]).to.deep.equal([200, 429]);
  });
});

describe('rate-limit, its buckets', () => {
  it('go on over a configuration change with the same settings, and begin anew with others', async () => {
    const { send, apply } = await scene({ key_rpm: 1, key_tpm: 1000 });
    expect((await send()).status).to.equal(200);
    await apply({ key_tpm: 1000, key_rpm: 1 });
    expect((await send()).status).to.equal(429);
    await apply({ key_rpm: 2 });
    expect((await send()).status).to.equal(200);
  });
});

describe('rate-limit, settings', () => {
  const problemOf = async (config: object, stages: readonly string[] = ['before_request']): Promise<string> => {
    const { apply } = await scene({}, ['before_request']);
    return apply(config, stages).then(
      () => 'applied',
      (error: Error) => error.message,
    );
  };

  for (const setting of [
    'requests_per_second',
    'burst',
    'key_rpm',
    'user_rpm',
    'tokens_per_minute',
    'key_tpm',
    'user_tpm',
  ]) {
    it(`refuses ${setting} unless it is a number above 0, and says how to switch off`, async () => {
      for (const value of [0, -1, '5', '${RATE}', null, true, []]) {
        const problem = await problemOf({ [setting]: value });
        expect(problem, String(value))
          .to.include('BV04')
          .and.include('rate-limit')
          .and.include(setting)
          .and.include('enabled: false');
      }
      expect(await problemOf({ [setting]: 1e300 })).to.equal('applied');
    });
  }

  it('refuses settings it does not know', async () => {
    expect(await problemOf({ rpm: 3 }))
      .to.include('BV06')
      .and.include('rate-limit')
      .and.include('rpm');
  });

  it('refuses to stand anywhere but before, and after too', async () => {
    expect(await problemOf({}, ['after_request']))
      .to.include('BV07')
      .and.include('rate-limit')
      .and.include('before_request');
    expect(await problemOf({}, ['before_request', 'on_error']))
      .to.include('BV07')
      .and.include('on_error');
  });
});
