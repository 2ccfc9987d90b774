import { expect } from 'chai';
import { definePlugin, type PluginModule, reject, type RequestLogRow, type Stage } from 'gw/contract';
import Joi from 'joi';
import { defineBuiltin } from '../../host/builtin.ts';
import {
  ask,
  chatReply,
  type FakeClock,
  fakeClock,
  MASTER_ID,
  openSse,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { WITH_EMBEDDINGS, withKeys } from './kit.ts';

const PATH = '/v1/chat/completions';
const STAGES: readonly Stage[] = ['before_request', 'after_request', 'on_error'];
const KEY = { authorization: 'Bearer key-a' };
const NOW = 1_700_000_000_000;

interface Scene {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly rows: RequestLogRow[];
  readonly annotated: (readonly [Stage, RequestLogRow])[];
}

interface Around {
  readonly stages?: readonly string[];
  readonly modules?: readonly PluginModule[];
  /** Entries in front of the logger's, and behind them. */
  readonly front?: readonly object[];
  readonly behind?: readonly object[];
  readonly isStored?: boolean;
  readonly append?: (row: RequestLogRow) => void;
  readonly level?: string;
}

/** What the row says: a member without a value is as one that is not there. */
const known = (row: RequestLogRow): RequestLogRow =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as unknown as RequestLogRow;

const at = (name: string, stages: readonly string[], config?: object): object[] =>
  stages.map((stage) => ({ name, type: 'logging', stage, enabled: true, ...(config && { config }) }));

async function scene(
  config: object,
  handler: StubHandler = (_seen, response) => replyJson(response, 200, chatReply('hello', { model: 'm-2024' })),
  around: Around = {},
): Promise<Scene> {
  const { stages = STAGES, modules = [], front = [], behind = [], isStored = true, level = 'info' } = around;
  const clock = fakeClock(NOW);
  const rows: RequestLogRow[] = [];
  const annotated: [Stage, RequestLogRow][] = [];
  const store = defineBuiltin({
    name: 'test-log',
    apply: ({ hooks }) =>
      hooks.open.tapPromise('test-log', async ({ stores }) => {
        if (isStored)
          stores.requestLog.supply('sqlite', {
            append:
              around.append ??
              ((row) => {
                rows.push(known(row));
              }),
            annotate: (stage, row) => {
              annotated.push([stage, row]);
            },
          });
      }),
  });
  const upstream = await stubUpstream(handler);
  const host = await startHost(
    {
      targets: [upstream.target('a', {}, WITH_EMBEDDINGS)],
      plugins: [...front, ...at('request-logger', stages, config), ...behind],
    },
    { clock, modules, builtins: [store, withKeys('a')], variables: { LOG_LEVEL: level } },
  );
  return { host, clock, rows, annotated };
}

const LINES = new Set(['gateway request', 'gateway response', 'gateway error']);
const lines = ({ host }: Scene): Record<string, unknown>[] =>
  host.lines.filter(({ msg }) => LINES.has(String(msg))).map(({ time: _time, ...line }) => line);
const timestamp = new Date(NOW).toISOString();

describe('request-logger', () => {
  it('writes a line for the request and one for the response, with the model that the upstream reported', async () => {
    const set = await scene({});
    const { headers } = await set.host.post(PATH, ask('SECRET WORDS'), KEY);
    const trace_id = headers.get('x-request-id');
    expect(lines(set)).to.deep.equal([
      { level: 'INFO', msg: 'gateway request', trace_id, model: 'm', messages: 1, stream: false, timestamp },
      {
        level: 'INFO',
        msg: 'gateway response',
        trace_id,
        model: 'm-2024',
        provider: 'a',
        prompt_tokens: 11,
        completion_tokens: 7,
        total_tokens: 18,
        choices: 1,
        timestamp,
      },
    ]);
    expect(set.rows).to.deep.equal([]);
    expect(set.host.texts.join('')).to.not.include('SECRET WORDS').and.not.include('hello');
  });

  it('writes a line of a failure at the level of errors, whatever its own is', async () => {
    for (const level of ['debug', 'info', 'warn', 'error']) {
      const set = await scene({ level }, (_seen, response) => replyJson(response, 500, {}), { level: 'debug' });
      await set.host.post(PATH, ask(), KEY);
      expect(lines(set).map((line) => [line['level'], line['msg']])).to.deep.equal([
        [level.toUpperCase(), 'gateway request'],
        ['ERROR', 'gateway error'],
      ]);
      const [, failed] = lines(set);
      expect(failed).to.include({ model: 'm', provider: 'a', timestamp });
      expect(failed?.['error']).to.be.a('string').and.not.equal('');
    }
  });

  it('stays silent at the stages where it is not listed', async () => {
    const set = await scene({}, undefined, { stages: ['after_request'] });
    await set.host.post(PATH, ask(), KEY);
    expect(lines(set).map(({ msg }) => msg)).to.deep.equal(['gateway response']);
  });

  it('counts messages and choices of other surfaces', async () => {
    const set = await scene({}, (_seen, response) =>
      replyJson(response, 200, {
        object: 'list',
        data: [1, 2].map((value, index) => ({ object: 'embedding', index, embedding: [value] })),
        model: 'e-2024',
        usage: { prompt_tokens: 6, total_tokens: 6 },
      }),
    );
    await set.host.post('/v1/embeddings', { model: 'm', input: ['x', 'y'] }, KEY);
    expect(lines(set)[0]).to.include({ messages: 2, stream: false });
    expect(lines(set)[1]).to.include({
      model: 'e-2024',
      provider: 'a',
      prompt_tokens: 6,
      completion_tokens: 0,
      total_tokens: 6,
      choices: 0,
    });
  });
});

describe('request-logger with persist', () => {
  it('appends a row for each stage', async () => {
    const set = await scene({ persist: true });
    const { services } = set.host.host;
    const cost = {
      totalUsd: 0.5,
      inputUsd: 0,
      outputUsd: 0,
      cacheReadUsd: 0,
      cacheWriteUsd: 0,
      reasoningUsd: 0,
      modelFound: true,
      priced: true,
      catalog: 'v7',
    };
    services.catalog = { ...services.catalog, cost: () => cost };
    const trace_id = (await set.host.post(PATH, ask(), KEY)).headers.get('x-request-id');
    expect(set.rows[1]?.decision).to.deep.include({ model: 'm', strategy: 'single', dropped: [] });
    expect(set.rows.map(({ decision: _decision, ...row }) => row)).to.deep.equal([
      { trace_id, stage: 'before_request', model: 'm', api_key_id: 'a', created_at: NOW },
      {
        trace_id,
        stage: 'after_request',
        model: 'm-2024',
        api_key_id: 'a',
        created_at: NOW,
        provider: 'a',
        prompt_tokens: 11,
        completion_tokens: 7,
        total_tokens: 18,
        duration_ms: 0,
        ttft_ms: null,
        cost_usd: 0.5,
        target: 'a',
        attempts: 1,
        catalog_version: 'v7',
        cost_source: 'usage',
        surface: 'chat',
        status: 200,
        outcome: 'ok',
        upstream_status: 200,
        streamed: false,
        address: '127.0.0.1',
        user_agent: 'node',
      },
    ]);
  });

  it('tells time to the first chunk of a stream, and null where nothing prices it', async () => {
    const set = await scene({ persist: true }, (_seen, response) => replyStream(response, ['a', 'b']));
    await set.host.post(PATH, ask('hi', { stream: true }), KEY);
    expect(set.rows[1]).to.include({
      stage: 'after_request',
      duration_ms: 0,
      ttft_ms: 0,
      cost_usd: null,
      total_tokens: 18,
    });
  });

  it('appends one row of a failure, without a cost, and the time when there was any', async () => {
    const set: Scene = await scene({ persist: true }, (_seen, response) => {
      set.clock.advance(250);
      replyJson(response, 500, { error: { message: 'token sk-abcdefghijklmnopqrstuvwxyz012345 is wrong' } });
    });
    const trace_id = (await set.host.post(PATH, ask(), KEY)).headers.get('x-request-id');
    const [, failed] = set.rows;
    expect(failed).to.include({
      trace_id,
      stage: 'on_error',
      model: 'm',
      api_key_id: 'a',
      provider: 'a',
      duration_ms: 250,
      ttft_ms: null,
      cost_usd: null,
      target: 'a',
      attempts: 1,
    });
    expect(failed?.error_message).to.be.a('string').and.not.equal('').and.not.include('sk-abc');
    expect(set.annotated).to.deep.equal([]);
  });

  it('writes neither provider nor time of a request that a plugin refused at once, or whose model no target serves', async () => {
    const set = await scene({ persist: true }, undefined, {
      behind: at('max-token', ['before_request'], { max_tokens: 1 }),
    });
    await set.host.post(PATH, ask('hi', { max_tokens: 2 }), KEY);
    await set.host.post(PATH, ask('hi', { model: 'nosuch' }));
    expect(
      set.rows.map(({ stage, provider, duration_ms, api_key_id }) => [stage, provider, duration_ms, api_key_id]),
    ).to.deep.equal([
      ['before_request', undefined, undefined, 'a'],
      ['on_error', '', null, 'a'],
      ['on_error', '', null, MASTER_ID],
    ]);
    expect(set.rows[1]?.error_message).to.equal(
      'request rejected by max-token (before_request): max_tokens 2 exceeds limit of 1',
    );
  });

  it('writes the error of an answer that a later plugin withholds onto its row', async () => {
    const no = definePlugin({
      name: 'no',
      type: 'guardrail',
      summary: 'Refuses',
      stages: ['after_request'],
      settings: Joi.object({}),
      create: () => ({ after_request: () => reject('no') }),
    });
    for (const stream of [false, true]) {
      const set = await scene(
        { persist: true },
        (_seen, response) => (stream ? replyStream(response, ['a']) : replyJson(response, 200, chatReply('x'))),
        { modules: [no], behind: at('no', ['after_request']) },
      );
      await set.host.post(PATH, ask('hi', { stream }), KEY);
      expect(set.rows.map(({ stage }) => stage)).to.deep.equal(['before_request', 'after_request']);
      expect(set.annotated.map(([stage, row]) => [stage, row.trace_id, row.stage, row.error_message])).to.deep.equal([
        ['after_request', set.rows[0]?.trace_id, 'on_error', 'response rejected by no (after_request): no'],
      ]);
    }
  });

  it('keeps the provider, the reported model and the tokens of a hit, at no cost and in no time, for who asked', async () => {
    const set = await scene({ persist: true }, undefined, {
      front: at('response-cache', ['before_request', 'after_request'], {}),
    });
    await set.host.post(PATH, ask(), KEY);
    set.clock.advance(1000);
    await set.host.post(PATH, ask(), KEY);
    expect([set.rows[1]?.cache, set.rows[3]?.cache]).to.deep.equal(['miss', 'hit']);
    expect(set.rows[3]).to.deep.include({
      stage: 'after_request',
      model: 'm-2024',
      provider: 'a',
      api_key_id: 'a',
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 18,
      duration_ms: 0,
      ttft_ms: null,
      cost_usd: 0,
      cache: 'hit',
    });
    expect(set.rows[3]).to.not.have.any.keys('target', 'attempts');
  });

  it('tells of a stream that broke how long its first chunk took', async () => {
    const set: Scene = await scene({ persist: true }, (_seen, response) => {
      set.clock.advance(40);
      openSse(response);
      response.end(
        sseEvent({ id: 'c', choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }] }) +
          sseEvent({ error: { message: 'boom' } }),
      );
    });
    await set.host.post(PATH, ask('hi', { stream: true }), KEY);
    expect(set.rows[1]).to.include({ stage: 'on_error', ttft_ms: 40, duration_ms: 40, cost_usd: null });
  });

  it('never fails a request whose row cannot be written', async () => {
    const set = await scene({ persist: true }, undefined, {
      append: () => {
        throw new Error('disk full');
      },
    });
    expect((await set.host.post(PATH, ask(), KEY)).status).to.equal(200);
    expect(
      set.host.lines
        .filter(({ level, plugin }) => level === 'WARN' && plugin === 'request-logger')
        .map(({ stage }) => stage),
    ).to.deep.equal(['before_request', 'after_request']);
  });

  it('warns without a store, and logs all the same', async () => {
    const set = await scene({ persist: true }, undefined, { isStored: false });
    await set.host.post(PATH, ask(), KEY);
    expect(lines(set)).to.have.length(2);
    expect(
      set.host.lines.filter(({ rule, level }) => rule === 'WN15' && level === 'WARN').map(({ msg }) => String(msg)),
    ).to.deep.equal(['persist has no effect without REQUEST_LOG_STORE_BACKEND, requests are only logged']);
  });
});

describe('request-logger, settings', () => {
  it('takes backend and dsn without effect, and warns of each once, naming what takes its place', async () => {
    const set = await scene({ backend: 'sqlite', dsn: 'x.db' }, undefined, { isStored: false });
    const told = set.host.lines
      .filter(({ rule }) => rule === 'WN15')
      .map(({ level, msg, setting }) => [level, setting, String(msg).split(' ').at(-1)]);
    expect(told).to.deep.equal([
      ['WARN', 'backend', 'REQUEST_LOG_STORE_BACKEND'],
      ['WARN', 'dsn', 'REQUEST_LOG_STORE_DSN'],
    ]);
  });

  it('refuses others, and wrong values', async () => {
    const { host } = await scene({});
    const outcome = (config: object): Promise<string> =>
      host.apply({ targets: [{ virtual_key: 'echo' }], plugins: at('request-logger', STAGES, config) }).then(
        () => 'applied',
        (error: Error) => error.message,
      );
    for (const [setting, value] of [
      ['level', 'verbose'],
      ['level', 'INFO'],
      ['persist', 'yes'],
      ['format', 'json'],
    ] as const) {
      expect(await outcome({ [setting]: value }), setting)
        .to.include('BV06')
        .and.include('request-logger')
        .and.include(setting);
    }
  });
});
