import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type PluginHandlers, type PluginModule, reject } from 'gw/contract';
import { ERRORS, type ErrorCode } from '../../host/contract/index.ts';
import {
  eventsOf,
  fakeClock,
  type FaultStep,
  faultUpstream,
  type FaultUpstream,
  some,
  startHost,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import { errorFor, readOutcome, type Verdict } from './support/map.ts';
import { type Ask, ASK_NAMES, askFor, type Outcome, tagOf } from './support/surfaces.ts';

/** What an upstream may answer (docs/reference/data-plane.md#upstream-statuses); the map of the tests says what becomes of each. */
const STATUSES = [
  300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 413, 415, 418, 422, 423, 424,
  425, 426, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507, 529, 599,
];

/** Headers an upstream says its wait with, and the whole seconds a client gets: docs/reference/data-plane.md#retry-after. */
const HINTS: readonly (readonly [Readonly<Record<string, string>>, number | undefined])[] = [
  [{}, undefined],
  [{ 'retry-after': '7' }, 7],
  [{ 'retry-after': ' 120 ' }, 120],
  [{ 'retry-after-ms': '1200' }, 2],
  [{ 'retry-after-ms': '0', 'retry-after': '0', 'x-ratelimit-reset': '9' }, 9],
  [{ 'retry-after': '1.5' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-3' }, undefined],
  [{ 'retry-after': '100000' }, 100_000],
  [{ 'x-ratelimit-reset': '90000' }, undefined],
];

const TAG = /^tag-(\d+)\.(\d+)$/;

interface Scene {
  readonly host: TestHost;
  readonly upstream: FaultUpstream;
}

async function sceneOf(
  script: (tag: string) => FaultStep,
  config: object = {},
  options: TestHostOptions = {},
): Promise<Scene> {
  const upstream = await faultUpstream({
    script: ({ text }) => script(tagOf(text) ?? ''),
    keyOf: ({ text }) => tagOf(text),
  });
  const host = await startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a')], ...config }, options);
  return { host, upstream };
}

function expectVerdict(ask: Ask, outcome: Outcome, wanted: Verdict, where = ''): void {
  expect({ ask, where, ...readOutcome(ask, outcome) }).to.deep.equal({ ask, where, ...wanted });
}

function expectAttribution({ headers }: Outcome, attempts: string | undefined): void {
  const wanted = attempts === undefined ? [undefined, undefined, undefined, undefined] : ['a', 'a', 'm', attempts];
  expect(['provider', 'target', 'model', 'attempts'].map((name) => headers[`x-gateway-${name}`])).to.deep.equal(wanted);
}

describe('the error map: statuses of the upstream', () => {
  for (const ask of ASK_NAMES) {
    it(`becomes the answers of the table, with and without a wait: ${ask}`, async () => {
      const { host } = await sceneOf((tag) => {
        const [, status, hint] = TAG.exec(tag) ?? [];
        return { fault: 'status', status: Number(status), headers: HINTS[Number(hint)]?.[0] ?? {} };
      });
      for (const status of STATUSES) {
        const hints = [400, 401, 404, 429, 500, 503, 504].includes(status) ? HINTS : HINTS.slice(0, 2);
        for (const [at, [, seconds]] of some([...hints.entries()], { every: 2, from: (status + ask.length) % 2 })) {
          const outcome = await askFor(ask, { url: host.url, tag: `tag-${status}.${at}` });
          expectVerdict(ask, outcome, errorFor(status, seconds), `${status} with hint ${at}`);
          expectAttribution(outcome, '1');
        }
      }
    });
  }
});

describe('the error map: what the upstream says', () => {
  const SECRET = 'stub-secret-value-42';
  const SAID = `bad key ${SECRET} sk-abcdefghijklmnopqrstuvwx of jane@example.com, Authorization: Bearer abcdef123456`;
  const CLEAN =
    'bad key [REDACTED:ACME_KEY] [REDACTED_OPENAI_KEY] of [REDACTED_EMAIL], Authorization: Bearer [REDACTED_BEARER_TOKEN]';
  const isLeaked = (text: string): boolean => /stub-secret|sk-abc|jane@|abcdef123456/.test(text);

  for (const ask of ASK_NAMES) {
    it(`reaches the client for 400 and 422 alone, redacted, and no log line holds a secret: ${ask}`, async () => {
      const { host } = await sceneOf(
        (tag) => ({ fault: 'status', status: Number(TAG.exec(tag)?.[1]), message: SAID }),
        {},
        { variables: { ACME_KEY: SECRET } },
      );
      for (const status of [400, 422, 401, 404, 409, 429, 500, 503, 504]) {
        const text = (await askFor(ask, { url: host.url, tag: `tag-${status}.0` })).body.toString();
        const { message } = JSON.parse(text).error as { message: string };
        if (status === 400 || status === 422) expect(message, String(status)).to.equal(CLEAN);
        else expect(text, String(status)).to.not.include('bad key');
      }
      expect(JSON.stringify(host.lines)).to.not.satisfy(isLeaked);
    });
  }

  it('is the last event of a stream that had begun, redacted, and nothing follows', async () => {
    const { host } = await sceneOf(
      () => ({ fault: 'error-event', message: SAID }),
      {},
      { variables: { ACME_KEY: SECRET } },
    );
    const outcome = await askFor('stream', { url: host.url });
    expectVerdict('stream', outcome, { kind: 'broken', code: 'stream_error' });
    expect(eventsOf(outcome.body.toString()).at(-1)).to.deep.equal({
      error: { message: CLEAN, type: 'stream_error', code: 'stream_error' },
    });
    expect(JSON.stringify(host.lines)).to.not.satisfy(isLeaked);
  });

  it('is cut at 2,048 characters', async () => {
    const { host } = await sceneOf(() => ({ fault: 'status', status: 400, message: 'é'.repeat(5000) }));
    for (const ask of ASK_NAMES) {
      const { message } = JSON.parse((await askFor(ask, { url: host.url })).body.toString()).error as {
        message: string;
      };
      expect([ask, message.length, message.at(-1)]).to.deep.equal([ask, 2049, '…']);
    }
  });

  it('is never a page of HTML, nor where a redirect leads', async () => {
    const { host, upstream } = await sceneOf((tag) =>
      tag.includes('.1') ? { fault: 'redirect' } : { fault: 'error-page', status: Number(TAG.exec(tag)?.[1]) },
    );
    for (const ask of ASK_NAMES) {
      for (const tag of ['tag-400.0', 'tag-500.0', 'tag-302.1']) {
        const outcome = await askFor(ask, { url: host.url, tag });
        expectVerdict(ask, outcome, errorFor(Number(TAG.exec(tag)?.[1])), tag);
      }
    }
    expect(upstream.played.filter(({ call }) => call.path.includes('redirected'))).to.deep.equal([]);
  });
});

/** Everything the gateway decides itself, which goes before what an upstream said (docs/reference/data-plane.md#upstream-statuses). */
interface Decision {
  readonly what: string;
  readonly code: ErrorCode;
  readonly attempts: string | undefined;
  readonly retryAfter?: string;
  readonly plugin?: PluginModule;
  readonly stage?: 'before_request' | 'after_request';
  readonly model?: string;
  /** After the first byte of a stream: the event's code. */
  readonly inStream?: boolean;
}

function plugin(name: string, handlers: PluginHandlers, more: Partial<PluginModule> = {}): PluginModule {
  const idle = { before_request: () => {}, after_request: () => {} };
  return definePlugin({
    name,
    type: 'transform',
    keepsModel: true,
    summary: 'For this test',
    stages: ['before_request', 'after_request'],
    settings: Joi.object({}),
    ...more,
    create: () => ({ ...idle, ...handlers }),
  });
}

const breaks = (): never => {
  throw new Error('secret detail of a plugin');
};
const refuses = () => reject('no such thing');

const DECISIONS: readonly Decision[] = [
  {
    what: 'a plugin that fails before',
    code: 'plugin_error',
    attempts: undefined,
    plugin: plugin('faulty', { before_request: breaks }),
    stage: 'before_request',
  },
  {
    what: 'a rate limit plugin that fails',
    code: 'plugin_error',
    attempts: undefined,
    plugin: plugin('faulty', { before_request: breaks }, { type: 'ratelimit' }),
    stage: 'before_request',
  },
  {
    what: 'a plugin that fails after',
    code: 'plugin_error',
    attempts: '1',
    plugin: plugin('faulty', { after_request: breaks }),
    stage: 'after_request',
    inStream: true,
  },
  {
    what: 'a plugin that rejects',
    code: 'request_rejected',
    attempts: undefined,
    plugin: plugin('strict', { before_request: refuses }),
    stage: 'before_request',
  },
  {
    what: 'a rate limit',
    code: 'rate_limit_exceeded',
    attempts: undefined,
    retryAfter: '3',
    plugin: plugin(
      'bucket',
      { before_request: () => reject('slow down', { retryAfterMs: 2100 }) },
      { type: 'ratelimit' },
    ),
    stage: 'before_request',
  },
  {
    what: 'a rate limit without a refill time',
    code: 'rate_limit_exceeded',
    attempts: undefined,
    retryAfter: '1',
    plugin: plugin('bucket', { before_request: refuses }, { type: 'ratelimit' }),
    stage: 'before_request',
  },
  {
    what: 'a spent budget',
    code: 'insufficient_quota',
    attempts: undefined,
    plugin: plugin(
      'purse',
      { before_request: () => reject('spent', { retryAfterMs: 5000 }) },
      { type: 'ratelimit', rejectsAs: 'insufficient_quota' },
    ),
    stage: 'before_request',
  },
  {
    what: 'a plugin that withholds the answer',
    code: 'response_rejected',
    attempts: '1',
    plugin: plugin('strict', { after_request: refuses }),
    stage: 'after_request',
    inStream: true,
  },
  { what: 'an unknown model', code: 'model_not_found', attempts: undefined, model: 'nosuch' },
];

/** Streams keep their status for as long as they have no chunk. */
const WITH_STATUS = { streaming: { open_after: 'off' } };

describe('the error map: decisions of the gateway', () => {
  for (const { what, code, attempts, retryAfter, plugin: module, stage, model = 'm', inStream } of DECISIONS) {
    it(`is the same on every surface: ${what}`, async () => {
      const plugins = module ? [{ name: module.name, stage, enabled: true }] : [];
      const { host } = await sceneOf(() => ({ fault: 'ok' }), { plugins }, { modules: module ? [module] : [] });
      for (const ask of ASK_NAMES) {
        const outcome = await askFor(ask, { url: host.url, model });
        if (ask === 'stream' && inStream) {
          expectVerdict(ask, outcome, { kind: 'broken', code: 'stream_error' });
          expect(outcome.body.toString()).to.not.include('[DONE]').and.not.include('secret detail');
        } else expectVerdict(ask, outcome, { kind: 'error', code, status: ERRORS[code].status, retryAfter });
        if (attempts === undefined) expectAttribution(outcome, undefined);
        else expect(outcome.headers['x-gateway-attempts']).to.equal(attempts);
        expect(outcome.body.toString()).to.not.include('secret detail');
      }
    });
  }

  it('is 503 for an open circuit, whatever the upstream would say', async () => {
    const clock = fakeClock();
    const breaker = { circuit_breaker: { failure_threshold: 1, timeout: '1h' } };
    for (const ask of ASK_NAMES) {
      const open = await sceneOf(() => ({ fault: 'status', status: 500 }), {}, { clock });
      await open.host.apply({ strategy: { mode: 'single' }, targets: [{ ...open.upstream.target('a'), ...breaker }] });
      await askFor(ask, { url: open.host.url });
      const refused = await askFor(ask, { url: open.host.url });
      expectVerdict(ask, refused, { kind: 'error', code: 'upstream_unavailable', status: 503, retryAfter: undefined });
      expectAttribution(refused, '1');
    }
  });

  for (const ask of ASK_NAMES) {
    it(`is 429 for a full queue, and 504 for a request that was served too slowly: ${ask}`, async () => {
      const clock = fakeClock();
      const asked = Promise.withResolvers<void>();
      const upstream = await faultUpstream({ script: () => ({ fault: 'silence' }), onHang: () => asked.resolve() });
      const limited = upstream.target('a', { concurrency: { max_concurrency: 1, queue_size: 1 } });
      const host = await startHost(
        { strategy: { mode: 'single' }, request_timeout: '60s', ...WITH_STATUS, targets: [limited] },
        { clock },
      );
      const served = askFor(ask, { url: host.url });
      await asked.promise;
      const [one, other] = [askFor(ask, { url: host.url }), askFor(ask, { url: host.url })];
      const saturated: Verdict = { kind: 'error', code: 'provider_saturated', status: 429, retryAfter: '1' };
      expectVerdict(ask, await Promise.race([one, other]), saturated, 'the queue is full');
      clock.advance(60_000);
      expectVerdict(ask, await served, { kind: 'error', code: 'gateway_timeout', status: 504, retryAfter: undefined });
      const both = await Promise.all([one, other]);
      for (const outcome of both) expect(readOutcome(ask, outcome)).to.deep.include({ kind: 'error' });
      expect(upstream.played.length).to.be.at.most(2);
    });
  }

  it('is 504 for the clock of a target, and for the clock of the request', async () => {
    for (const bound of [{ request_timeout: '60s' }, { target: { request_timeout: '20s' } }] as const) {
      const clock = fakeClock();
      const upstream = await faultUpstream({
        script: () => ({ fault: 'silence' }),
        onHang: () => {
          setTimeout(() => clock.advance(61_000), 5);
        },
      });
      const { target = {}, ...rest } = bound as { target?: object };
      const host = await startHost(
        { strategy: { mode: 'single' }, ...rest, ...WITH_STATUS, targets: [upstream.target('a', target)] },
        { clock },
      );
      for (const ask of ASK_NAMES)
        expectVerdict(ask, await askFor(ask, { url: host.url }), {
          kind: 'error',
          code: 'gateway_timeout',
          status: 504,
          retryAfter: undefined,
        });
    }
  });

  it('carries the wait that the last target asked for, through retries and failover, whatever the status is', async () => {
    const first = await faultUpstream({
      script: () => ({ fault: 'status', status: 429, headers: { 'retry-after': '40' } }),
    });
    const second = await faultUpstream({
      script: () => ({ fault: 'status', status: 503, headers: { 'retry-after': '50' } }),
    });
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [first.target('a', { retry: { attempts: 3 } }), second.target('b')],
    });
    for (const ask of ASK_NAMES) {
      const outcome = await askFor(ask, { url: host.url });
      expectVerdict(ask, outcome, errorFor(503, 50));
      await host.apply({ strategy: { mode: 'single' }, targets: [first.target('a')] }); // forgets who rests
      await host.apply({
        strategy: { mode: 'fallback' },
        targets: [first.target('a', { retry: { attempts: 3 } }), second.target('b')],
      });
    }
  });
});
