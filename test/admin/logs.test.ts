import { expect } from 'chai';
import { statisticsBody } from '../../builtins/admin/logs/log-statistics.ts';
import type { RequestLogRow } from '../../host/contract/index.ts';
import { ask, chatReply, replyJson, stubUpstream } from '../kit/index.ts';
import { type AdminHost, as, NOBODY, refusal, startAdmin } from './kit.ts';
import { fill, forLogs, logger, models, NOON, read, row } from './logs-kit.ts';

describe('the request log without a store', () => {
  it('is 501 on every route, after the scope and before any parameter', async () => {
    const t = await startAdmin();
    const reader = as((await t.makeKey()).key);
    for (const [method, path] of [
      ['GET', '/admin/logs?limit=x'],
      ['GET', '/admin/logs/stats?limit=x'],
      ['DELETE', '/admin/logs?before=x'],
      ['GET', '/admin/explain/x'],
    ] as const) {
      expect(refusal(await t.request(method, path)), path).to.deep.equal([501, 'not_implemented']);
      expect((await t.request(method, path, undefined, NOBODY)).status, path).to.equal(401);
      expect((await t.request(method, path, undefined, reader)).status, path).to.equal(method === 'GET' ? 501 : 403);
    }
  });
});

forLogs('GET /admin/logs', (start) => {
  it('shows every member of a row, and of the others what there is', async () => {
    const t = await start();
    fill(t, [
      row(),
      row({
        trace_id: 'u',
        stage: 'on_error',
        api_key_id: 'k',
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        error_message: 'no sk-proj-abcdefghijklmnopqrstuvwx',
        duration_ms: 0,
        ttft_ms: 1.5,
        cost_usd: 0.942619182,
        ab_label: 'b',
        bytes_up: 1,
        bytes_down: 9_007_199_254_740_991,
        target: 'x',
        attempts: 2,
        cache: 'hit',
        cost_source: 'estimated',
        catalog_version: 'v1',
        surface: 'messages',
        client_wire: 'messages',
        same_wire: false,
        upstream_request_id: 'req',
        session_id: 's',
        created_at: NOON + 1,
      }),
    ]);
    const { data, summary } = await read(t, '/admin/logs');
    expect(Object.entries(data[1])).to.deep.equal(
      Object.entries({
        trace_id: 't',
        stage: 'after_request',
        model: 'm',
        api_key_id: '',
        provider: 'p',
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
        error_message: '',
        created_at: '2026-11-22T12:00:00Z',
        duration_ms: null,
        ttft_ms: null,
        cost_usd: null,
      }),
    );
    expect(data[0]).to.deep.equal({
      trace_id: 'u',
      stage: 'on_error',
      model: 'm',
      api_key_id: 'k',
      provider: 'p',
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      error_message: 'no [REDACTED_OPENAI_KEY]',
      created_at: '2026-11-22T12:00:00.001Z',
      duration_ms: 0,
      ttft_ms: 1.5,
      cost_usd: 0.942619182,
      ab_label: 'b',
      bytes_up: 1,
      bytes_down: 9_007_199_254_740_991,
      target: 'x',
      attempts: 2,
      cache: 'hit',
      cost_source: 'estimated',
      catalog_version: 'v1',
      surface: 'messages',
      client_wire: 'messages',
      same_wire: false,
      upstream_request_id: 'req',
      session_id: 's',
    });
    expect(summary).to.deep.equal({ total_entries: 2, returned_entries: 2 });
  });

  it('begins with the newest, and of one moment with the one written last, over all pages', async () => {
    const t = await start();
    fill(
      t,
      Array.from({ length: 120 }, (_, at) => row({ model: `m${at}`, created_at: NOON + (at < 60 ? 1 : 0) })),
    );
    const expected = [
      ...Array.from({ length: 60 }, (_, at) => `m${59 - at}`),
      ...Array.from({ length: 60 }, (_, at) => `m${119 - at}`),
    ];
    expect(await models(t, '')).to.deep.equal(expected.slice(0, 50));
    expect([...(await models(t, '?limit=70')), ...(await models(t, '?limit=70&offset=70'))]).to.deep.equal(expected);
    const beyond = await read(t, '/admin/logs?offset=500&limit=1000');
    expect([beyond.data, beyond.summary, beyond.filters.limit, beyond.filters.offset]).to.deep.equal([
      [],
      { total_entries: 120, returned_entries: 0 },
      200,
      500,
    ]);
  });

  it('lists what ends requests, every row, or one stage, and says which', async () => {
    const t = await start();
    fill(t, [
      row({ stage: 'before_request', model: 'before' }),
      row({ model: 'after' }),
      row({ stage: 'on_error', model: 'error' }),
    ]);
    for (const [query, found, stage, stages] of [
      ['', ['error', 'after'], '', ['after_request', 'on_error']],
      ['?stage=', ['error', 'after'], '', ['after_request', 'on_error']],
      ['?stage=all', ['error', 'after', 'before'], 'all', []],
      ['?stage=before_request', ['before'], 'before_request', ['before_request']],
      ['?stage=on_error&stage=all', ['error'], 'on_error', ['on_error']],
      ['?stage=Nothing', [], 'Nothing', ['Nothing']],
    ] as const) {
      const { data, filters } = await read(t, `/admin/logs${query}`);
      expect([data.map(({ model }: { model: string }) => model), filters.stage, filters.stages], query).to.deep.equal([
        found,
        stage,
        stages,
      ]);
    }
  });

  it('takes all filters together, and echoes them as they were sent', async () => {
    const t = await start();
    fill(t, [
      row({ model: 'a', provider: 'p', api_key_id: 'k', created_at: NOON }),
      row({ model: 'a', provider: 'q', api_key_id: '' }),
      row({ model: 'b', provider: 'p', created_at: NOON - 1 }),
      row({ model: 'c', provider: 'p', api_key_id: 'none' }),
    ]);
    expect(await models(t, '?model=a')).to.deep.equal(['a', 'a']);
    expect(await models(t, '?model=A')).to.deep.equal([]);
    expect(await models(t, '?provider=p')).to.deep.equal(['c', 'a', 'b']);
    expect(await models(t, '?api_key_id=k')).to.deep.equal(['a']);
    expect(await models(t, '?api_key_id=unknown')).to.deep.equal([]);
    expect(await models(t, '?api_key_id=none')).to.deep.equal(['a', 'b']);
    expect(await models(t, '?api_key_id=')).to.have.length(4);
    expect(await models(t, '?since=2026-11-22T12:00:00Z')).to.deep.equal(['c', 'a', 'a']);
    expect(await models(t, '?since=2026-11-22T13:00:00%2B01:00&model=a&provider=q&api_key_id=none')).to.deep.equal([
      'a',
    ]);
    const { filters } = await read(
      t,
      '/admin/logs?since=2026-11-22T13:00:00.000%2B01:00&model=a&provider=q&api_key_id=none',
    );
    expect(Object.entries(filters)).to.deep.equal([
      ['limit', 50],
      ['offset', 0],
      ['stage', ''],
      ['stages', ['after_request', 'on_error']],
      ['model', 'a'],
      ['provider', 'q'],
      ['api_key_id', 'none'],
      ['since', '2026-11-22T13:00:00.000+01:00'],
    ]);
  });

  it('refuses values that it cannot read, in this order: limit, offset, since', async () => {
    const t = await start();
    for (const query of [
      'limit=0',
      'limit=-1',
      'limit=1.5',
      'limit=x',
      'offset=-1',
      'offset=x',
      'since=yesterday',
      'since=2026-11-22T13:00:00+01:00',
      'since=2026-11-22',
    ]) {
      expect(refusal(await t.get(`/admin/logs?${query}`)), query).to.deep.equal([400, 'invalid_request']);
    }
    expect((await t.get('/admin/logs?since=x&offset=x&limit=x')).json().error.message).to.match(/^limit/);
    expect((await t.get('/admin/logs?since=x&offset=x')).json().error.message).to.match(/^offset/);
  });

  it('keeps any text, and none that could change a statement', async () => {
    const t = await start();
    const texts = [
      "'); DROP TABLE request_logs;--",
      '$1 ? ?? :x',
      'nul\0nul',
      'half \ud800',
      '👩‍🚀',
      '\u202e',
      '["',
      '%_',
    ];
    fill(
      t,
      texts.map((model) => row({ model })),
    );
    const stored = texts.map((text) => text.replace('\0', '\ufffd').toWellFormed());
    expect(await models(t, '')).to.deep.equal(stored.toReversed());
    for (const text of stored)
      expect(await models(t, `?model=${encodeURIComponent(text)}`), text).to.deep.equal([text]);
  });

  it('takes numbers that are none as unknown', async () => {
    const t = await start();
    fill(t, [
      row({
        prompt_tokens: Number.NaN,
        completion_tokens: 1.5,
        duration_ms: Number.POSITIVE_INFINITY,
        cost_usd: Number.NaN,
        attempts: 0.5,
      }),
    ]);
    expect((await read(t, '/admin/logs')).data[0])
      .to.include({ prompt_tokens: 0, completion_tokens: 0, duration_ms: null, cost_usd: null })
      .and.not.have.property('attempts');
  });

  it('shows requests: one row each, with target, credential and cost', async () => {
    const stub = await stubUpstream((_request, response) =>
      replyJson(response, 200, chatReply('hello', { model: 'm-2024' })),
    );
    const t = await start({ targets: [stub.target('a')], plugins: logger() });
    const { id, key } = await t.makeKey();
    const { headers } = await t.post('/v1/chat/completions', ask(), as(key));
    const { data } = await read(t, '/admin/logs');
    expect(data).to.have.length(1);
    expect(data[0]).to.include({
      trace_id: headers.get('x-request-id'),
      stage: 'after_request',
      model: 'm-2024',
      provider: 'a',
      api_key_id: id,
      total_tokens: 18,
      error_message: '',
      target: 'a',
      attempts: 1,
      ttft_ms: null,
    });
    expect(data[0].duration_ms).to.be.a('number');
    expect(await models(t, '?stage=all')).to.deep.equal(['m-2024', 'm']);
    expect((await read(t, '/admin/dashboard')).request_logs).to.deep.equal({ enabled: true, total: 1 });
    expect((await read(t, '/admin/health')).components[3]).to.deep.equal({ name: 'Request logs', status: 'healthy' });
  });

  it('shows failures, and what was refused before any target', async () => {
    const stub = await stubUpstream((_request, response) => replyJson(response, 500, { error: { message: 'broken' } }));
    const t = await start({
      targets: [stub.target('a')],
      plugins: [
        ...logger(),
        {
          name: 'word-filter',
          type: 'guardrail',
          stage: 'before_request',
          enabled: true,
          config: { blocked_words: ['forbidden'] },
        },
      ],
    });
    await t.post('/v1/chat/completions', ask());
    await t.post('/v1/chat/completions', ask('forbidden'));
    const { data } = await read(t, '/admin/logs');
    expect(data.map(({ stage, provider, cost_usd }: any) => [stage, provider, cost_usd])).to.deep.equal([
      ['on_error', '', null],
      ['on_error', 'a', null],
    ]);
    expect(data.every(({ error_message: message }: any) => message !== '')).to.equal(true);
  });

  it('has one last row of a request whose answer a later plugin withholds', async () => {
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('forbidden')));
    const t = await start({
      targets: [stub.target('a')],
      plugins: [
        ...logger(),
        {
          name: 'word-filter',
          type: 'guardrail',
          stage: 'after_request',
          enabled: true,
          config: { blocked_words: ['forbidden'] },
        },
      ],
    });
    expect((await t.post('/v1/chat/completions', ask())).status).to.be.at.least(400);
    const { data } = await read(t, '/admin/logs');
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ stage: 'after_request', total_tokens: 18 });
    expect(data[0].error_message).not.to.equal('');
  });
});

forLogs('an error that is written onto a row', (start) => {
  const failed = (more: Partial<RequestLogRow> = {}): RequestLogRow =>
    row({ stage: 'on_error', error_message: 'late', ...more });

  it('finds the row while it waits, and once it is written', async () => {
    const t = await start();
    const log = t.host.stores.requestLog.value!;
    fill(t, [row({ trace_id: 'a' })]);
    log.annotate('after_request', failed({ trace_id: 'a' }));
    fill(t, [row({ trace_id: 'b', created_at: NOON - 1 })]);
    expect(await models(t, '')).to.have.length(2);
    log.annotate('after_request', failed({ trace_id: 'b' }));
    expect(
      (await read(t, '/admin/logs')).data.map(({ trace_id, stage, error_message }: any) => [
        trace_id,
        stage,
        error_message,
      ]),
    ).to.deep.equal([
      ['a', 'after_request', 'late'],
      ['b', 'after_request', 'late'],
    ]);
  });

  it('is a row of its own where there is none to write it onto, and without a trace', async () => {
    const t = await start();
    const log = t.host.stores.requestLog.value!;
    fill(t, [row({ trace_id: '' }), row({ trace_id: 'a', error_message: 'first' })]);
    for (const trace_id of ['', 'a', 'b']) log.annotate('after_request', failed({ trace_id }));
    expect(
      (await read(t, '/admin/logs')).data.map(({ trace_id, stage, error_message }: any) => [
        trace_id,
        stage,
        error_message,
      ]),
    ).to.deep.equal([
      ['b', 'on_error', 'late'],
      ['a', 'on_error', 'late'],
      ['', 'on_error', 'late'],
      ['a', 'after_request', 'first'],
      ['', 'after_request', ''],
    ]);
  });
});

forLogs('GET /admin/logs/stats', (start) => {
  const stats = (t: AdminHost, query = ''): Promise<any> => read(t, `/admin/logs/stats${query}`);

  it('is zeros without rows', async () => {
    const t = await start();
    expect(Object.entries(await stats(t))).to.deep.equal(
      Object.entries({
        summary: {
          total_entries: 0,
          error_entries: 0,
          total_tokens: 0,
          prompt_tokens: 0,
          completion_tokens: 0,
          cost_usd: 0,
          unpriced_requests: 0,
        },
        latency_ms: null,
        ttft_ms: null,
        by_stage: {},
        by_provider: {},
        by_model: {},
        top_errors: [],
        series: { points: [], truncated: false },
        filters: { limit: 0, buckets: 0, stage: '', model: '', provider: '', since: '' },
      }),
    );
  });

  it('counts each request once, whatever rows it has', async () => {
    const t = await start();
    for (let at = 0; at < 5; at += 1)
      fill(t, [
        row({ stage: 'before_request', model: 'm', provider: '' }),
        row({ model: 'm-2024', prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cost_usd: 0.5 }),
      ]);
    const all = await stats(t);
    expect(all.summary).to.deep.equal({
      total_entries: 5,
      error_entries: 0,
      total_tokens: 15,
      prompt_tokens: 5,
      completion_tokens: 10,
      cost_usd: 2.5,
      unpriced_requests: 0,
    });
    expect(all.by_model).to.deep.equal({ 'm-2024': { count: 5, errors: 0, tokens: 15, cost_usd: 2.5, unpriced: 0 } });
    expect(Object.keys(all.by_provider)).to.deep.equal(['p']);
    expect(all.by_stage).to.deep.equal({ before_request: 5, after_request: 5 });
    const before = await stats(t, '?stage=before_request');
    expect([
      before.summary.total_entries,
      Object.keys(before.by_model),
      Object.keys(before.by_provider),
      before.filters.stage,
    ]).to.deep.equal([5, ['m'], ['unknown'], 'before_request']);
    const every = await stats(t, '?stage=all');
    expect([every.summary.total_entries, every.by_stage, every.filters.stage]).to.deep.equal([
      5,
      { before_request: 5, after_request: 5 },
      'all',
    ]);
  });

  it('counts errors, and successes without a price', async () => {
    const t = await start();
    fill(t, [
      row({ cost_usd: 0 }),
      row({}),
      row({ cost_usd: 0.25 }),
      row({ stage: 'on_error', provider: '', error_message: 'x' }),
      row({ error_message: 'y', model: '' }),
    ]);
    const { summary, by_provider, by_model } = await stats(t);
    expect(summary).to.include({ total_entries: 5, error_entries: 2, cost_usd: 0.25, unpriced_requests: 1 });
    expect(by_provider).to.deep.equal({
      p: { count: 4, errors: 1, tokens: 0, cost_usd: 0.25, unpriced: 1 },
      unknown: { count: 1, errors: 1, tokens: 0, cost_usd: 0, unpriced: 0 },
    });
    expect(by_model['unknown']).to.include({ count: 1, errors: 1 });
  });

  it('keeps the most frequent names with a limit, of as many the lesser', async () => {
    const t = await start();
    fill(
      t,
      ['b', 'a', 'c', 'c', '__proto__'].map((model) => row({ model, provider: `of ${model}` })),
    );
    expect(Object.keys((await stats(t, '?limit=2')).by_model)).to.deep.equal(['c', '__proto__']);
    const { by_model, by_provider, by_stage, filters } = await stats(t, '?limit=1000');
    expect([Object.keys(by_model), Object.keys(by_provider), by_stage, filters.limit]).to.deep.equal([
      ['c', '__proto__', 'a', 'b'],
      ['of c', 'of __proto__', 'of a', 'of b'],
      { after_request: 5 },
      100,
    ]);
  });

  it('names stages in one order, in whichever a store counts them', () => {
    const body = statisticsBody(
      {
        groups: [],
        latency: undefined,
        ttft: undefined,
        topErrors: [],
        byStage: ['on_error', 'before_request', 'after_request'].map((stage) => ({ stage, count: 1 })),
      },
      undefined,
      0,
    );
    expect(Object.keys((body as { by_stage: object }).by_stage)).to.deep.equal([
      'after_request',
      'before_request',
      'on_error',
    ]);
  });

  it('names the eight most frequent errors, whatever the limit', async () => {
    const t = await start();
    const messages = ['ä', 'b', 'B', 'a', 'c', 'd', 'e', 'f', 'g', 'g'];
    fill(
      t,
      messages.map((error_message) => row({ stage: 'on_error', error_message })),
    );
    expect((await stats(t, '?limit=1')).top_errors).to.deep.equal([
      { message: 'g', count: 2 },
      ...['B', 'a', 'b', 'c', 'd', 'e', 'f'].map((message) => ({ message, count: 1 })),
    ]);
  });

  it('measures by nearest rank', async () => {
    const t = await start();
    fill(
      t,
      Array.from({ length: 100 }, (_, at) =>
        row({ duration_ms: ((at * 37) % 100) + 1, ttft_ms: at < 10 ? (at + 1) * 2 : null }),
      ),
    );
    const { latency_ms, ttft_ms } = await stats(t);
    expect(Object.entries(latency_ms)).to.deep.equal([
      ['p50', 50],
      ['p95', 95],
      ['p99', 99],
      ['max', 100],
      ['mean', 50.5],
      ['count', 100],
    ]);
    expect(ttft_ms).to.include({ p50: 10, max: 20, count: 10 });
    fill(t, [row({ model: 'one', duration_ms: 7 })]);
    expect((await stats(t, '?model=one&since=2026-11-22T11:00:00Z&buckets=2')).latency_ms).to.deep.equal({
      p50: 7,
      p95: 7,
      p99: 7,
      max: 7,
      mean: 7,
      count: 1,
    });
  });

  it('filters by model, provider and moment', async () => {
    const t = await start();
    fill(t, [
      row({ model: 'a', provider: 'p' }),
      row({ model: 'a', provider: 'q', created_at: NOON - 1000 }),
      row({ model: 'b', provider: 'q' }),
    ]);
    const total = async (query: string): Promise<number> => (await stats(t, query)).summary.total_entries;
    expect([
      await total('?model=a'),
      await total('?provider=q'),
      await total('?model=a&provider=q'),
      await total('?since=2026-11-22T12:00:00Z'),
      await total('?model=x'),
    ]).to.deep.equal([2, 2, 1, 2, 0]);
    expect(
      (await stats(t, '?model=a&provider=q&since=2026-11-22T11:00:00Z&limit=3&buckets=500')).filters,
    ).to.deep.equal({ limit: 3, buckets: 120, stage: '', model: 'a', provider: 'q', since: '2026-11-22T11:00:00Z' });
  });

  it('refuses values that it cannot read, in this order: limit, since, buckets', async () => {
    const t = await start();
    for (const query of ['limit=0', 'limit=x', 'since=x', 'buckets=-1', 'buckets=1.5', 'buckets=x'])
      expect(refusal(await t.get(`/admin/logs/stats?${query}`)), query).to.deep.equal([400, 'invalid_request']);
    expect((await t.get('/admin/logs/stats?buckets=x&since=x&limit=x')).json().error.message).to.match(/^limit/);
    expect((await t.get('/admin/logs/stats?buckets=x&since=x')).json().error.message).to.match(/^since/);
  });

  it('draws a series in equal parts, whose last takes what is left', async () => {
    const t = await start();
    const minute = 60_000;
    fill(t, [
      row({ created_at: NOON - 60 * minute, prompt_tokens: 1 }),
      row({ created_at: NOON - 45 * minute - 1, stage: 'on_error', error_message: 'x' }),
      row({ created_at: NOON - 45 * minute }),
      row({
        created_at: NOON - minute,
        stage: 'before_request',
        error_message: 'odd',
        prompt_tokens: 5,
        completion_tokens: 6,
      }),
      row({ created_at: NOON - 61 * minute }),
      row({ created_at: NOON, completion_tokens: 2 }),
    ]);
    const { series } = await stats(t, '?since=2026-11-22T11:00:00.500Z&buckets=0');
    expect(series).to.deep.equal({ points: [], truncated: false });
    expect((await stats(t, '?since=2026-11-22T11:00:00Z&buckets=4')).series).to.deep.equal({
      points: [
        { start: '2026-11-22T11:00:00Z', requests: 2, errors: 1, prompt_tokens: 1, completion_tokens: 0 },
        { start: '2026-11-22T11:15:00Z', requests: 1, errors: 0, prompt_tokens: 0, completion_tokens: 0 },
        { start: '2026-11-22T11:30:00Z', requests: 0, errors: 0, prompt_tokens: 0, completion_tokens: 0 },
        { start: '2026-11-22T11:45:00Z', requests: 1, errors: 0, prompt_tokens: 5, completion_tokens: 8 },
      ],
      truncated: false,
      start: '2026-11-22T11:00:00Z',
      end: '2026-11-22T12:00:00Z',
    });
    expect(
      (await stats(t, '?since=2026-11-22T11:00:00.7Z&buckets=7')).series.points.map(
        ({ start: at }: { start: string }) => at,
      ),
    )
      .to.have.length(7)
      .and.satisfy((starts: string[]) => starts.every((at) => !at.includes('.')));
  });

  it('draws one second of what begins in the future', async () => {
    const t = await start();
    const { series } = await stats(t, '?since=2030-01-01T00:00:00Z&buckets=2');
    expect([
      series.start,
      series.end,
      series.points.map(({ requests }: any) => requests),
      series.truncated,
    ]).to.deep.equal(['2030-01-01T00:00:00Z', '2030-01-01T00:00:01Z', [0, 0], false]);
  });

  it('draws every row, however many there are', async function large() {
    this.timeout(60_000);
    const t = await start();
    for (let batch = 0; batch < 3; batch += 1) {
      fill(
        t,
        Array.from({ length: 7000 }, (_, at) => row({ created_at: NOON - 21_000 + batch * 7000 + at })),
      );
      await models(t, '');
    }
    const { series } = await stats(t, '?since=2026-11-22T11:59:39Z&buckets=3');
    expect([series.truncated, series.start, series.end]).to.deep.equal([
      false,
      '2026-11-22T11:59:39Z',
      '2026-11-22T12:00:00Z',
    ]);
    expect(series.points.map(({ requests }: any) => requests)).to.deep.equal([7000, 7000, 7000]);
  });
});
