import { expect } from 'chai';
import { type Answer, chatReply, replyJson, stubUpstream } from '../kit/index.ts';
import { route, served, withPair } from './pair.ts';
import { CLAUDE, OPENAI_MODEL, withVendors } from './vendors.ts';

const RESPONSES = '/v1/responses';
const JOBS = '/v1/fine_tuning/jobs';

describe('other requests that are passed through in a group', () => {
  const models = [
    { name: 'same', routes: [route('a', 'other'), route('b', 'same')] },
    { name: 'else', routes: [route('a', 'x'), route('b', 'y')] },
    { name: 'keep/*', routes: [route('b')] },
    { name: 'cut/*', routes: [route('b', '*')] },
  ];

  it('go to the first route that calls the model by the name in the body, and stay as they are', async () => {
    const { host, sent } = await withPair({ models });
    const bodies = ['same', 'keep/x'].map((model) => `{ "a": 1.0, "model" : "${model}" }`);
    for (const body of bodies) expect(served(await host.post(JOBS, body))).to.deep.equal([200, 'b']);
    expect(sent()).to.deep.equal({ a: [], b: bodies });
  });

  it('are 501 where every route has another name, by an alias too', async () => {
    const { host, sent } = await withPair({ models, aliases: { nick: 'same' } });
    for (const model of ['else', 'cut/x', 'nick']) {
      const answer = await host.post(JOBS, { model });
      expect([answer.status, answer.json().error.code]).to.deep.equal([501, 'proxy_not_supported']);
      expect(answer.json().error.message).to.contain('the model is served under another name there');
    }
    expect(sent()).to.deep.equal({ a: [], b: [] });
  });

  it('with X-Provider go to the routes of that target alone', async () => {
    const { host, sent } = await withPair({ models });
    const to = (provider: string, model: string): Promise<Answer> =>
      host.post(JOBS, { model }, { 'x-provider': provider });
    expect(served(await to('b', 'same'))).to.deep.equal([200, 'b']);
    expect((await to('a', 'same')).status).to.equal(501);
    expect(served(await to('a', 'keep/x')), 'the group has no route to it').to.deep.equal([200, 'a']);
    expect(served(await to('a', 'no-group'))).to.deep.equal([200, 'a']);
    expect(sent().a).to.have.length(2);
  });

  it('read a form too', async () => {
    const { host, b } = await withPair({ models });
    const form = (model: string): string =>
      `--e\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--e--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=e' };
    expect(served(await host.post('/v1/videos', form('same'), headers))).to.deep.equal([200, 'b']);
    expect((await host.post('/v1/videos', form('else'), headers)).status).to.equal(501);
    expect((await host.post('/v1/videos', form('same'), { ...headers, 'x-provider': 'a' })).status).to.equal(501);
    expect(b.seen.map(({ text }) => text)).to.deep.equal([form('same')]);
  });

  it('are not found where a key may use no target of the group, and go where it may', async () => {
    const { host } = await withPair({
      models: [
        { name: 'both', routes: [route('a', 'both'), route('b', 'both')] },
        { name: 'only-a', routes: [route('a', 'only-a')] },
      ],
    });
    const made = await host.post('/admin/keys', { name: 'k', scopes: [], providers: ['b'] });
    const key = { authorization: `Bearer ${made.json().key}` };
    for (const path of [JOBS, RESPONSES]) {
      expect(served(await host.post(path, { model: 'both', store: false }, key))).to.deep.equal([200, 'b']);
      expect((await host.post(path, { model: 'only-a', store: false }, key)).status).to.equal(404);
      expect((await host.post(path, { model: 'only-a' }, key)).status).to.equal(404);
    }
  });

  it('hold a key to its list by the name of the group', async () => {
    const { host } = await withPair({ models, aliases: { nick: 'keep/x' } });
    const made = await host.post('/admin/keys', { name: 'k', scopes: [], models: ['same', 'nick'] });
    const key = { authorization: `Bearer ${made.json().key}` };
    expect((await host.post(JOBS, { model: 'same' }, key)).status).to.equal(200);
    expect((await host.post(JOBS, { model: 'else' }, key)).status).to.equal(404);
    expect((await host.post(RESPONSES, { model: 'nick', store: false }, key)).status).to.equal(200);
    expect((await host.post(RESPONSES, { model: 'keep/y', store: false }, key)).status).to.equal(404);
  });
});

describe('batches', () => {
  it('go to batch_target, and no group is looked up for them', async () => {
    const { host, takeSeen } = await withVendors({
      batch_target: 'openai',
      models: [{ name: OPENAI_MODEL, routes: [route('anthropic', CLAUDE)] }],
    });
    expect(served(await host.post('/v1/batches', { model: OPENAI_MODEL, input_file_id: 'file-1' }))).to.deep.equal([
      200,
      'openai',
    ]);
    expect(takeSeen().map(({ url }) => url)).to.deep.equal(['/v1/batches']);
  });
});

describe('the label model', () => {
  it('is bounded under names that clients invent, and knows exact groups and what targets tell of', async () => {
    const { host } = await withPair({
      models: [
        { name: 'exact', listed: false, routes: [route('a', 'x')] },
        { name: 'oss/*', listed: false, routes: [route('a', 'm*'), route('b')] },
        { name: 'any/*', routes: [route('b', '*')] },
      ],
      targets: [
        (await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')))).target('a', {
          models: ['mini'],
        }),
        (await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')))).target('b', {
          models: ['big'],
        }),
      ],
    });
    const ask = (model: string): Promise<Answer> =>
      host.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] });
    for (const model of ['exact', 'oss/ini', 'any/big', 'mini']) await ask(model);
    for (let at = 0; at < 50; at += 1) await ask(`${at % 2 ? 'oss' : 'any'}/invented-${at}`);
    const labels = new Set(
      host.samples.filter(({ name }) => name === 'gateway_requests_total').map(({ labels: { model } }) => model),
    );
    expect([...labels]).to.deep.equal(['exact', 'oss/ini', 'any/big', 'mini', 'unknown']);
  });
});
