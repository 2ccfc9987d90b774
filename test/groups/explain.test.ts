import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { forLogs, logger, read } from '../admin/logs-kit.ts';
import { runCommand } from '../cli/commands.ts';
import {
  ask,
  chatReply,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';

const route = (target: string, model?: string): object => ({ target, ...(model !== undefined && { model }) });
const silent = (): Promise<StubUpstream> =>
  stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));

const MODELS = [
  {
    name: 'smart',
    routes: [route('a', 'big'), route('a', 'small'), route('b')],
    fallbacks: ['oss/one', 'plain'],
  },
  { name: 'oss/*', listed: false, routes: [route('b', '*'), route('a', 'big')] },
  {
    name: 'ruled',
    routes: [route('a'), route('b', 'x'), route('b', 'y')],
    strategy: { mode: 'conditional', conditions: [{ key: 'model', value: 'ruled', target_key: 'b@y' }] },
  },
];

async function withGroups(): Promise<TestHost> {
  const upstream = await silent();
  return startHost({
    strategy: { mode: 'fallback' },
    targets: [upstream.target('a', { models: ['m'] }), upstream.target('b', { models: ['plain'] })],
    aliases: { nick: 'smart' },
    models: MODELS,
  });
}

const explained = async (host: TestHost, model: string, surface = 'chat'): Promise<any> => {
  const request = surface === 'chat' ? ask('hi', { model }) : { model, input: 'hi' };
  return (await host.post('/admin/explain', { surface, request })).json();
};

const orderOf = ({ order }: any): unknown[] =>
  order.map(({ target, route: key, via, upstream_model }: any) => [target, key, upstream_model, via]);

describe('POST /admin/explain of a group', () => {
  it('names the group, its routes by their keys, and what its fallbacks name behind them, each once', async () => {
    const found = await explained(await withGroups(), 'nick');
    expect(found).to.deep.include({
      model: 'smart',
      requested_model: 'nick',
      group: { name: 'smart', matched: 'exact', fallbacks: ['oss/one', 'plain'] },
      strategy: 'fallback',
      on_failure: 'next target',
      refusal: null,
      rule: null,
    });
    expect(orderOf(found)).to.deep.equal([
      ['a', 'a@big', 'big', undefined],
      ['a', 'a@small', 'small', undefined],
      ['b', undefined, 'smart', undefined],
      ['b', undefined, 'one', 'oss/one'],
      ['b', undefined, 'plain', 'plain'],
    ]);
  });

  it('says how a name with a star was matched', async () => {
    const found = await explained(await withGroups(), 'oss/two');
    expect(found.group).to.deep.equal({ name: 'oss/*', matched: 'prefix', fallbacks: [] });
    expect(orderOf(found)).to.deep.equal([
      ['b', undefined, 'two', undefined],
      ['a', undefined, 'big', undefined],
    ]);
  });

  it("has the group's strategy, its rule from the top of the document, and why routes were left out", async () => {
    const found = await explained(await withGroups(), 'ruled');
    expect(found).to.deep.include({
      strategy: 'conditional',
      on_failure: 'error',
      rule: 'models[2].strategy.conditions[0]',
      condition: { key: 'model', value: 'ruled' },
    });
    expect(orderOf(found)).to.deep.equal([['b', 'b@y', 'y', undefined]]);
    expect(found.dropped.map(({ target, route: key, reason }: any) => [target, key, reason])).to.deep.equal([
      ['a', undefined, 'the strategy tries one target only'],
      ['b', 'b@x', 'the strategy tries one target only'],
    ]);
  });

  it('refuses what no route and no fallback serves, with the reasons', async () => {
    const found = await explained(await withGroups(), 'ruled', 'embeddings');
    expect(found.refusal).to.deep.include({ code: 'model_not_found' });
    expect(found.dropped.map(({ reason }: any) => reason)).to.deep.equal(Array(3).fill('does not serve embeddings'));
  });

  it('has none of the members outside groups', async () => {
    const found = await explained(await withGroups(), 'm');
    expect(Object.keys(found)).to.have.members([
      'model',
      'requested_model',
      'surface',
      'streaming',
      'strategy',
      'on_failure',
      'rule',
      'condition',
      'ab_label',
      'refusal',
      'order',
      'dropped',
      'plugins',
      'notes',
      'price',
    ]);
    const members = ['target', 'provider', 'upstream_model', 'reason', 'figures', 'circuit', 'attempt'];
    expect(Object.keys(found.order[0])).to.deep.equal(members);
    expect(Object.keys(found.dropped[0])).to.deep.equal(['target', 'reason', 'figures']);
  });
});

describe('gw explain of a group', () => {
  it('prints it without a gateway', async () => {
    const cwd = await temporaryFolder();
    const config = {
      strategy: { mode: 'single' },
      targets: [{ virtual_key: 'openai' }, { virtual_key: 'groq' }],
      models: [
        { name: 'smart', routes: [route('openai', 'gpt-4o'), route('openai', 'gpt-4o-mini')], fallbacks: ['behind'] },
        { name: 'behind', routes: [route('groq', 'llama')] },
      ],
    };
    await writeFile(join(cwd, 'gw.json'), JSON.stringify(config));
    await writeFile(join(cwd, 'request.json'), JSON.stringify(ask('hi', { model: 'smart' })));
    const run = await runCommand(['explain', '--config', 'gw.json', '--request', 'request.json'], {
      cwd,
      variables: { OPENAI_API_KEY: 'sk-test', GROQ_API_KEY: 'gsk-test' },
    });
    expect([run.code, run.stderr]).to.deep.equal([0, '']);
    expect(run.stdout).to.contain('Group: smart (fallbacks: behind)');
    expect(run.stdout).to.contain('Strategy: fallback (on failure: next target)');
    expect(run.stdout).to.match(/1 +openai@gpt-4o +gpt-4o +in declared order/);
    expect(run.stdout).to.match(/3 +groq +llama +in declared order; by the fallback behind/);
  });
});

forLogs('GET /admin/explain/{id} of a group', (start) => {
  it('shows routes, the fallback that was reached, and the attempts, in the same form', async () => {
    const broken = await stubUpstream((_request, response) => replyJson(response, 503, { error: { message: 'down' } }));
    const whole = await silent();
    const t = await start({
      strategy: { mode: 'fallback' },
      plugins: logger(),
      targets: [broken.target('a'), whole.target('b', { models: ['plain'] })],
      models: [
        { name: 'smart', routes: [route('a', 'big'), route('a', 'small')], fallbacks: ['plain', 'm'] },
        { name: 'quick', routes: [route('b', 'x')], fallbacks: ['m'] },
      ],
    });
    const shownOf = async (model: string): Promise<any> => {
      const answer = await t.post('/v1/chat/completions', ask('hi', { model }));
      expect(answer.status, answer.text).to.equal(200);
      return read(t, `/admin/explain/${answer.headers.get('x-request-id')}`);
    };
    const smart = await shownOf('smart');
    expect(smart).to.deep.include({
      model: 'smart',
      strategy: 'fallback',
      group: { name: 'smart', matched: 'exact', fallbacks: ['plain', 'm'] },
      dropped: [],
    });
    expect(orderOf(smart)).to.deep.equal([
      ['a', 'a@big', 'big', undefined],
      ['a', 'a@small', 'small', undefined],
      ['b', undefined, 'plain', 'plain'],
    ]);
    expect(
      smart.attempts.map(({ target, upstream_model, ended }: any) => [target, upstream_model, ended]),
    ).to.deep.equal([
      ['a', 'big', 'upstream_error'],
      ['a', 'small', 'upstream_error'],
      ['b', 'plain', 'answered'],
    ]);
    expect(orderOf(await shownOf('quick')), 'no fallback was reached').to.deep.equal([
      ['b', undefined, 'x', undefined],
    ]);
    const outside = await shownOf('plain');
    expect(outside).to.not.have.any.keys('group', 'via', 'route');
    expect(Object.keys(outside.order[0])).to.have.members([
      'target',
      'reason',
      'figures',
      'provider',
      'upstream_model',
    ]);
  });
});
