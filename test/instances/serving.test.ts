import { expect } from 'chai';
import { definePlugin } from 'gw/contract';
import Joi from 'joi';
import { startHost } from '../kit/index.ts';
import { chat, keyOf, listed, rules, statusOf, vendor } from './support.ts';

const KEYS = { KEY_A: 'sk-of-team-a-0123456789', KEY_B: 'sk-of-team-b-0123456789' };
const ENVIRONMENT = { OPENAI_API_KEY: 'sk-of-the-environment-01' };

describe('a declared instance', () => {
  it('is called at its address, with its own credential, under its own name', async () => {
    const upstream = await vendor();
    const t = await startHost(
      {
        providers: { 'team-a': { kind: 'openai', base_url: upstream.url, api_key: '${KEY_A}' } },
        targets: [{ virtual_key: 'team-a', models: ['m'] }],
      },
      { variables: { ...KEYS, ...ENVIRONMENT } },
    );
    const answer = await t.post('/v1/chat/completions', chat('m'));
    expect(answer.json().choices[0].message.content).to.equal(`Bearer ${KEYS.KEY_A}`);
    expect(answer.headers.get('x-gateway-provider')).to.equal('openai');
    expect(answer.headers.get('x-gateway-target')).to.equal('team-a');
    expect(answer.json().provider).to.equal('team-a');
  });

  it('reads nothing of the environment that it does not refer to', async () => {
    const upstream = await vendor();
    const t = await startHost(
      {
        providers: { 'openai-2': { kind: 'openai', base_url: upstream.url } },
        targets: [{ virtual_key: 'openai-2', models: ['m'] }],
      },
      {
        variables: {
          ...ENVIRONMENT,
          OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
          OPENAI_ORGANIZATION: 'org-of-the-environment',
        },
      },
    );
    expect(await keyOf(t, 'm')).to.equal('none');
    expect(upstream.seen).to.have.lengthOf(1);
    expect(Object.keys(upstream.seen[0]?.headers ?? {})).to.not.include.members(['openai-organization']);
  });

  it('takes the place of the provider of its own name, and gives it back', async () => {
    const [here, there] = await Promise.all([vendor(), vendor()]);
    const variables = { ...ENVIRONMENT, OPENAI_BASE_URL: there.url, KEY_A: KEYS.KEY_A };
    const target = { virtual_key: 'openai', models: ['m'] };
    const t = await startHost(
      { providers: { openai: { kind: 'openai', base_url: here.url, api_key: '${KEY_A}' } }, targets: [target] },
      { variables },
    );
    expect(await keyOf(t, 'm')).to.equal(`Bearer ${KEYS.KEY_A}`);
    expect(rules(t, 'WN23').map(({ provider, variables: unread }) => ({ provider, unread }))).to.deep.equal([
      { provider: 'openai', unread: 'OPENAI_API_KEY, OPENAI_BASE_URL' },
    ]);
    expect(t.host.providers.has('openai'), 'opened although it is replaced').to.equal(false);
    await t.apply({ targets: [target] });
    expect(await keyOf(t, 'm')).to.equal(`Bearer ${ENVIRONMENT.OPENAI_API_KEY}`);
    await t.apply({
      providers: { openai: { kind: 'openai', base_url: here.url, api_key: '${OPENAI_API_KEY}' } },
      targets: [target],
    });
    expect(await keyOf(t, 'm')).to.equal(`Bearer ${ENVIRONMENT.OPENAI_API_KEY}`);
    expect([here.seen.length, there.seen.length]).to.deep.equal([2, 1]);
    expect(rules(t, 'WN23').map(({ variables: unread }) => unread)).to.deep.equal([
      'OPENAI_API_KEY, OPENAI_BASE_URL',
      'OPENAI_BASE_URL',
    ]);
  });

  it('cannot be taken away while a target names it, and nothing is changed by that', async () => {
    const upstream = await vendor();
    const t = await startHost(
      {
        providers: { 'team-a': { kind: 'openai', base_url: upstream.url, api_key: '${KEY_A}' } },
        targets: [{ virtual_key: 'team-a', models: ['m'] }],
      },
      { variables: KEYS },
    );
    const refusal = await t.apply({ targets: [{ virtual_key: 'team-a' }] }).catch((error: unknown) => error);
    expect(refusal).to.have.property('problems').with.lengthOf(1);
    expect(refusal).to.have.nested.property('problems[0].rule', 'BV01');
    const other = {
      providers: { 'team-b': { kind: 'openai', api_key: '${KEY_B}' } },
      targets: [{ virtual_key: 'team-a' }],
    };
    const second = await t.apply(other).catch((error: unknown) => error);
    expect(second).to.have.nested.property(
      'problems[0].message',
      '"team-a" is neither a declared instance nor a known provider',
    );
    expect(second).to.have.nested.property('problems[0].fix').that.contains('team-b');
    expect(await keyOf(t, 'm')).to.equal(`Bearer ${KEYS.KEY_A}`);
  });

  it('has the models that it is given, in place of those of catalog and service; a target adds to them', async () => {
    const upstream = await vendor();
    const providers = (models: readonly string[]): object => ({
      'team-a': { kind: 'openai', base_url: upstream.url, api_key: '${KEY_A}', models },
    });
    const t = await startHost(
      {
        providers: providers(['one', 'two']),
        targets: [{ virtual_key: 'team-a', models: ['three'], model_map: { four: 'one' } }],
      },
      { variables: { ...KEYS, GW_MODEL_DISCOVERY_INTERVAL: '1m' } },
    );
    expect(await listed(t)).to.deep.equal(['one', 'two', 'three', 'four']);
    expect(await statusOf(t, 'gpt-4o')).to.equal(404);
    await t.apply({ providers: providers([]), targets: [{ virtual_key: 'team-a', models: ['three'] }] });
    expect(await listed(t)).to.deep.equal(['three']);
    await t.apply({ providers: providers([]), targets: [{ virtual_key: 'team-a' }] });
    expect(await listed(t)).to.deep.equal([]);
    expect((await t.get('/health')).json().providers).to.deep.include({
      name: 'team-a',
      status: 'available',
      circuit: 'closed',
      models: 0,
    });
    expect(upstream.seen, 'asked for its models').to.deep.equal([]);
  });

  it('is asked for any model only where its kind may be, or it says so itself', async () => {
    const upstream = await vendor();
    const config = (any_model?: boolean): object => ({
      providers: {
        'team-a': {
          kind: 'openai',
          base_url: upstream.url,
          api_key: '${KEY_A}',
          models: [],
          ...(any_model !== undefined && { any_model }),
        },
      },
      targets: [{ virtual_key: 'team-a' }],
    });
    const t = await startHost(config(), { variables: KEYS });
    expect(await statusOf(t, 'never-heard-of')).to.equal(404);
    await t.apply(config(true));
    expect(await keyOf(t, 'never-heard-of')).to.equal(`Bearer ${KEYS.KEY_A}`);
    const kind = upstream.provider('takes-all', { anyModel: true });
    const taking = (any_model: boolean | undefined): object => ({
      providers: {
        mine: {
          kind: 'takes-all',
          base_url: upstream.url,
          api_key: '${KEY_A}',
          ...(any_model !== undefined && { any_model }),
        },
      },
      targets: [{ virtual_key: 'mine' }],
    });
    const other = await startHost(taking(undefined), { variables: KEYS, modules: [kind] });
    expect(await statusOf(other, 'never-heard-of')).to.equal(200);
    await other.apply(taking(false));
    expect(await statusOf(other, 'never-heard-of')).to.equal(404);
  });

  it('has files and batches where its kind has them, with its own credential', async () => {
    const upstream = await vendor();
    const config = (batch_target: string): object => ({
      providers: {
        'team-a': { kind: 'openai', base_url: upstream.url, api_key: '${KEY_A}' },
        'team-b': { kind: 'openai', base_url: upstream.url, api_key: '${KEY_B}' },
        gpu: { kind: 'openai-compatible', base_url: upstream.url, models: ['m'] },
      },
      targets: ['team-a', 'team-b', 'gpu'].map((virtual_key) => ({ virtual_key })),
      batch_target,
    });
    const t = await startHost(config('gpu'), { variables: KEYS });
    const refused = await t.get('/v1/files');
    expect([refused.status, refused.json().error.code]).to.deep.equal([501, 'batch_not_configured']);
    expect(upstream.seen).to.deep.equal([]);
    await t.apply(config('team-b'));
    const answer = await t.get('/v1/files');
    expect(answer.status).to.equal(200);
    expect(upstream.seen.map(({ url, headers }) => [url, headers.authorization])).to.deep.equal([
      ['/v1/files', `Bearer ${KEYS.KEY_B}`],
    ]);
    expect(answer.headers.get('x-gateway-provider')).to.equal('openai');
  });

  it('answers for its responses by id where `responses_target` names it', async () => {
    const upstream = await vendor();
    const t = await startHost(
      {
        providers: { 'team-b': { kind: 'openai', base_url: upstream.url, api_key: '${KEY_B}' } },
        targets: [{ virtual_key: 'team-b' }],
        responses_target: 'team-b',
      },
      { variables: KEYS },
    );
    expect((await t.get('/v1/responses/resp_1')).status).to.equal(200);
    expect(upstream.seen.map(({ url, headers }) => [url, headers.authorization])).to.deep.equal([
      ['/v1/responses/resp_1', `Bearer ${KEYS.KEY_B}`],
    ]);
  });

  it('may be sent chats by the API of Responses where its kind has one', async () => {
    const config = (kind: string): object => ({
      providers: { mine: { kind, base_url: 'http://127.0.0.1:9', api_key: '${KEY_A}' } },
      targets: [{ virtual_key: 'mine', chat_via: 'responses' }],
    });
    const t = await startHost(config('openai'), { variables: KEYS });
    const refusal = await t.apply(config('anthropic')).catch((error: unknown) => error);
    expect(refusal).to.have.nested.property('problems[0].rule', 'BV20');
  });

  it('with `models: []` serves the names of groups alone; another is not found before any plugin runs', async () => {
    const ran: string[] = [];
    const witness = definePlugin({
      name: 'witness',
      type: 'logging',
      summary: 'Takes down what it sees',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: ({ model }) => {
          ran.push(model);
          return undefined;
        },
      }),
    });
    const upstream = await vendor();
    const t = await startHost(
      {
        providers: { 'team-a': { kind: 'openai', base_url: upstream.url, api_key: '${KEY_A}', models: [] } },
        targets: [{ virtual_key: 'team-a' }],
        models: [{ name: 'smart', routes: [{ target: 'team-a', model: 'gpt-4o' }] }],
        plugins: [{ name: 'witness', stage: 'before_request', enabled: true }],
      },
      { variables: KEYS, modules: [witness] },
    );
    expect(await keyOf(t, 'smart')).to.equal(`Bearer ${KEYS.KEY_A}`);
    expect(upstream.seen[0]?.json()).to.include({ model: 'gpt-4o' });
    for (const model of ['gpt-4o', 'gpt-4.1', 'nothing']) expect(await statusOf(t, model), model).to.equal(404);
    expect(ran).to.deep.equal(['smart']);
    expect(await listed(t)).to.deep.equal(['smart']);
  });
});
