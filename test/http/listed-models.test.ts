import { expect } from 'chai';
import { commonTranslators } from 'gw/common-wire';
import {
  chatReply,
  forSuite,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { routedPaths } from './spellings/spellings.ts';

/** A body that every route of JSON takes. */
const BODY = {
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  contents: [{ parts: [{ text: 'hi' }] }],
  content: { parts: [{ text: 'hi' }] },
  requests: [{ model: 'models/m', content: { parts: [{ text: 'hi' }] } }],
  input: 'hi',
  prompt: 'hi',
  query: 'hi',
  documents: ['a'],
  voice: 'alloy',
  max_tokens: 9,
  stream: false,
};
const REPLY = {
  ...chatReply('hello'),
  data: [{ index: 0, embedding: [0.5], url: 'https://x.example/y' }],
  results: [{ index: 0, relevance_score: 1, flagged: false, categories: {}, category_scores: {} }],
};

/** What stands beside the model that is asked for. */
const NAMED: Readonly<Record<string, object>> = {
  'in capitals': { Model: 'o1-pro' },
  'in all capitals': { MODEL: 'o1-pro' },
  'as fallbacks': { models: ['m', 'o1-pro'] },
  'as a fallback in capitals': { Models: 'o1-pro' },
  'of a tool': { tools: [{ type: 'function', function: { name: 'f' }, name: 'f', model: 'o1-pro', input_schema: {} }] },
  'at a depth': { extra_body: { session: { model: 'o1-pro' } } },
  'of a proxy': { fallbacks: [{ model: 'o1-pro' }] },
};

const lowerCase = (named: object): object =>
  Object.fromEntries(Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]));

interface Scene {
  readonly t: TestHost;
  readonly upstream: StubUpstream;
  readonly headers: Record<string, string>;
  readonly routes: readonly string[];
}

async function start(): Promise<Scene> {
  const upstream = await stubUpstream((_request, response) => replyJson(response, 200, REPLY));
  const surfaces = ['chat', 'embeddings', 'images', 'rerank', 'moderations', 'audio.speech'] as const;
  const t = await startHost({
    aliases: { quick: 'm' },
    targets: [
      upstream.target(
        'a',
        { models: ['m', 'o1-pro'] },
        { passthrough: true, responses: 'native', translators: commonTranslators(surfaces, {}) },
      ),
    ],
  });
  const { key } = await t.host.stores.keys.create({
    name: 'limited',
    scopes: ['read_only'],
    limits: { models: ['m'] },
  });
  const routes = routedPaths(t.host).filter(
    (path) => !/\/audio\/trans|capabilities|models(?:\/m)?$|streamGenerate/.test(path),
  );
  return { t, upstream, routes, headers: { authorization: `Bearer ${key}` } };
}

describe('the list of models of a key', () => {
  const scene = forSuite(start);

  it('holds for every route that takes JSON', () => {
    expect(scene().routes).to.include.members([
      '/v1/chat/completions',
      '/v1/completions',
      '/v1/messages',
      '/v1/messages/count_tokens',
      '/v1/embeddings',
      '/v1/images/generations',
      '/v1/audio/speech',
      '/v1/rerank',
      '/v1/moderations',
      '/v1/responses',
      '/v1beta/models/m:generateContent',
      '/v1/models/m:batchEmbedContents',
    ]);
  });

  for (const [what, named] of Object.entries(NAMED)) {
    it(`holds for every model that a body names: ${what}`, async () => {
      const { t, upstream, routes, headers } = scene();
      for (const path of routes) {
        upstream.seen.length = 0;
        const refused = await t.post(path, { ...BODY, ...named }, headers);
        const expected = path.startsWith('/v1/responses') && 'model' in lowerCase(named) ? 400 : 404; // there `Model` is misspelt for everybody
        expect([refused.status, upstream.seen.length], `${path} ${refused.text}`).to.deep.equal([expected, 0]);
        if (expected === 404) expect(refused.text, path).to.include('o1-pro');
      }
    });
  }

  it('lets through what names nothing else', async () => {
    const { t, upstream, routes, headers } = scene();
    const schema = { type: 'object', properties: { model: { const: 'x' } } };
    for (const path of routes) {
      upstream.seen.length = 0;
      const tool = path.includes('messages')
        ? { name: 'f', input_schema: schema }
        : { type: 'function', function: { name: 'f', parameters: schema } };
      const answer = await t.post(
        path,
        {
          ...BODY,
          ...(/chat|messages|responses/.test(path) && { tools: [tool], metadata: { user_id: 'u', model: 'a car' } }),
        },
        headers,
      );
      expect(upstream.seen.length > 0 || answer.status === 200, `${path} ${answer.text}`).to.equal(true);
    }
    expect((await t.post('/v1/chat/completions', { ...BODY, model: 'quick', models: ['m'] }, headers)).status).to.equal(
      200,
    );
    expect(
      (await t.post('/v1/chat/completions', { ...BODY, model: 'quick', models: ['quick'] }, headers)).status,
    ).to.equal(404);
  });

  it('is none for a key without one', async () => {
    const { t } = scene();
    for (const named of Object.values(NAMED))
      expect((await t.post('/v1/chat/completions', { ...BODY, ...named })).status).to.equal(200);
  });

  it('holds for a name that stands there twice, of which others may read the first', async () => {
    const upstream = await stubUpstream((_request, response) =>
      replyJson(response, 200, {
        id: 'x',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-6',
        content: [{ type: 'text', text: 'hi' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    );
    const t = await startHost(
      { targets: [{ virtual_key: 'anthropic' }] },
      { variables: { ANTHROPIC_API_KEY: 'vendor-key-0123456789', ANTHROPIC_BASE_URL: upstream.url } },
    );
    const { key } = await t.host.stores.keys.create({
      name: 'limited',
      scopes: ['read_only'],
      limits: { models: ['claude-sonnet-4-6'] },
    });
    const body =
      '{"model":"claude-sonnet-4-6","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"advisor_20260301","name":"advisor","model":"claude-opus-4-6","model":"claude-sonnet-4-6"}]}';
    const answer = await t.request('POST', '/v1/messages', body, { authorization: `Bearer ${key}` });
    expect(answer.status, answer.text).to.equal(200);
    expect(upstream.seen[0]?.text).to.include('advisor').and.not.include('opus');
    expect(
      (
        await t.request('POST', '/v1/messages', body.replace('"model":"claude-sonnet-4-6"}]', '"x":1}]'), {
          authorization: `Bearer ${key}`,
        })
      ).status,
    ).to.equal(404);
  });
});
