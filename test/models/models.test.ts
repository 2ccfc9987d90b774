import { defineStrategy } from 'gw/contract';
import { expect } from 'chai';
import Joi from 'joi';
import { replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';

const ids = async (host: TestHost): Promise<string[]> =>
  (await host.get('/v1/models')).json().data.map(({ id }: { id: string }) => id);
const silent = (): Promise<StubUpstream> => stubUpstream((_request, response) => replyJson(response, 200, {}));

describe('GET /v1/models', () => {
  it('lists every model once, owned by the first target that serves it', async () => {
    const upstream = await silent();
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [
        upstream.target('a', { models: ['x', 'shared'], model_map: { mapped: 'upstream-name' } }),
        upstream.target('b', { models: ['shared', 'y'] }),
      ],
    });
    const answer = await host.get('/v1/models');
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([200, 'application/json']);
    expect(answer.json()).to.deep.equal({
      object: 'list',
      data: [
        ...['x', 'shared', 'mapped'].map((id) => ({ id, object: 'model', owned_by: 'a', created: 0 })),
        { id: 'y', object: 'model', owned_by: 'b', created: 0 },
      ],
    });
    expect(
      await (
        await fetch(`${host.url}/v1/models`, {
          method: 'HEAD',
          headers: { authorization: 'Bearer gw_0123456789abcdef0123456789abcdef' },
        })
      ).text(),
    ).to.equal('');
  });

  it('is one list to the letter, however long, and so is that of providers', async () => {
    const upstream = await silent();
    const named = (target: string): string[] => Array.from({ length: 600 }, (_, at) => `${target}-${at}`);
    const host = await startHost({
      strategy: { mode: 'fallback' },
      aliases: { short: 'a-599', long: 'b-1' },
      targets: [upstream.target('a', { models: named('a') }), upstream.target('b', { models: named('b') })],
    });
    const answer = await host.get('/v1/models');
    expect(answer.text).to.equal(JSON.stringify(answer.json()));
    expect(answer.json().data.map(({ id }: { id: string }) => id)).to.deep.equal([...named('a'), ...named('b')]);
    const providers = await host.get('/admin/providers');
    expect(providers.text).to.equal(JSON.stringify(providers.json()));
    expect(
      (providers.json() as { name: string; models: object[] }[])
        .filter(({ name }) => name === 'a' || name === 'b')
        .map(({ models }) => models.length),
    ).to.deep.equal([600, 600]);
    const head = await host.request('HEAD', '/v1/models');
    expect([head.status, head.text, head.headers.get('content-type')]).to.deep.equal([200, '', 'application/json']);
    const key = await host.post('/admin/keys', {
      name: 'k',
      models: ['a-3', 'short', 'b-7', 'none'],
      providers: ['a'],
    });
    const own = await host.get('/v1/models', { authorization: `Bearer ${key.json().key}` });
    expect(own.json().data.map(({ id }: { id: string }) => id)).to.deep.equal(['a-3', 'a-599']);
    expect((await host.get('/v1/models/short', { 'anthropic-version': '2023-06-01' })).json().id).to.equal('short');
  });

  it('leaves out what only later targets of a single strategy serve', async () => {
    const upstream = await silent();
    const host = await startHost({
      strategy: { mode: 'single' },
      targets: [upstream.target('a', { models: ['x'] }), upstream.target('b', { models: ['x', 'y'] })],
    });
    expect(await ids(host)).to.deep.equal(['x']);
  });

  it('lists no alias and nothing of a target without a provider', async () => {
    const upstream = await silent();
    const host = await startHost({
      strategy: { mode: 'fallback' },
      aliases: { short: 'x' },
      targets: [{ virtual_key: 'openai', models: ['declared'] }, upstream.target('a', { models: ['x'] })],
    });
    expect(await ids(host)).to.deep.equal(['x']);
  });

  it('asks a strategy about a request that holds nothing but the model', async () => {
    const asked: object[] = [];
    const curious = defineStrategy({
      name: 'curious',
      summary: 'Notes what it is asked',
      settings: Joi.object({}),
      create: () => (targets, query) => {
        asked.push({
          ...query,
          texts: [...query.userTexts()],
          characters: query.promptCharacters(),
          upstreamModel: query.upstreamModel('a'),
        });
        return targets;
      },
    });
    const upstream = await silent();
    const host = await startHost(
      { strategy: { mode: 'curious' }, targets: [upstream.target('a', { model_map: { m: 'upstream-name' } })] },
      { modules: [curious] },
    );
    expect(await ids(host)).to.deep.equal(['m']);
    expect(asked).to.have.lengthOf(1);
    expect(asked[0]).to.deep.include({
      isListing: true,
      surface: 'chat',
      model: 'm',
      metadata: {},
      texts: [],
      characters: 0,
      maxTokens: undefined,
      images: 1,
      upstreamModel: 'upstream-name',
    });
  });

  it('answers one entry by its id, also with slashes', async () => {
    const upstream = await silent();
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [upstream.target('a', { models: ['org/name:1', 'm'] })],
    });
    for (const path of ['/v1/models/org/name:1', '/v1/models/org%2Fname%3A1']) {
      expect((await host.get(path)).json()).to.deep.equal({
        id: 'org/name:1',
        object: 'model',
        owned_by: 'a',
        created: 0,
      });
    }
    const absent = await host.get('/v1/models/nothing');
    expect([absent.status, absent.json().error.code]).to.deep.equal([404, 'model_not_found']);
  });

  it('needs a credential, and is only read', async () => {
    const upstream = await silent();
    const host = await startHost({ strategy: { mode: 'fallback' }, targets: [upstream.target('a')] });
    expect((await fetch(`${host.url}/v1/models`)).status).to.equal(401);
    const answer = await host.post('/v1/models', {});
    expect([answer.status, answer.headers.get('allow'), answer.json().error.code]).to.deep.equal([
      405,
      'GET, HEAD',
      'method_not_supported',
    ]);
  });

  it('lists exactly what routes', async () => {
    const upstream = await stubUpstream((_request, response) =>
      replyJson(response, 200, { choices: [{ message: { content: 'x' } }] }),
    );
    for (const mode of ['single', 'fallback']) {
      const host = await startHost({
        strategy: { mode },
        targets: [upstream.target('a', { models: ['x'] }), upstream.target('b', { models: ['y'] })],
      });
      const listed = await ids(host);
      for (const model of ['x', 'y']) {
        const { status } = await host.post('/v1/chat/completions', {
          model,
          messages: [{ role: 'user', content: 'hi' }],
        });
        expect(status === 200, `${mode} ${model}`).to.equal(listed.includes(model));
      }
    }
  });
});

describe('GET /v1/capabilities', () => {
  it('tells the treatment of every chat parameter, of the providers that own listed models', async () => {
    const upstream = await silent();
    const host = await startHost({
      strategy: { mode: 'single' },
      targets: [
        upstream.target(
          'a',
          {},
          { params: { seed: { rename: 'random_seed' }, n: 'unsupported', tools: 'translate' }, imageFormats: ['url'] },
        ),
        upstream.target('b', { models: ['y'] }),
      ],
    });
    const { providers, image_response_formats } = (await host.get('/v1/capabilities')).json();
    expect(Object.keys(providers)).to.deep.equal(['a']);
    expect(Object.keys(providers.a)).to.have.length(17);
    expect(providers.a)
      .to.include({ seed: 'forward', n: 'unsupported', tools: 'translate', temperature: 'forward' })
      .and.not.have.any.keys('stream', 'stream_options', 'model', 'messages');
    expect(image_response_formats).to.deep.equal({ a: ['url'] });
  });

  it('always holds the image formats', async () => {
    const upstream = await silent();
    const host = await startHost({ strategy: { mode: 'fallback' }, targets: [upstream.target('a')] });
    expect((await host.get('/v1/capabilities')).json().image_response_formats).to.deep.equal({});
  });
});
