import { join } from 'node:path';
import { expect } from 'chai';
import { logger } from '../admin/logs-kit.ts';
import { chat, startPool, type Vendor, vendorOf } from '../credentials/vendor.ts';
import {
  chatChunks,
  chatReply,
  openSse,
  sseEvent,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { httpCollector } from '../kit/otlp.ts';

const PATH = '/v1/chat/completions';
const MODEL = 'gpt-4o-mini';
const USAGE = {
  prompt_tokens: 1000,
  completion_tokens: 1,
  total_tokens: 1001,
  prompt_tokens_details: { cached_tokens: 400 },
};

const lastRow = async (t: TestHost): Promise<Record<string, unknown>> => {
  const { data } = (await t.get('/admin/logs?limit=1')).json() as { data: Record<string, unknown>[] };
  return data[0] ?? {};
};

const COLUMNS = [
  'provider_kind',
  'credential',
  'model_group',
  'affinity',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_saved_usd',
] as const;

const told = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(COLUMNS.map((name) => [name, row[name] ?? null]));

const logged = async (): Promise<Record<string, string>> => ({
  REQUEST_LOG_STORE_BACKEND: 'sqlite',
  REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'requests.db'),
});

/** One group `smart` of a declared instance with two credentials. */
async function grouped(vendor: Vendor, collector?: string): Promise<TestHost> {
  return startPool(vendor, ['a', 'b'], {
    variables: await logged(),
    target: { models: [] },
    config: {
      models: [
        {
          name: 'smart',
          routes: [{ target: 'acme', model: MODEL, weight: 1 }],
          strategy: { mode: 'loadbalance', affinity: 'session' },
        },
      ],
      plugins: logger(['after_request', 'on_error']),
      ...(collector !== undefined && { observability: { tracing: { endpoint: collector, protocol: 'http' } } }),
    },
  });
}

describe('what is said of a session', () => {
  for (const isStreamed of [false, true])
    it(`is one word in header, row, span and figure, with the credential and the group (${isStreamed ? 'streamed' : 'whole'})`, async () => {
      const collector = await httpCollector();
      const upstreamed = await stubUpstream((request, response) => {
        if (vendorFails.has(request.headers.authorization ?? '')) {
          response.writeHead(401).end('{"error":{"message":"no","code":"invalid_api_key"}}');
          return;
        }
        if (request.json()['stream'] !== true) {
          response.setHeader('content-type', 'application/json');
          response.end(JSON.stringify({ ...chatReply('hi'), usage: USAGE }));
          return;
        }
        openSse(response);
        for (const chunk of chatChunks(['hi'])) response.write(sseEvent(chunk));
        response.write(sseEvent({ ...(chatChunks(['x'])[0] as object), choices: [], usage: USAGE }));
        response.end('data: [DONE]\n\n');
      });
      const vendorFails = new Set<string>();
      const t = await grouped({ url: upstreamed.url, keys: [], paths: [], answers: () => undefined }, collector.url);
      const results: string[] = [];
      const ask = async (isLater: boolean): Promise<void> => {
        const messages = [{ role: 'user', content: 'hi' }];
        if (isLater) messages.push({ role: 'assistant', content: 'hi' }, { role: 'user', content: 'more' });
        const answer = await t.post(
          PATH,
          {
            model: 'smart',
            messages,
            stream: isStreamed,
            ...(isStreamed && { stream_options: { include_usage: true } }),
          },
          { 'x-gateway-session': 's' },
        );
        expect(answer.status).to.equal(200);
        const row = await lastRow(t);
        const result = answer.headers.get('x-gateway-affinity') ?? '';
        results.push(result);
        expect(told(row)).to.include({
          provider_kind: 'openai',
          model_group: 'smart',
          affinity: result,
          cache_read_tokens: 400,
          cache_write_tokens: null,
        });
        expect(row['session_id']).to.equal('s');
        expect(['a', 'b']).to.include(row['credential']);
        expect(row['cache_saved_usd']).to.be.closeTo((400 * (0.15 - 0.075)) / 1e6, 1e-12);
        expect(answer.text + [...answer.headers].join()).to.not.include('KEY_');
      };
      await ask(false);
      await ask(true);
      const used = (await lastRow(t))['credential'] as string;
      vendorFails.add(`Bearer sk-of-${used}-0123456789`);
      await ask(true);
      expect((await lastRow(t))['credential']).to.not.equal(used);
      expect(results).to.deep.equal(['new', 'followed', 'moved']);
      expect(
        t.samples.filter(({ name }) => name === 'gateway_affinity_requests_total').map(({ labels }) => labels),
      ).to.deep.equal(results.map((result) => ({ group: 'smart', result })));
      const cached = t.samples.filter(({ name }) => name.startsWith('gateway_cache_'));
      expect(cached.map(({ name }) => name)).to.have.members(
        results.flatMap(() => ['gateway_cache_tokens_total', 'gateway_cache_saved_usd_total']),
      );
      await t.close();
      const roots = collector.spans
        .filter(({ name }) => name === 'gateway.request')
        .toSorted((a, b) => Number(a.start - b.start));
      const asked = roots.filter(({ attributes }) => attributes['gw.affinity'] !== undefined);
      expect(asked.map(({ attributes }) => attributes['gw.affinity'])).to.deep.equal(results);
      for (const { attributes } of asked)
        expect(attributes).to.include({ 'gw.routing.group': 'smart', 'gw.routing.strategy': 'loadbalance' });
    });

  it('is nothing for a failure, and the row names credential and group that were tried last', async () => {
    const vendor = await vendorOf(() => ({ status: 500, body: { error: { message: 'no' } } }));
    const t = await grouped(vendor);
    const answer = await t.post(PATH, chat('smart'), { 'x-gateway-session': 's' });
    expect(answer.status).to.equal(502);
    expect(answer.headers.get('x-gateway-affinity')).to.equal(null);
    const row = told(await lastRow(t));
    expect(row).to.include({ provider_kind: 'openai', model_group: 'smart', affinity: null, cache_saved_usd: null });
    expect(row['credential']).to.be.a('string');
    expect(t.samples.map(({ name }) => name)).to.not.include('gateway_affinity_requests_total');
  });

  it('is null in every new column where no block is used, and no figure appears', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...chatReply('hi'), usage: USAGE }));
    });
    const t = await startHost(
      {
        strategy: { mode: 'fallback' },
        targets: [upstream.target('a')],
        plugins: logger(['after_request', 'on_error']),
      },
      { variables: await logged() },
    );
    const answer = await t.post(PATH, chat('m'), { 'x-gateway-session': 's' });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('x-gateway-affinity')).to.equal(null);
    const row = await lastRow(t);
    expect(row['session_id']).to.equal('s');
    expect(Object.values(told(row))).to.deep.equal(COLUMNS.map(() => null));
    expect(t.samples.filter(({ name }) => /affinity|cache_tokens|cache_saved/.test(name))).to.deep.equal([]);
  });
});
