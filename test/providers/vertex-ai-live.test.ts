import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import {
  expectStream,
  golden,
  openSse,
  replyJson,
  startHost,
  stubUpstream,
  type StubHandler,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
const ASK = { model: 'gemini-2.5-flash', messages: [{ role: 'user', content: 'hi' }] };
const PLACE = { VERTEX_AI_PROJECT_ID: 'proj-1', VERTEX_AI_REGION: 'us-central1' };
const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });

async function gateway(
  handler: StubHandler,
  more: (upstream: StubUpstream) => Record<string, string>,
): Promise<{ host: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream(handler);
  const variables = { ...PLACE, VERTEX_AI_BASE_URL: upstream.url, ...more(upstream) };
  const targets = [{ virtual_key: 'vertex-ai', models: ['gemini-2.5-flash', 'text-embedding-005'] }];
  return { upstream, host: await startHost({ targets }, { variables }) };
}

const keyed = (): Record<string, string> => ({ VERTEX_AI_API_KEY: 'vertex-key-0123456789' });
const account = ({ url }: StubUpstream): Record<string, string> => ({
  VERTEX_AI_SERVICE_ACCOUNT_JSON: JSON.stringify({
    type: 'service_account',
    client_email: 'gw@example',
    private_key: PEM,
    token_uri: `${url}/token`,
  }),
});

describe('vertex-ai behind a gateway', () => {
  it('answers chat with an API key', async () => {
    const { host, upstream } = await gateway(
      (_request, response) => replyJson(response, 200, JSON.parse(golden('vertex-ai/chat/reply.json'))),
      keyed,
    );
    const answer = await host.post(CHAT, ASK);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json()).to.deep.include({ id: 'RzQaafDPLpuaybgP', model: 'gemini-2.5-flash', provider: 'vertex-ai' });
    expect(answer.json().choices[0]).to.deep.include({
      message: { role: 'assistant', content: 'conformance ok' },
      finish_reason: 'stop',
    });
    expect(answer.json().usage).to.include({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
    const [seen] = upstream.seen;
    expect(seen?.url).to.equal('/v1/projects/proj-1/locations/us-central1/endpoints/openapi/chat/completions');
    expect(seen?.headers)
      .to.include({ 'x-goog-api-key': 'vertex-key-0123456789' })
      .and.not.have.property('authorization');
    expect(seen?.json()['model']).to.equal('google/gemini-2.5-flash');
  });

  it('streams chat with the token of a service account, fetched once', async () => {
    const { host, upstream } = await gateway(({ url }, response) => {
      if (url === '/token') return replyJson(response, 200, { access_token: 'ya29.live', expires_in: 3600 });
      openSse(response);
      response.end(golden('vertex-ai/chat/stream.txt'));
    }, account);
    for (let turn = 0; turn < 2; turn += 1) {
      const events = (await host.post(CHAT, { ...ASK, stream: true })).events();
      expect(events.at(-1)).to.equal('[DONE]');
      expectStream(events.slice(0, -1), 'gemini-2.5-flash', 'stop');
    }
    expect(upstream.seen.map(({ url }) => url.split('/').at(-1))).to.deep.equal([
      'token',
      'completions',
      'completions',
    ]);
    expect(upstream.seen.at(-1)?.headers)
      .to.include({ authorization: 'Bearer ya29.live' })
      .and.not.have.property('x-goog-api-key');
  });

  it('sends nothing when no token can be had, and shows nothing of why', async () => {
    for (const status of [302, 400, 500]) {
      const { host, upstream } = await gateway(
        (_request, response) => replyJson(response, status, { error: 'hush' }, { location: 'http://127.0.0.1:1/evil' }),
        account,
      );
      const answer = await host.post(CHAT, ASK);
      expect(answer.json().error, String(status)).to.include({ code: 'upstream_error' });
      expect(answer.text).to.not.include('hush').and.not.include(upstream.url);
      expect(
        upstream.seen.every(({ url }) => url === '/token'),
        String(status),
      ).to.equal(true);
    }
  });

  it('tells failures by their class', async () => {
    for (const [status, code] of [
      [401, 'upstream_auth_error'],
      [404, 'model_not_found'],
    ] as const) {
      const { host } = await gateway(
        (_request, response) => replyJson(response, status, JSON.parse(golden(`vertex-ai/chat/error-${status}.json`))),
        keyed,
      );
      for (const stream of [false, true])
        expect((await host.post(CHAT, { ...ASK, stream })).json().error).to.include({ code });
    }
  });

  it('answers embeddings beside the endpoint', async () => {
    const { host, upstream } = await gateway(
      (_request, response) => replyJson(response, 200, JSON.parse(golden('vertex-ai/embeddings/reply.json'))),
      keyed,
    );
    const vectors = (
      await host.post('/v1/embeddings', { model: 'text-embedding-005', input: ['a', 'b'], encoding_format: 'float' })
    ).json();
    expect(vectors).to.deep.include({ model: 'text-embedding-005', usage: { prompt_tokens: 11, total_tokens: 11 } });
    expect(upstream.seen[0]?.url).to.equal(
      '/v1/projects/proj-1/locations/us-central1/publishers/google/models/text-embedding-005:predict',
    );
  });

  it('is skipped with a warning when it cannot be set up', async () => {
    for (const variables of [
      { ...PLACE, ...keyed(), VERTEX_AI_REGION: '' },
      { ...PLACE, VERTEX_AI_SERVICE_ACCOUNT_JSON: '{}' },
    ]) {
      const host = await startHost({ targets: [{ virtual_key: 'vertex-ai', models: ['m'] }] }, { variables });
      expect(host.lines.filter(({ provider }) => provider === 'vertex-ai').map(({ msg }) => msg)).to.deep.equal([
        'provider could not be set up, it is skipped',
      ]);
      expect((await host.post(CHAT, { ...ASK, model: 'm' })).status).to.be.greaterThan(399);
    }
  });
});
