import { expect } from 'chai';
import { replyError } from '../../host/upstream/fault.ts';
import vertex from '../../providers/vertex-ai/index.ts';
import {
  callFor,
  connected,
  failedReply,
  golden,
  refusedBy,
  rootOf,
  sentBy,
  type SentWire,
  unaryReply,
} from '../kit/index.ts';

const KEYED = { VERTEX_AI_PROJECT_ID: 'proj-1', VERTEX_AI_REGION: 'us-central1', VERTEX_AI_API_KEY: 'key' };
const LOCATION = 'https://us-central1-aiplatform.googleapis.com/v1/projects/proj-1/locations/us-central1';
/** The reply as it is read; an error where it cannot be. */
function read(surface: 'embeddings' | 'images', request: { readonly model: string }, body: unknown): any {
  try {
    return vertex.translators[surface]?.fromUpstream(unaryReply(body), callFor(request.model), request as never);
  } catch (error) {
    return error;
  }
}

const sent = (surface: 'chat' | 'embeddings' | 'images', request: object, more: object = {}): Promise<SentWire> =>
  sentBy(vertex, surface, request as never, { variables: { ...KEYED, ...more } });

describe('vertex-ai, addresses', () => {
  const root = (more: object): Promise<string> => rootOf(vertex, { ...KEYED, ...more });
  const failure = (more: object): Promise<string> =>
    root(more).then(
      () => 'none',
      (error: Error) => error.message,
    );

  it('are those of the project and region, with a host of its own for each kind of location', async () => {
    expect(await root({})).to.equal(`${LOCATION}/endpoints/openapi`);
    expect(await root({ VERTEX_AI_REGION: ' europe-west4 ' })).to.equal(
      'https://europe-west4-aiplatform.googleapis.com/v1/projects/proj-1/locations/europe-west4/endpoints/openapi',
    );
    expect(await root({ VERTEX_AI_REGION: 'global' })).to.equal(
      'https://aiplatform.googleapis.com/v1/projects/proj-1/locations/global/endpoints/openapi',
    );
    expect(await root({ VERTEX_AI_REGION: 'eu' })).to.equal(
      'https://aiplatform.eu.rep.googleapis.com/v1/projects/proj-1/locations/eu/endpoints/openapi',
    );
  });

  it('are replaced as a whole, but for a bare host', async () => {
    const path = '/v1/projects/proj-1/locations/us-central1/endpoints/openapi';
    for (const [address, expected] of [
      ['http://h:9911', `http://h:9911${path}`],
      ['http://h:9911///', `http://h:9911${path}`],
      ['http://h/probe', 'http://h/probe'],
      ['http://h/v1/projects/p/locations/r/endpoints/openapi/', 'http://h/v1/projects/p/locations/r/endpoints/openapi'],
      ['http://h/v1/projects/p/locations/r', 'http://h/v1/projects/p/locations/r/endpoints/openapi'],
    ] as const)
      expect(await root({ VERTEX_AI_BASE_URL: address }), address).to.equal(expected);
    for (const address of ['ftp://h', 'h', 'http://h?x=1'])
      expect(await failure({ VERTEX_AI_BASE_URL: address }), address).to.include('its address');
  });

  it('need a region once there is a project, and words that can stand in them', async () => {
    expect(await failure({ VERTEX_AI_REGION: '' })).to.equal(
      'VERTEX_AI_REGION must be set beside VERTEX_AI_PROJECT_ID',
    );
    expect(await failure({ VERTEX_AI_REGION: '', VERTEX_AI_BASE_URL: 'http://h' })).to.equal(
      'VERTEX_AI_REGION must be set beside VERTEX_AI_PROJECT_ID',
    );
    for (const region of ['evil.example/x', '../x', 'a b'])
      expect(await failure({ VERTEX_AI_REGION: region }), region).to.equal('VERTEX_AI_REGION is not a region');
    for (const project of ['a/b', '..', ' ', 'a b'])
      expect(await failure({ VERTEX_AI_PROJECT_ID: project }), project).to.equal(
        'VERTEX_AI_PROJECT_ID is not a project id',
      );
  });
});

describe('vertex-ai, chat', () => {
  const ASK = {
    model: 'gemini-2.5-flash',
    messages: [{ role: 'user', content: 'hi' }],
    reasoning_effort: 'low',
    extra_body: { google: {} },
  };

  it('goes to the compatible endpoint as it came, unknown fields included', async () => {
    expect(await sent('chat', ASK)).to.deep.include({
      url: `${LOCATION}/endpoints/openapi/chat/completions`,
      body: { ...ASK, model: 'google/gemini-2.5-flash' },
      ignored: [],
    });
    expect((await sentBy(vertex, 'chat', ASK as never, { variables: KEYED, stream: true })).body).to.deep.include({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('names models with their publisher', async () => {
    const nameOf = async (model: string): Promise<unknown> => (await sent('chat', { ...ASK, model })).body.model;
    expect(await nameOf('publishers/google/models/gemini-2.5-pro')).to.equal('google/gemini-2.5-pro');
    expect(await nameOf('models/gemini-2.5-pro')).to.equal('google/gemini-2.5-pro');
    expect(await nameOf('google/gemini-2.5-pro')).to.equal('google/gemini-2.5-pro');
    expect(await nameOf('meta/llama-4-maverick')).to.equal('meta/llama-4-maverick');
  });
});

describe('vertex-ai, embeddings', () => {
  const EMBED = { model: 'text-embedding-005', input: ['a', 'b'] };

  it("are instances of the publisher's own method, beside the endpoint", async () => {
    expect(await sent('embeddings', { ...EMBED, dimensions: 128, user: 'u', input_type: 'query' })).to.deep.include({
      url: `${LOCATION}/publishers/google/models/text-embedding-005:predict`,
      body: { instances: [{ content: 'a' }, { content: 'b' }], parameters: { outputDimensionality: 128 } },
      ignored: ['user', 'input_type'],
    });
    expect((await sent('embeddings', EMBED, { VERTEX_AI_BASE_URL: 'http://h/probe' })).url).to.equal(
      'http://h/probe/publishers/google/models/text-embedding-005:predict',
    );
    expect((await sent('embeddings', EMBED)).body).to.deep.equal({ instances: [{ content: 'a' }, { content: 'b' }] });
  });

  it('are made by models that embed, and of texts', async () => {
    for (const model of [
      'gemini-embedding-001',
      'google/text-embedding-004',
      'publishers/google/models/text-multilingual-embedding-002',
      'textembedding-gecko@003',
    ]) {
      expect((await sent('embeddings', { ...EMBED, model })).url, model)
        .to.include('/publishers/google/models/')
        .and.not.include('google/google');
    }
    for (const request of [
      { ...EMBED, model: 'gemini-2.5-flash' },
      { ...EMBED, model: 'gemini-embedding-0012' },
      { ...EMBED, input: [1, 2] },
    ]) {
      expect(
        (await refusedBy(vertex, 'embeddings', request, { variables: KEYED })).code,
        JSON.stringify(request),
      ).to.equal('invalid_request');
    }
  });

  it('come as vectors in any of their places, with their tokens', () => {
    const said = read('embeddings', EMBED, JSON.parse(golden('vertex-ai/embeddings/reply.json')));
    expect(said.data.map(({ embedding }: { embedding: number[] }) => embedding)).to.deep.equal([
      [0.25, -0.5, 1],
      [0.125, 0, -2],
    ]);
    expect(said.usage).to.deep.equal({ prompt_tokens: 11, total_tokens: 11 });
    const flat = read('embeddings', EMBED, {
      predictions: [
        { values: [1], statistics: { tokenCount: 2 } },
        { embedding: [2], statistics: { token_count: 3 } },
      ],
    });
    expect([
      flat.data.map(({ embedding }: { embedding: number[] }) => embedding),
      flat.usage.prompt_tokens,
    ]).to.deep.equal([[[1], [2]], 5]);
    expect(
      read('embeddings', EMBED, {
        predictions: [{ values: [1] }, { values: [2] }],
        metadata: { tokenMetadata: { inputTokenCount: { totalTokens: 9 } } },
      }).usage,
    ).to.deep.equal({ prompt_tokens: 9, total_tokens: 9 });
    for (const body of [
      {},
      { predictions: null },
      { predictions: [{ values: [1] }] },
      { predictions: [null, 7] },
      { predictions: [{ embeddings: 7 }, { embeddings: { values: [] } }] },
    ]) {
      expect(read('embeddings', EMBED, body).message, JSON.stringify(body)).to.equal(
        'the answer does not hold 2 vectors',
      );
    }
  });
});

describe('vertex-ai, images', () => {
  const PICTURE = { model: 'imagen-4.0-generate-001', prompt: 'a harbour' };

  it('are predictions of Imagen', async () => {
    expect(await sent('images', { ...PICTURE, n: 2, size: '1024x1792', quality: 'hd' })).to.deep.include({
      url: `${LOCATION}/publishers/google/models/imagen-4.0-generate-001:predict`,
      body: { instances: [{ prompt: 'a harbour' }], parameters: { sampleCount: 2, aspectRatio: '9:16' } },
      ignored: ['quality'],
    });
    expect(read('images', PICTURE, JSON.parse(golden('vertex-ai/images/reply.json')))).to.deep.equal({
      data: [{ b64_json: 'iVBORw0KGgo=' }],
    });
  });

  it('that were all filtered are a refusal', () => {
    expect(read('images', PICTURE, { predictions: [{ raiFilteredReason: 'no faces' }] })).to.include({
      code: 'invalid_request',
      message: 'no faces',
    });
    expect(read('images', PICTURE, {}).message).to.equal('the answer holds no image');
  });
});

describe('vertex-ai', () => {
  it('serves chat, embeddings and images; nothing is forwarded and nothing listed', () => {
    const { passthrough, responses, batches, anyModel, discovery, wire, imageFormats } = vertex;
    expect(Object.keys(vertex.translators).toSorted()).to.deep.equal(['chat', 'embeddings', 'images']);
    expect({ passthrough, responses, batches, anyModel, discovery, wire, imageFormats }).to.deep.equal({
      passthrough: undefined,
      responses: undefined,
      batches: undefined,
      anyModel: undefined,
      discovery: undefined,
      wire: 'native',
      imageFormats: ['b64_json'],
    });
  });

  it('declares its row of the capability matrix: everything is forwarded', () => {
    expect(vertex.params).to.deep.equal({}); // docs/providers.md#fields-of-chat
  });

  it('reads errors that come as a list', () => {
    for (const [status, code, message] of [
      [401, 'upstream_auth_error', 'Request had invalid authentication credentials. Expected OAuth 2 access token.'],
      [404, 'model_not_found', 'Publisher Model `publishers/google/models/none` was not found.'],
    ] as const) {
      const error = replyError(vertex, failedReply(golden(`vertex-ai/chat/error-${status}.json`), status) as never, 0);
      expect(error).to.include({ code }).and.have.nested.property('fault.message', message);
    }
  });

  it('sends an API key as a header, trimmed, before any other credential', async () => {
    const { provider } = await connected(vertex, {
      ...KEYED,
      VERTEX_AI_API_KEY: ' key ',
      VERTEX_AI_SERVICE_ACCOUNT_JSON: '{}',
    });
    expect(
      await provider.authorize(
        { method: 'POST', url: provider.root, headers: {}, body: undefined },
        provider.credentials,
      ),
    ).to.deep.equal({ 'x-goog-api-key': 'key' });
  });
});
