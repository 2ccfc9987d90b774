import { expect } from 'chai';
import Joi from 'joi';
import { answer, type ChatReply, definePlugin, reject, type Scope } from 'gw/contract';
import { exposition } from '../../builtins/telemetry/metrics/exposition.ts';
import { SeriesStore } from '../../builtins/telemetry/metrics/series-store.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import { FIGURES } from '../../host/contract/figures.ts';
import { digestOf, PrincipalTable } from '../../host/stores/principals.ts';
import {
  ask,
  chatChunks,
  chatReply,
  eventually,
  fakeClock,
  openSse,
  rawClient,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { parseScrape, type Scrape, valuesOf } from '../kit/scrape.ts';

const CHAT = '/v1/chat/completions';

async function scrape(host: TestHost): Promise<Scrape> {
  const answer = await host.get('/metrics');
  expect(answer.status).to.equal(200);
  return parseScrape(answer.text);
}

describe('/metrics', () => {
  const start = async (): Promise<TestHost> => startHost({ targets: [{ virtual_key: 'echo' }] });

  it('is text of the exposition format, for GET and HEAD alone', async () => {
    const host = await start();
    const answer = await host.get('/metrics');
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).to.deep.equal([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'no-store',
    ]);
    const head = await host.request('HEAD', '/metrics');
    expect([head.status, head.text, head.headers.get('content-type')]).to.deep.equal([
      200,
      '',
      answer.headers.get('content-type'),
    ]);
    const posted = await host.post('/metrics', {});
    expect([posted.status, posted.headers.get('allow'), posted.json().error.code]).to.deep.equal([
      405,
      'GET, HEAD',
      'method_not_supported',
    ]);
  });

  it('needs a credential before anything else, and in every mode', async () => {
    const host = await startHost(
      { targets: [{ virtual_key: 'echo' }] },
      { variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } },
    );
    for (const path of ['/metrics', '/debug/vars', '/debug/pprof/', '/debug/nothing']) {
      for (const method of ['GET', 'POST']) {
        const answer = await fetch(host.url + path, { method });
        expect([
          path,
          method,
          answer.status,
          ((await answer.json()) as { error: { code: string } }).error.code,
        ]).to.deep.equal([path, method, 401, 'missing_api_key']);
      }
    }
  });

  it('is for those who may read, and what is below /debug/ for administrators alone', async () => {
    const scopes: Readonly<Record<string, readonly Scope[]>> = {
      gw_reader: ['read_only'],
      gw_admin: ['admin'],
      gw_nothing: [],
    };
    const keys = defineBuiltin({
      name: 'keys',
      apply: ({ hooks }) =>
        hooks.open.tapPromise('keys', async ({ stores }) => {
          const table = new PrincipalTable();
          for (const [key, allowed] of Object.entries(scopes))
            table.set(digestOf(key), { id: key, name: key, scopes: allowed });
          stores.principals.supply(table);
        }),
    });
    const host = await startHost(
      { targets: [{ virtual_key: 'echo' }] },
      { builtins: [keys], variables: { ENABLE_PPROF: '1' } },
    );
    const statuses = (path: string): Promise<number[]> =>
      Promise.all(
        Object.keys(scopes).map(async (key) => (await host.get(path, { authorization: `Bearer ${key}` })).status),
      );
    expect(await statuses('/metrics')).to.deep.equal([200, 200, 403]);
    for (const path of ['/debug/vars', '/debug/pprof/', '/debug/pprof/heap'])
      expect([path, await statuses(path)]).to.deep.equal([path, [403, 200, 403]]);
  });

  it('holds what was counted before the gateway served', async () => {
    const variables = { OPENAI_API_KEY: 'key-of-this-test', OPENAI_BASE_URL: 'not an address' };
    const found = await scrape(await startHost({ targets: [{ virtual_key: 'echo' }] }, { variables }));
    expect(valuesOf(found, 'gateway_provider_init_failures_total')).to.deep.equal({ 'provider=openai': 1 });
    expect(valuesOf(found, 'gateway_catalog_loads_total')).to.deep.equal({ 'result=success source=fallback': 1 });
  });

  it('names every figure of the table with its help and type, and those of the process', async () => {
    const families = await scrape(await start());
    for (const [name, { kind, help }] of Object.entries(FIGURES))
      expect({ name, ...families.get(name), samples: [] }).to.deep.equal({ name, type: kind, help, samples: [] });
    expect([...families.keys()]).to.include.members([
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_heap_size_used_bytes',
      'nodejs_eventloop_lag_seconds',
      'nodejs_version_info',
    ]);
  });

  it('is written once for all gateways of a process', async () => {
    const [one, other] = [await start(), await start()];
    for (const host of [one, other, one])
      expect(valuesOf(await scrape(host), 'process_start_time_seconds')).to.have.all.keys('');
  });
});

describe('the figures of a known mix of requests', () => {
  /** What the first chunk of a stream brings that ends early. */
  const EARLY = { prompt_tokens: 11, completion_tokens: 1, total_tokens: 12 };
  const labels = (provider: string, more = '', model = 'gpt-4o'): string =>
    `model=${model} provider=${provider}${more}`;

  async function upstream(): Promise<StubUpstream> {
    return stubUpstream((request, response) => {
      const { stream, messages } = request.json();
      const [{ content }] = messages as [{ content: string }];
      if (content === 'fail') replyJson(response, 500, {});
      else if (stream !== true) replyJson(response, 200, chatReply('hello'));
      else if (content === 'break' || content === 'leave') {
        openSse(response);
        response.write(sseEvent({ ...chatChunks(['one'])[0], usage: EARLY }));
        if (content === 'break') setTimeout(() => response.destroy(), 20);
      } else replyStream(response, ['hi']);
    });
  }

  const guard = definePlugin({
    name: 'gate',
    type: 'guardrail',
    summary: 'For this test',
    stages: ['before_request', 'after_request'],
    settings: Joi.object({}),
    create: () => ({
      before_request: ({ request }) => {
        const text = JSON.stringify(request);
        if (text.includes('deny')) return reject('denied');
        return text.includes('cached') ? answer(chatReply('kept') as ChatReply) : undefined;
      },
      after_request: ({ request }) => {
        const text = JSON.stringify(request);
        if (text.includes('spoil')) throw new Error('a fault of this plugin');
        return text.includes('withhold') ? reject('withheld') : undefined;
      },
    }),
  });

  it('are those that docs/observability.md says, and no money is lost', async () => {
    const stub = await upstream();
    const plugins = ['before_request', 'after_request'].map((stage) => ({
      name: 'gate',
      type: 'guardrail',
      stage,
      enabled: true,
      config: {},
    }));
    const host = await startHost(
      { strategy: { mode: 'single' }, targets: [stub.target('a', { models: ['gpt-4o'] })], plugins },
      { modules: [guard] },
    );
    const send = (content: string, more: object = {}): Promise<unknown> =>
      host.post(CHAT, ask(content, { model: 'gpt-4o', ...more }));
    for (const content of ['hello', 'deny', 'cached', 'fail', 'withhold', 'spoil']) await send(content);
    for (const content of ['hello', 'break', 'withhold']) await send(content, { stream: true });
    await send('hello', { model: 'not-served' });
    const leaving = new AbortController();
    const left = await fetch(`${host.url}${CHAT}`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${host.host.masterKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('leave', { model: 'gpt-4o', stream: true })),
    });
    await left.body!.getReader().read();
    leaving.abort();
    await eventually(() => host.samples.some(({ labels: { error_type: type } }) => type === 'client_canceled'));
    const found = await scrape(host);

    expect(valuesOf(found, 'gateway_requests_total')).to.deep.equal({
      [labels('a', ' status=success')]: 2,
      [labels('none', ' status=rejected')]: 1,
      [labels('cache', ' status=success')]: 1,
      [labels('a', ' status=error')]: 5,
      [labels('a', ' status=rejected')]: 1,
      [labels('none', ' status=error', 'unknown')]: 1,
    });
    expect(valuesOf(found, 'gateway_request_duration_seconds_count')).to.deep.equal({
      [labels('a')]: 8,
      [labels('none')]: 1,
      [labels('cache')]: 1,
      [labels('none', '', 'unknown')]: 1,
    });
    // Of `fail` nothing arrived; of the two streams that broke, what had arrived.
    expect(valuesOf(found, 'gateway_tokens_input_total')).to.deep.equal({ [labels('a')]: 77, [labels('cache')]: 11 });
    expect(valuesOf(found, 'gateway_tokens_output_total')).to.deep.equal({ [labels('a')]: 37, [labels('cache')]: 7 });
    // The provider of an answer that a plugin spoils has served it: only the stream that a plugin ended counts.
    expect(valuesOf(found, 'gateway_provider_errors_total')).to.deep.equal({
      'error_type=provider_error provider=a': 2,
      'error_type=client_canceled provider=a': 1,
      'error_type=plugin_error provider=a': 1,
    });
    expect(valuesOf(found, 'gateway_guardrail_verdicts_total')).to.deep.equal({
      'action=rejected plugin=gate stage=before_request': 1,
      'action=rejected plugin=gate stage=after_request': 2,
    });
    for (const name of ['gateway_requests_total', 'gateway_provider_errors_total', 'gateway_tokens_input_total']) {
      const counted = host.samples.filter((sample) => sample.name === name).reduce((sum, { value }) => sum + value, 0);
      expect(
        Object.values(valuesOf(found, name)).reduce((sum, value) => sum + value, 0),
        name,
      ).to.equal(counted);
    }
  });

  it('hold the money of streams that broke', async () => {
    const stub = await upstream();
    const host = await startHost(
      { targets: [{ virtual_key: 'openai' }] },
      { variables: { OPENAI_API_KEY: 'key-of-this-test', OPENAI_BASE_URL: stub.url } },
    );
    await host.post(CHAT, ask('hello', { model: 'gpt-4o', stream: true }));
    const whole = Object.values(valuesOf(await scrape(host), 'gateway_request_cost_usd_total'))[0] ?? 0;
    await host.post(CHAT, ask('break', { model: 'gpt-4o', stream: true }));
    const both = Object.values(valuesOf(await scrape(host), 'gateway_request_cost_usd_total'))[0] ?? 0;
    expect(whole, 'the model has a price').to.be.above(0);
    expect(both).to.be.above(whole);
  });
});

describe('gauges', () => {
  it('hold the state of each circuit from the start, and none of targets without one', async () => {
    const clock = fakeClock();
    const stub = await stubUpstream((_request, response) => replyJson(response, 500, {}));
    const host = await startHost(
      { targets: [stub.target('a', { circuit_breaker: { failure_threshold: 1, timeout: '1s' } }), stub.target('b')] },
      { clock },
    );
    const state = async (): Promise<object> => valuesOf(await scrape(host), 'gateway_circuit_breaker_state');
    expect(await state()).to.deep.equal({ 'provider=a': 0 });
    await host.post(CHAT, ask());
    expect(await state()).to.deep.equal({ 'provider=a': 1 });
    clock.advance(1001);
    expect(await state()).to.deep.equal({ 'provider=a': 2 });
  });

  it('count connections by what they do', async () => {
    const host = await startHost({ targets: [{ virtual_key: 'echo' }] });
    const now = (): object => ({ active: host.host.connections.active, idle: host.host.connections.idle });
    const moves = (): object => {
      host.host.connections.report(host.host.counters);
      const samples = host.samples.filter(({ name }) => name === 'gateway_server_connection_transitions_total');
      return Object.fromEntries(
        Map.groupBy(samples, ({ labels: { state } }) => state)
          .entries()
          .map(([state, all]) => [state, all.reduce((sum, { value }) => sum + value, 0)]),
      );
    };
    expect(now()).to.deep.equal({ active: 0, idle: 0 });
    const silent = await rawClient(host.url);
    const client = await rawClient(host.url);
    client.send('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => host.host.connections.idle === 1);
    expect([now(), moves()]).to.deep.equal([
      { active: 0, idle: 1 },
      { new: 2, active: 1, idle: 1 },
    ]);
    client.send('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await eventually(() => host.host.connections.idle === 0 && host.host.connections.active === 0);
    expect([now(), moves()]).to.deep.equal([
      { active: 0, idle: 0 },
      { new: 2, active: 2, idle: 1, closed: 1 },
    ]);
    silent.socket.destroy();
  });
});

describe('what is kept of figures', () => {
  const store = (): { store: SeriesStore; refused: string[] } => {
    const refused: string[] = [];
    return { store: new SeriesStore((name) => refused.push(name)), refused };
  };

  it('is bounded: what exceeds it is counted together, and nothing is lost', () => {
    const { store: kept } = store();
    for (let at = 0; at < 10_100; at += 1)
      kept.add('gateway_requests_total', { provider: 'p', model: `m${at}`, status: 'success' }, 1);
    const values = valuesOf(parseScrape(exposition(kept.families)), 'gateway_requests_total');
    expect(Object.keys(values)).to.have.lengthOf(10_001);
    expect(values['model=other provider=other status=success']).to.equal(100);
  });

  it('holds figures of modules under names that the format allows, and refuses what is not theirs', () => {
    const { store: kept, refused } = store();
    kept.add('my-plugin.seen_total', { 'the-kind': 'a"b\\c\nd', le: '1' }, 2);
    kept.add('my-plugin.seen_total', { le: '1', 'the-kind': 'a"b\\c\nd' }, 1);
    kept.observe('waits_seconds', 0.2, {});
    kept.observe('waits_seconds', 500, {});
    for (let at = 0; at < 3; at += 1) kept.add('waits_seconds', {}, 1);
    kept.add('process_lies_total', {}, 1);
    kept.add('spent_total', {}, -5);
    kept.add('spent_total', {}, Number.NaN);
    const scraped = parseScrape(exposition(kept.families));
    expect(valuesOf(scraped, 'my_plugin_seen_total')).to.deep.equal({ '_le=1 the_kind=a"b\\c\nd': 3 });
    expect(valuesOf(scraped, 'waits_seconds_sum')).to.deep.equal({ '': 500.2 });
    expect(valuesOf(scraped, 'waits_seconds_bucket')).to.include({
      'le=0.1': 0,
      'le=0.25': 1,
      'le=60': 1,
      'le=+Inf': 2,
    });
    expect(refused).to.deep.equal(['waits_seconds', 'process_lies_total']);
    expect(scraped.has('spent_total')).to.equal(false);
  });

  it('has each label once and each series once, whatever modules name them', () => {
    const { store: kept, refused } = store();
    kept.add('seen_total', { 'a-b': 'one', a_b: 'two', 'a.b': 'three', __name__: 'up', le: 'x', '': 'y', '9': 'z' }, 1);
    for (const name of ['kind', 'ki-nd', 'ki.nd']) kept.add('kinds_total', { [name]: 'one' }, 1);
    kept.observe('waits_seconds', 1, {});
    for (const name of ['waits_seconds_count', 'waits_seconds_sum', 'waits_seconds_bucket']) kept.add(name, {}, 1);
    kept.add('first_count', {}, 1);
    kept.observe('first', 1, {});
    let isBroken = false;
    kept.add(
      'told_total',
      {
        text: {
          toString: () => {
            if (isBroken) throw new Error('not again');
            return 'once';
          },
        } as unknown as string,
      },
      1,
    );
    isBroken = true;
    const lines = exposition(kept.families)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const series = lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
    expect(series.filter((line, at) => series.indexOf(line) !== at)).to.deep.equal([]);
    for (const line of lines) {
      const names = [...line.matchAll(/([a-zA-Z0-9_]+)="/g)].map(([, name]) => name ?? '');
      expect(names, line)
        .to.deep.equal([...new Set(names)])
        .and.satisfy((all: string[]) => all.every((name) => !name.startsWith('__')));
    }
    expect(lines.filter((line) => line.startsWith('seen_total'))).to.deep.equal([
      'seen_total{_="y",_9="z",_name__="up",a_b="one",a_b_2="three",a_b_3="two",_le="x"} 1',
    ]);
    expect(lines.filter((line) => line.startsWith('kinds_total'))).to.deep.equal([
      'kinds_total{kind="one"} 1',
      'kinds_total{ki_nd="one"} 2',
    ]);
    expect(refused).to.deep.equal(['waits_seconds_count', 'waits_seconds_sum', 'waits_seconds_bucket', 'first']);
  });
});
