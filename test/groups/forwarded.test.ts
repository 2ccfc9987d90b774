import { expect } from 'chai';
import { eventually, replyJson, startHost, stubUpstream } from '../kit/index.ts';
import { FORWARDS, route, served, withPair } from './pair.ts';
import { OPENAI_MODEL, vendorAnswer, withVendors } from './vendors.ts';

const RESPONSES = '/v1/responses';

describe('POST /v1/responses in a group', () => {
  /** With what a parser would lose. */
  const body = (model: string, more = '"store": false'): string =>
    `{ "z":1.0,  "input": "Grüße \\u00e9 12345678901234567890",\n "model" : ${JSON.stringify(model)}, ${more} }`;

  it('goes to the first ranked route, once, and differs by its model alone', async () => {
    const { host, sent } = await withPair({
      models: [{ name: 'smart', routes: [route('b', 'big/Ä'), route('a', 'x')] }],
    });
    const answer = await host.post(RESPONSES, body('smart'));
    expect(served(answer)).to.deep.equal([200, 'b']);
    expect(answer.json().model, 'what the vendor wrote').to.equal('gpt-vendor');
    expect(sent()).to.deep.equal({ a: [], b: [body('smart').replace('"smart"', '"big/Ä"')] });
  });

  it('puts in what stands for the star of the name, and is found by an alias', async () => {
    const { host, sent } = await withPair({
      models: [{ name: 'oss/*', routes: [route('a', 'qwen/*')] }],
      aliases: { short: 'oss/one' },
    });
    for (const model of ['oss/two', 'short']) expect((await host.post(RESPONSES, body(model))).status).to.equal(200);
    expect(sent().a).to.deep.equal([body('qwen/two'), body('qwen/one')]);
  });

  it('is not tried anywhere else', async () => {
    const down = await stubUpstream((_request, response) => replyJson(response, 503, { error: { message: 'down' } }));
    const up = await stubUpstream(vendorAnswer);
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [down.target('a', {}, FORWARDS), up.target('b', {}, FORWARDS)],
      models: [{ name: 'smart', routes: [route('a', 'x'), route('b', 'y')], fallbacks: ['m'] }],
    });
    expect((await host.post(RESPONSES, body('smart'))).status).to.equal(503);
    expect([down.seen.length, up.seen.length]).to.deep.equal([1, 0]);
  });

  it('passes over routes whose kind has no such API, and goes to what a fallback names where none has', async () => {
    const models = [
      { name: 'mixed', routes: [route('a', 'x'), route('b', 'y')] },
      { name: 'chats', routes: [route('a', 'x')], fallbacks: ['mixed'] },
      { name: 'alone', routes: [route('a', 'x')] },
    ];
    const { host, sent } = await withPair({ models }, { a: { responses: false } });
    expect(served(await host.post(RESPONSES, body('mixed')))).to.deep.equal([200, 'b']);
    expect(served(await host.post(RESPONSES, body('chats')))).to.deep.equal([200, 'b']);
    const refused = await host.post(RESPONSES, body('alone'));
    expect([refused.status, refused.json().error.code]).to.deep.equal([501, 'proxy_not_supported']);
    expect(sent()).to.deep.equal({ a: [], b: [body('y'), body('y')] });
  });

  it('is drawn by the weights of the strategy, unless it is stored', async () => {
    const { host, sent } = await withPair({
      models: [
        {
          name: 'smart',
          routes: [route('a', 'x', { weight: 1 }), route('b', 'y', { weight: 1 })],
          strategy: { mode: 'loadbalance' },
        },
      ],
    });
    for (let at = 0; at < 40; at += 1) await host.post(RESPONSES, body('smart'));
    expect(sent().a.length).to.be.within(5, 35);
    const before = sent().b.length;
    const stored = [
      '"x": 1',
      '"store": true',
      '"store": false, "previous_response_id": "resp_1"',
      '"store": false, "conversation": "conv_1"',
      '"store": false, "background": true',
    ];
    for (const more of stored) {
      for (let at = 0; at < 4; at += 1) await host.post(RESPONSES, body('smart', more));
    }
    const reference = '{"model":"smart","store":false,"input":[{"type":"item_reference","id":"msg_1"}]}';
    for (let at = 0; at < 4; at += 1) await host.post(RESPONSES, reference);
    expect(sent().b.length, 'the first in the file').to.equal(before);
  });

  it('is translated where the first ranked route has another API, and else not, by the weights', async () => {
    const { host, a, b } = await withPair(
      {
        responses: { translate: 'auto' },
        models: [
          {
            name: 'smart',
            routes: [route('a', 'x', { weight: 3 }), route('b', 'y', { weight: 1 })],
            strategy: { mode: 'loadbalance' },
          },
          { name: 'native-first', routes: [route('b', 'y'), route('a', 'x')] },
          { name: 'chat-first', routes: [route('a', 'x'), route('b', 'y')] },
        ],
      },
      { a: { responses: false }, b: { responses: 'native' } },
    );
    expect(served(await host.post(RESPONSES, body('native-first')))).to.deep.equal([200, 'b']);
    expect(served(await host.post(RESPONSES, body('chat-first')))).to.deep.equal([200, 'a']);
    expect([a.seen.at(-1)?.url, b.seen.at(-1)?.url]).to.deep.equal(['/chat/completions', '/responses']);
    const counts = (): readonly number[] => [a.seen.length, b.seen.length];
    const [, before = 0] = counts();
    for (let at = 0; at < 200; at += 1) await host.post(RESPONSES, body('smart'));
    const [, after = 0] = counts();
    expect(after - before, 'about a quarter').to.be.within(25, 80);
    expect(b.seen.every(({ url }) => url === '/responses')).to.equal(true);
    expect(a.seen.every(({ url }) => url === '/chat/completions')).to.equal(true);
  });

  it('is counted for the variant that it was drawn for, be it translated or sent on', async () => {
    const { host } = await withPair(
      {
        responses: { translate: 'auto' },
        models: [
          {
            name: 'smart',
            routes: [route('a', 'x'), route('b', 'y')],
            strategy: {
              mode: 'ab-test',
              ab_variants: [
                { target_key: 'a', weight: 1, label: 'of-a' },
                { target_key: 'b', weight: 1, label: 'of-b' },
              ],
            },
          },
        ],
      },
      { a: { responses: false }, b: { responses: 'native' } },
    );
    const variants = (): unknown[] =>
      host.samples.flatMap(({ name, labels }) => (name === 'gateway_ab_requests_total' ? [labels['variant']] : []));
    const answered: string[] = [];
    for (let at = 0; at < 30; at += 1) {
      const answer = await host.post(RESPONSES, body('smart'));
      answered.push(`of-${answer.headers.get('x-gateway-provider')}`);
      await eventually(() => variants().length === answered.length);
    }
    expect(variants()).to.deep.equal(answered);
    expect(new Set(answered)).to.have.property('size', 2);
  });

  it('keeps a session at one route, be it translated there or sent on', async () => {
    const { host } = await withPair(
      {
        responses: { translate: 'auto' },
        models: [
          {
            name: 'smart',
            routes: [route('a', 'x', { weight: 1 }), route('b', 'y', { weight: 1 })],
            strategy: { mode: 'loadbalance', affinity: 'session' },
          },
        ],
      },
      { a: { responses: false }, b: { responses: 'native' } },
    );
    const homes = new Set<unknown>();
    for (let session = 0; session < 12; session += 1) {
      const targets = new Set<unknown>();
      for (let turn = 0; turn < 4; turn += 1) {
        const answer = await host.post(RESPONSES, body('smart'), { 'x-gateway-session': `s-${session}` });
        expect(answer.status, answer.text).to.equal(200);
        targets.add(answer.headers.get('x-gateway-provider'));
      }
      expect([...targets], `session ${session}`).to.have.length(1);
      homes.add([...targets][0]);
    }
    expect([...homes]).to.have.members(['a', 'b']);
  });

  it('stays with the route of its group where responses_target is another target, which has what is asked for by id', async () => {
    const { host, a, b } = await withPair({
      responses_target: 'a',
      models: [{ name: 'smart', routes: [route('b', 'y')] }],
    });
    await host.post(RESPONSES, body('smart', '"store": true'));
    await host.get(`${RESPONSES}/resp_1`);
    expect([a.seen.map(({ url }) => url), b.seen.map(({ url }) => url)]).to.deep.equal([
      ['/responses/resp_1'],
      ['/responses'],
    ]);
  });

  it('with X-Provider goes to the routes of that target in their order, or to the target where the group has none', async () => {
    const { host, sent } = await withPair({
      models: [
        { name: 'smart', routes: [route('a', 'x'), route('b', 'y'), route('b', 'z')] },
        { name: 'only-a', routes: [route('a', 'x')] },
      ],
    });
    for (const model of ['smart', 'only-a']) {
      const answer = await host.post(RESPONSES, body(model), { 'x-provider': 'b' });
      expect(served(answer)).to.deep.equal([200, 'b']);
    }
    expect(sent()).to.deep.equal({ a: [], b: [body('y'), body('only-a')] });
  });

  it('of a key that pays goes to the first route with a price where others are refused, as a chat does', async () => {
    const { host, takeSeen } = await withVendors({
      money: { unpriced: 'refuse' },
      models: [
        { name: 'paid', routes: [route('openai', 'nameless-1'), route('openai', OPENAI_MODEL)] },
        { name: 'unpaid', routes: [route('openai', 'nameless-1')] },
      ],
    });
    const made = await host.post('/admin/keys', { name: 'k', scopes: [], budget_usd: 5 });
    const key = { authorization: `Bearer ${made.json().key}` };
    expect((await host.post(RESPONSES, body('paid'), key)).status).to.equal(200);
    const chat = { messages: [{ role: 'user', content: 'hi' }] };
    expect((await host.post('/v1/chat/completions', { model: 'paid', ...chat }, key)).status).to.equal(200);
    for (const { text } of takeSeen()) expect(text).to.contain(OPENAI_MODEL);
    const refused = [
      await host.post(RESPONSES, body('unpaid'), key),
      await host.post('/v1/chat/completions', { model: 'unpaid', ...chat }, key),
    ].map((answer) => [answer.status, answer.json().error.code]);
    expect(refused[0]).to.deep.equal(refused[1]);
    expect(takeSeen()).to.deep.equal([]);
    expect((await host.post(RESPONSES, body('unpaid'))).status, 'without a budget').to.equal(200);
  });

  it('counts its tokens, and is compacted, by the same routes', async () => {
    const { host, b } = await withPair({ models: [{ name: 'smart', routes: [route('b', 'y')] }] });
    expect((await host.post(`${RESPONSES}/input_tokens`, body('smart'))).json()).to.include({ input_tokens: 43 });
    await host.post(`${RESPONSES}/compact`, body('smart'));
    expect(b.seen.map(({ text }) => text)).to.deep.equal([body('y'), body('y')]);
  });
});
