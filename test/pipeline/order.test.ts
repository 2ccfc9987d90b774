import { expect } from 'chai';
import Joi from 'joi';
import { commonTranslators } from 'gw/common-wire';
import { definePlugin, type Exchange, type PluginModule } from 'gw/contract';
import { ask, chatReply, replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';

const PATH = '/v1/chat/completions';

const healthy = (): Promise<StubUpstream> =>
  stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));

/** A plugin that notes what it sees at each stage. */
function watcher(
  name: string,
  seen: string[],
  look: (exchange: Exchange) => unknown = ({ stage }) => stage,
): PluginModule {
  const note = (exchange: Exchange): void => {
    seen.push(`${name} ${String(look(exchange))}`);
  };
  return definePlugin({
    name,
    type: 'transform',
    keepsModel: true,
    summary: 'Notes what it sees',
    stages: ['before_request', 'after_request', 'on_error'],
    settings: Joi.object({}),
    create: () => ({ before_request: note, after_request: note, on_error: note, finished: note }),
  });
}

const listed = (name: string, ...stages: readonly string[]): object[] =>
  stages.map((stage) => ({ name, stage, enabled: true }));

describe('order of a request', () => {
  it('is: alias, plugins before in order, provider, plugins after in order, finished', async () => {
    const seen: string[] = [];
    const upstream = await stubUpstream((request, response) => {
      seen.push(`upstream ${String(request.json()['model'])}`);
      replyJson(response, 200, chatReply('hello'));
    });
    const look = ({ stage, model }: Exchange): string => `${stage} ${model}`;
    const host = await startHost(
      {
        targets: [upstream.target('a')],
        aliases: { fast: 'm' },
        plugins: [
          ...listed('second', 'before_request'),
          ...listed('first', 'after_request'),
          ...listed('first', 'before_request'),
          ...listed('second', 'after_request'),
        ],
      },
      { modules: [watcher('first', seen, look), watcher('second', seen, look)] },
    );
    expect((await host.post(PATH, ask('hi', { model: 'fast' }))).status).to.equal(200);
    expect(seen.slice(0, 5)).to.deep.equal([
      'second before_request m',
      'first before_request m',
      'upstream m',
      'first after_request m',
      'second after_request m',
    ]);
    expect(seen.slice(5)).to.have.members(['first after_request m', 'second after_request m']); // finished, once each
  });

  it('refuses a model that no target serves before any plugin, and runs on_error', async () => {
    const seen: string[] = [];
    const upstream = await healthy();
    const host = await startHost(
      { targets: [upstream.target('a')], plugins: listed('watch', 'before_request', 'on_error') },
      { modules: [watcher('watch', seen)] },
    );
    const answer = await host.post(PATH, ask('hi', { model: 'nosuch' }));
    expect(answer.status).to.equal(404);
    expect(answer.json().error).to.include({ type: 'invalid_request_error', code: 'model_not_found' });
    expect(answer.headers.get('x-gateway-target')).to.equal(null);
    expect(seen[0]).to.equal('watch on_error');
    expect(upstream.seen).to.deep.equal([]);
  });

  it('names in the log the targets that are not registered, of a model that no other serves', async () => {
    const upstream = await healthy();
    const host = await startHost({ targets: [{ virtual_key: 'openai', models: ['lonely'] }, upstream.target('a')] });
    expect((await host.post(PATH, ask('hi', { model: 'lonely' }))).status).to.equal(404);
    expect(host.lines.find(({ msg }) => msg === 'no registered target serves the model')).to.include({
      level: 'WARN',
      model: 'lonely',
      unregistered: 'openai',
    });
  });

  it('runs nothing for a request that fails its checks', async () => {
    const seen: string[] = [];
    const upstream = await healthy();
    const host = await startHost(
      { targets: [upstream.target('a')], plugins: listed('watch', 'before_request', 'on_error') },
      { modules: [watcher('watch', seen)] },
    );
    for (const body of ['{', {}, { model: 'm' }, ask('x', { temperature: 9 })]) {
      const answer = await host.post(PATH, body);
      expect(answer.status).to.equal(400);
      expect(answer.headers.get('x-gateway-attempts')).to.equal(null);
    }
    expect(seen).to.deep.equal([]);
    expect(host.samples.filter(({ name }) => name === 'gateway_requests_total')).to.deep.equal([]);
  });

  it('lets a transform change the model, also to one that only later can be checked', async () => {
    const upstream = await healthy();
    const renamer = definePlugin({
      name: 'renamer',
      type: 'transform',
      summary: 'Asks for m instead',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: ({ request }) => ({ action: 'rewrite', body: { ...request, model: 'm' } as never }),
      }),
    });
    const host = await startHost(
      { targets: [upstream.target('a')], plugins: listed('renamer', 'before_request') },
      { modules: [renamer] },
    );
    const answer = await host.post(PATH, ask('hi', { model: 'unknown' }));
    expect(answer.status).to.equal(200);
    expect(answer.json().model).to.equal('m');
    expect(upstream.seen[0]?.json()['model']).to.equal('m');
  });
});

describe('model names on their way', () => {
  const aliased = async (upstream: StubUpstream): Promise<TestHost> =>
    startHost({
      targets: [upstream.target('a', { models: ['m'], model_map: { m: 'vendor/m-2026' } })],
      aliases: { fast: 'm', lost: 'nosuch' },
    });

  it('are: alias for the client, routed model in the answer, mapped model upstream', async () => {
    const upstream = await healthy();
    const answer = await (await aliased(upstream)).post(PATH, ask('hi', { model: 'fast' }));
    expect(answer.json().model).to.equal('m');
    expect(answer.headers.get('x-gateway-model')).to.equal('vendor/m-2026');
    expect(upstream.seen[0]?.json()['model']).to.equal('vendor/m-2026');
  });

  it('make an alias exact, one hop, and 404 when no target serves its model', async () => {
    const host = await aliased(await healthy());
    for (const model of ['FAST', ' fast', 'fast ', 'lost'])
      expect((await host.post(PATH, ask('hi', { model }))).json().error.code, model).to.equal('model_not_found');
  });

  it('take an alias that shadows a model for the alias', async () => {
    const upstream = await healthy();
    const host = await startHost({
      targets: [upstream.target('a', { models: ['m', 'other'] })],
      aliases: { m: 'other' },
    });
    expect((await host.post(PATH, ask())).json().model).to.equal('other');
  });

  it('make a key of model_map a model that is served', async () => {
    const upstream = await healthy();
    const host = await startHost({ targets: [upstream.target('a', { models: [], model_map: { mapped: 'vendor' } })] });
    expect((await host.post(PATH, ask('hi', { model: 'mapped' }))).status).to.equal(200);
    expect(upstream.seen[0]?.json()['model']).to.equal('vendor');
  });
});

describe('token ceilings', () => {
  const { chat } = commonTranslators(['chat'], {});
  const STYLES = {
    reconciled: chat,
    max_completion_tokens: commonTranslators(['chat'], {}, { chat: { ceiling: 'max_completion_tokens' } }).chat,
    max_tokens: commonTranslators(['chat'], {}, { chat: { ceiling: 'max_tokens' } }).chat,
  };

  for (const [sent, plugins, wires] of [
    [{}, {}, { reconciled: {}, max_completion_tokens: {}, max_tokens: {} }],
    [
      { max_tokens: 5 },
      { max_tokens: 5 },
      {
        reconciled: { max_tokens: 5 },
        max_completion_tokens: { max_completion_tokens: 5 },
        max_tokens: { max_tokens: 5 },
      },
    ],
    [
      { max_completion_tokens: 6 },
      { max_tokens: 6, max_completion_tokens: 6 },
      {
        reconciled: { max_tokens: 6, max_completion_tokens: 6 },
        max_completion_tokens: { max_completion_tokens: 6 },
        max_tokens: { max_tokens: 6 },
      },
    ],
    [
      { max_tokens: 5, max_completion_tokens: 6 },
      { max_tokens: 6, max_completion_tokens: 6 },
      {
        reconciled: { max_tokens: 6, max_completion_tokens: 6 },
        max_completion_tokens: { max_completion_tokens: 6 },
        max_tokens: { max_tokens: 6 },
      },
    ],
    [
      { max_tokens: 5, max_completion_tokens: null },
      { max_tokens: 5 },
      {
        reconciled: { max_tokens: 5 },
        max_completion_tokens: { max_completion_tokens: 5 },
        max_tokens: { max_tokens: 5 },
      },
    ],
  ] as const) {
    it(`of ${JSON.stringify(sent)} reach plugins and every wire as the table says`, async () => {
      const seen: string[] = [];
      const upstream = await healthy();
      const ceilings = (body: object): string => JSON.stringify(body, ['max_tokens', 'max_completion_tokens']);
      const host = await startHost(
        {
          targets: Object.entries(STYLES).map(([style, translator]) =>
            upstream.target(style.replaceAll('_', '-'), { models: [style] }, { translators: { chat: translator } }),
          ),
          strategy: { mode: 'fallback' },
          plugins: listed('watch', 'before_request'),
        },
        { modules: [watcher('watch', seen, ({ request }) => ceilings(request))] },
      );
      for (const style of ['reconciled', 'max_completion_tokens', 'max_tokens'] as const) {
        upstream.seen.length = 0;
        seen.length = 0;
        const answer = await host.post(PATH, ask('hi', { model: style, ...sent }));
        expect(answer.status).to.equal(200);
        expect(answer.headers.get('x-gateway-ignored-params')).to.equal(null);
        expect(JSON.parse(seen[0]?.slice('watch '.length) ?? '')).to.deep.equal(plugins);
        expect(JSON.parse(ceilings(upstream.seen[0]?.json() ?? {})), style).to.deep.equal(wires[style]);
      }
    });
  }
});
