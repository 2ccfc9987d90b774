import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commonTranslators } from 'gw/common-wire';
import { defineStrategy } from 'gw/contract';
import { expect } from 'chai';
import Joi from 'joi';
import {
  type Answer,
  ask,
  chatReply,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { draws, evenDraws, tally } from './support.ts';

const PATH = '/v1/chat/completions';
const served = (answer: Answer): string | null => answer.headers.get('x-gateway-target');
const answering = () => stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
const failing = () => stubUpstream((_request, response) => replyJson(response, 500, { error: { message: 'no' } }));
const listed = async (host: TestHost): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(
    (await host.get('/v1/models'))
      .json()
      .data.map(({ id, owned_by }: { id: string; owned_by: string }) => [id, owned_by]),
  );

describe('strategies behind requests', () => {
  it('spread requests by weight, and fail over in rotation, but never to a drained target', async () => {
    const [a, b, c] = [await answering(), await failing(), await answering()];
    const host = await startHost(
      {
        strategy: { mode: 'loadbalance' },
        targets: [a.target('a', { weight: 0 }), b.target('b', { weight: 1 }), c.target('c', { weight: 3 })],
      },
      { random: evenDraws(8) },
    );
    const answers: string[] = [];
    for (let call = 0; call < 8; call += 1) {
      const answer = await host.post(PATH, ask());
      answers.push(`${served(answer)} ${answer.headers.get('x-gateway-attempts')}`);
    }
    expect(tally(8, () => answers.shift() ?? '')).to.deep.equal({ 'c 1': 6, 'c 2': 2 });
    expect(a.seen).to.have.length(0);
  });

  it('answer with the failure when all but drained targets fail', async () => {
    const [a, b] = [await answering(), await failing()];
    const host = await startHost({
      strategy: { mode: 'loadbalance' },
      targets: [a.target('a'), b.target('b', { weight: 1 })],
    });
    const answer = await host.post(PATH, ask());
    expect([answer.status, served(answer), a.seen.length]).to.deep.equal([502, 'b', 0]);
  });

  it('find no model where everything that serves it is drained', async () => {
    const [a, b] = [await answering(), await answering()];
    const host = await startHost({
      strategy: { mode: 'loadbalance' },
      targets: [a.target('a', { models: ['m'] }), b.target('b', { models: ['other'], weight: 1 })],
    });
    const answer = await host.post(PATH, ask());
    expect([answer.status, answer.json().error.code, served(answer)]).to.deep.equal([404, 'model_not_found', null]);
    expect(await listed(host)).to.deep.equal({ other: 'b' });
  });

  it('count each request of an A/B test under the label it drew, once, and say it in its log line', async () => {
    const [a, b, c] = [await answering(), await failing(), await answering()];
    const ab_variants = [
      { target_key: 'a', weight: 3, label: 'control' },
      { target_key: 'b', weight: 1, label: 'fresh' },
    ];
    const host = await startHost(
      { strategy: { mode: 'ab-test', ab_variants }, targets: [a.target('a'), b.target('b'), c.target('c')] },
      { random: evenDraws(4) },
    );
    for (let call = 0; call < 4; call += 1) expect(served(await host.post(PATH, ask()))).to.equal('a');
    const counted = host.samples
      .filter(({ name }) => name === 'gateway_ab_requests_total')
      .map(({ labels, value }) => `${labels['variant']} ${value}`);
    expect(counted.toSorted()).to.deep.equal(['control 1', 'control 1', 'control 1', 'fresh 1']);
    const labels = host.lines.filter(({ msg }) => msg === 'request completed').map(({ ab_label }) => String(ab_label));
    expect(labels.toSorted()).to.deep.equal(['control', 'control', 'control', 'fresh']);
    expect([b.seen.length, c.seen.length]).to.deep.equal([1, 0]);
  });

  it('have no label and count no variant under another strategy', async () => {
    const a = await answering();
    const host = await startHost({ strategy: { mode: 'fallback' }, targets: [a.target('a')] });
    await host.post(PATH, ask());
    expect(host.samples.map(({ name }) => name)).to.not.include('gateway_ab_requests_total');
    expect(host.lines.find(({ msg }) => msg === 'request completed')).to.not.have.property('ab_label');
  });

  it('route by metadata, by the model after aliases, and stop at the failure of the target they name', async () => {
    const [a, b] = [await answering(), await failing()];
    const conditions = [
      { key: 'metadata', field: 'team', value: 'research', target_key: 'b' },
      { key: 'model_prefix', value: 'big', target_key: 'b' },
    ];
    const models = ['m', 'big-one'];
    const host = await startHost({
      strategy: { mode: 'conditional', conditions },
      aliases: { fast: 'big-one' },
      targets: [a.target('a', { models }), b.target('b', { models })],
    });
    expect(served(await host.post(PATH, ask()))).to.equal('a');
    expect(served(await host.post(PATH, ask(), { 'x-gateway-metadata': '{"team":"research"}' }))).to.equal('b');
    const answer = await host.post(PATH, { ...ask(), model: 'fast' });
    expect([answer.status, served(answer), answer.headers.get('x-gateway-attempts')]).to.deep.equal([502, 'b', '1']);
  });

  it('route by what the user wrote, whole or streamed', async () => {
    const a = await answering();
    const b = await stubUpstream((request, response) =>
      request.json()['stream'] === true
        ? replyStream(response, ['fine'])
        : replyJson(response, 200, chatReply('hello')),
    );
    const content_conditions = [{ type: 'prompt_regex', value: '(?i)translate', target_key: 'b' }];
    const host = await startHost({
      strategy: { mode: 'content-based', content_conditions },
      targets: [a.target('a'), b.target('b')],
    });
    expect(served(await host.post(PATH, ask('please Translate')))).to.equal('b');
    expect(served(await host.post(PATH, ask('please Translate', { stream: true })))).to.equal('b');
    expect(
      served(
        await host.post(
          PATH,
          ask([
            { type: 'text', text: 'please' },
            { type: 'text', text: 'TRANSLATE' },
          ] as never),
        ),
      ),
    ).to.equal('b');
    expect(
      served(
        await host.post(PATH, {
          model: 'm',
          messages: [
            { role: 'system', content: 'translate' },
            { role: 'user', content: 'hi' },
          ],
        }),
      ),
    ).to.equal('a');
    expect(served(await host.post('/v1/completions', { model: 'm', prompt: 'translate' }))).to.equal('b');
  });

  it('pass over a target that cannot do the surface, although a rule names it', async () => {
    const [a, b] = [
      await answering(),
      await stubUpstream((_request, response) =>
        replyJson(response, 200, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] }),
      ),
    ];
    const conditions = [{ key: 'model', value: 'm', target_key: 'a' }];
    const host = await startHost({
      strategy: { mode: 'conditional', conditions },
      targets: [a.target('a'), b.target('b', {}, { translators: commonTranslators(['chat', 'embeddings'], {}) })],
    });
    expect(served(await host.post('/v1/embeddings', { model: 'm', input: 'hi' }))).to.equal('b');
    expect(served(await host.post(PATH, ask()))).to.equal('a');
  });

  it('try the cheapest first and leave out what has no price under skip', async () => {
    const folder = await temporaryFolder();
    const entry = (input: number): object => ({
      mode: 'chat',
      pricing: { input_per_m_tokens: input, output_per_m_tokens: input },
    });
    await writeFile(
      join(folder, 'prices.json'),
      JSON.stringify({ 'a/m': entry(3), 'b/m': entry(1), 'c/upstream-m': entry(2) }),
    );
    const variables = { GW_MODEL_CATALOG_OVERLAY: join(folder, 'prices.json') };
    const [a, b, c, d] = [await answering(), await failing(), await answering(), await answering()];
    const targets = [
      d.target('d', { models: ['m', 'dear'] }),
      a.target('a'),
      b.target('b'),
      c.target('c', { models: [], model_map: { m: 'upstream-m' } }),
    ];
    const host = await startHost(
      { strategy: { mode: 'cost-optimized', unpriced_strategy: 'skip' }, targets },
      { variables },
    );
    const answer = await host.post(PATH, ask());
    expect([served(answer), answer.headers.get('x-gateway-attempts')]).to.deep.equal(['c', '2']);
    const refused = await host.post(PATH, { ...ask(), model: 'dear' });
    expect([refused.status, refused.json().error.code, refused.json().error.message]).to.deep.equal([
      404,
      'model_not_found',
      'no priced provider supports model dear',
    ]);
    expect(await listed(host)).to.deep.equal({ m: 'a', 'upstream-m': 'c' });
    await host.apply({ strategy: { mode: 'cost-optimized' }, targets });
    expect(Object.keys(await listed(host))).to.include.members(['m', 'dear']);
    expect(d.seen).to.have.length(0);
  });
});

describe('GET /v1/models under each strategy', () => {
  const blocks: Readonly<Record<string, object>> = {
    single: {},
    fallback: {},
    loadbalance: {},
    'least-latency': {},
    'cost-optimized': {},
    conditional: {
      conditions: [
        { key: 'model', value: 'y', target_key: 'b' },
        { key: 'metadata', field: 'a', value: 'b', target_key: 'b' },
      ],
    },
    'content-based': { content_conditions: [{ type: 'prompt_not_contains', value: 'never written', target_key: 'b' }] },
    'ab-test': {
      ab_variants: [
        { target_key: 'b', weight: 1 },
        { target_key: 'c', weight: 0 },
      ],
    },
  };
  const owners: Readonly<Record<string, object>> = {
    single: { x: 'a', shared: 'a' },
    fallback: { x: 'a', y: 'b', z: 'c', shared: 'a' },
    loadbalance: { y: 'b', shared: 'b', z: 'c' },
    'least-latency': { x: 'a', y: 'b', z: 'c', shared: 'a' },
    'cost-optimized': { x: 'a', y: 'b', z: 'c', shared: 'a' },
    conditional: { x: 'a', y: 'b', shared: 'a' },
    'content-based': { x: 'a', shared: 'a' },
    'ab-test': { y: 'b', shared: 'b' },
  };
  for (const [mode, block] of Object.entries(blocks)) {
    it(`lists under ${mode} what a request with the model alone reaches, by its first owner`, async () => {
      const upstream = await answering();
      const host = await startHost({
        strategy: { mode, ...block },
        targets: [
          upstream.target('a', { models: ['x', 'shared'], weight: 0 }),
          upstream.target('b', { models: ['y', 'shared'], weight: 1 }),
          upstream.target('c', { models: ['z'], weight: 2 }),
        ],
      });
      const models = await listed(host);
      expect(models).to.deep.equal(owners[mode]);
      if (mode === 'content-based') return; // what is listed is what a request without messages would get
      for (const model of ['x', 'y', 'z', 'shared']) {
        const { status } = await host.post(PATH, { ...ask(), model });
        expect(status === 200, model).to.equal(model in models);
      }
    });
  }
});

describe('a strategy of a third party', () => {
  it('has settings of its own, decides the order, and says whether failures go on', async () => {
    const chosen = defineStrategy<{ order: string[] }>({
      name: 'chosen',
      summary: 'For this test',
      advances: true,
      settings: Joi.object<{ order: string[] }, true>({ order: Joi.array().items(Joi.string()).required() }),
      create:
        ({ order }, { random }) =>
        (targets) => {
          expect(random()).to.be.within(0, 1);
          return order.flatMap((name) => targets.filter(({ virtualKey }) => virtualKey === name));
        },
    });
    const [a, b, c] = [await answering(), await failing(), await answering()];
    const host = await startHost(
      {
        strategy: { mode: 'chosen', settings: { order: ['b', 'c', 'b'] } },
        targets: [a.target('a'), b.target('b'), c.target('c')],
      },
      { modules: [chosen], random: draws(0.5) },
    );
    const answer = await host.post(PATH, ask());
    expect([served(answer), answer.headers.get('x-gateway-attempts'), a.seen.length, b.seen.length]).to.deep.equal([
      'c',
      '2',
      0,
      1,
    ]);
  });

  it('that ranks with two arguments is as good as one that takes notes', async () => {
    const plain = defineStrategy({
      name: 'plain',
      summary: 'For this test',
      settings: Joi.object({}),
      create: () => (targets) => targets.toReversed(),
    });
    const [a, b] = [await answering(), await answering()];
    const host = await startHost(
      { strategy: { mode: 'plain' }, targets: [a.target('a'), b.target('b')] },
      { modules: [plain] },
    );
    expect(served(await host.post(PATH, ask()))).to.equal('b');
  });
});
