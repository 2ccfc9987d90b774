import { expect } from 'chai';
import foundry from '../../providers/azure-foundry/index.ts';
import bedrock from '../../providers/bedrock/index.ts';
import vertex from '../../providers/vertex-ai/index.ts';
import {
  ask,
  callFor,
  everyCut,
  golden,
  relayStream,
  replyJson,
  sentBy,
  startHost,
  stubUpstream,
  translateReply,
} from '../kit/index.ts';
import { chat, fixture } from './anthropic-support.ts';
import { faultOf } from './native-support.ts';

const LOCATION = 'https://us-east5-aiplatform.googleapis.com/v1/projects/proj-1/locations/us-east5';
const AT_VERTEX = {
  variables: { VERTEX_AI_PROJECT_ID: 'proj-1', VERTEX_AI_REGION: 'us-east5', VERTEX_AI_API_KEY: 'key' },
};
const AT_FOUNDRY = { variables: { AZURE_FOUNDRY_ENDPOINT: 'https://acme.services.ai.azure.com' } };
const SNAPSHOT = 'claude-sonnet-4-5@20250929';
const SCHEMA = {
  type: 'json_schema',
  json_schema: {
    name: 'hours',
    schema: { type: 'object', properties: { open: { type: 'integer' } }, required: ['open'] },
  },
};
const STRICT = { type: 'function', function: { name: 'tide', parameters: SCHEMA.json_schema.schema, strict: true } };

describe('Claude behind Vertex AI', () => {
  it('speaks its own wire beside the compatible endpoint, with the model in the address', async () => {
    const { url, body, ignored } = await sentBy(
      vertex,
      'chat',
      chat({ model: SNAPSHOT, user: 'jane', service_tier: 'auto' }),
      AT_VERTEX,
    );
    expect(url).to.equal(`${LOCATION}/publishers/anthropic/models/${SNAPSHOT}:rawPredict`);
    expect(body).to.deep.equal({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 1024,
      messages: [{ role: 'user', content: 'hi' }],
      metadata: { user_id: 'jane' },
    });
    expect(ignored).to.deep.equal(['service_tier']);
    const streamed = await sentBy(vertex, 'chat', chat({ model: 'anthropic/claude-opus-4-6' }), {
      ...AT_VERTEX,
      stream: true,
    });
    expect([streamed.url, streamed.body.stream]).to.deep.equal([
      `${LOCATION}/publishers/anthropic/models/claude-opus-4-6:streamRawPredict`,
      true,
    ]);
    expect(
      (await sentBy(vertex, 'chat', chat({ model: 'publishers/anthropic/models/claude-opus-4-6' }), AT_VERTEX)).url,
    ).to.include('/publishers/anthropic/models/claude-opus-4-6:');
  });

  it('has no schemas unless the operator allows them, no files and no addresses, and a beta for its search', async () => {
    const { body, headers, ignored } = await sentBy(
      vertex,
      'chat',
      chat({ model: SNAPSHOT, tools: [STRICT], web_search_options: {} }),
      { ...AT_VERTEX, clientHeaders: { 'anthropic-beta': 'context-1m-2025-08-07' } },
    );
    expect([body.tools.map(({ strict }: any) => strict), ignored, headers['anthropic-beta']]).to.deep.equal([
      [undefined, undefined],
      ['strict'],
      'context-1m-2025-08-07,web-search-2025-03-05',
    ]);
    expect(
      (await sentBy(vertex, 'chat', chat({ model: SNAPSHOT, response_format: SCHEMA }), AT_VERTEX)).body.tool_choice,
    ).to.include({ name: 'gw_structured_answer' });
  });

  it('leaves other models where they were', async () => {
    const { url, body } = await sentBy(vertex, 'chat', chat({ model: 'gemini-2.5-flash', user: 'jane' }), AT_VERTEX);
    expect([url, body]).to.deep.equal([
      `${LOCATION}/endpoints/openapi/chat/completions`,
      { ...chat({ user: 'jane' }), model: 'google/gemini-2.5-flash' },
    ]);
    expect(vertex.paramsFor?.('gemini-2.5-flash')).to.deep.equal({});
    expect(vertex.paramsFor?.(SNAPSHOT)).to.include({ seed: 'unsupported' });
  });
});

describe('Claude in Microsoft Foundry', () => {
  it('speaks its own wire at a path of its own', async () => {
    const { url, body, headers } = await sentBy(
      foundry,
      'chat',
      chat({ model: 'claude-sonnet-4-6', tools: [STRICT] }),
      AT_FOUNDRY,
    );
    expect(url).to.equal('https://acme.services.ai.azure.com/anthropic/v1/messages');
    expect(body)
      .to.deep.include({ model: 'claude-sonnet-4-6', max_tokens: 1024 })
      .and.have.nested.property('tools[0].strict', true);
    expect(headers).to.deep.equal({ 'anthropic-beta': 'structured-outputs-2025-11-13' });
    expect((await sentBy(foundry, 'chat', chat({ model: 'gpt-4o' }), AT_FOUNDRY)).url).to.match(/chat\/completions$/);
  });

  it('answers and streams live, with the key in its own header', async () => {
    const upstream = await stubUpstream((request, response) => {
      if (request.text.includes('"fail"')) replyJson(response, 400, JSON.parse(fixture('error-400-context.json')));
      else
        response
          .writeHead(200, { 'content-type': 'x' })
          .end(fixture(request.json()['stream'] ? 'stream.txt' : 'reply.json'));
    });
    const variables = { AZURE_FOUNDRY_API_KEY: 'foundry-key-0123456789', AZURE_FOUNDRY_ENDPOINT: upstream.url };
    const host = await startHost({ targets: [{ virtual_key: 'azure-foundry' }] }, { variables });
    const request = { model: 'claude-sonnet-4-6', seed: 1 };
    const answer = await host.post('/v1/chat/completions', ask('hi', request), {
      'anthropic-beta': 'context-1m-2025-08-07',
    });
    expect([answer.json().choices[0].message.content, answer.headers.get('x-gateway-ignored-params')]).to.deep.equal([
      'conformance ok',
      'seed',
    ]);
    expect((await host.post('/v1/chat/completions', ask('hi', { ...request, stream: true }))).events().at(-1)).to.equal(
      '[DONE]',
    );
    expect((await host.post('/v1/chat/completions', ask('fail', request))).status).to.equal(400);
    for (const { headers, url } of upstream.seen) {
      expect([
        headers['x-api-key'],
        headers['api-key'],
        headers['authorization'],
        headers['anthropic-version'],
        url,
      ]).to.deep.equal(['foundry-key-0123456789', undefined, undefined, '2023-06-01', '/anthropic/v1/messages']);
    }
    expect(upstream.seen.map(({ headers }) => headers['anthropic-beta'])).to.deep.equal([
      'context-1m-2025-08-07',
      undefined,
      undefined,
    ]);
  });
});

describe('Claude behind a cloud', () => {
  for (const [name, module, model] of [
    ['vertex-ai', vertex, SNAPSHOT],
    ['azure-foundry', foundry, 'claude-sonnet-4-6'],
  ] as const) {
    it(`of ${name} says the same whole and from every cut of its stream`, () => {
      const { choices, usage } = translateReply(module, callFor(model), fixture('tools.json'));
      for (const pieces of everyCut(Buffer.from(fixture('tools.txt')))) {
        const { reply, failure } = relayStream(module, callFor(model, { stream: true }), pieces);
        expect([failure, reply.choices, reply.usage]).to.deep.equal([undefined, choices, usage]);
      }
    });
  }

  it("fails with its own message or with the cloud's", () => {
    expect(faultOf(vertex, 400, fixture('error-400-context.json'))).to.include({ reason: 'context_length' });
    expect(faultOf(foundry, 400, fixture('error-400-policy.json'))).to.include({ reason: 'content_policy' });
    expect(faultOf(foundry, 400, golden('azure-openai/chat/error-400-content.json'))).to.include({
      reason: 'content_policy',
    });
    expect(
      faultOf(vertex, 404, '{"error":{"code":404,"message":"Publisher Model was not found","status":"NOT_FOUND"}}'),
    ).to.include({ said: 'Publisher Model was not found', code: 'model_not_found' });
  });

  it("is described by the catalog under the vendor's names", () => {
    expect(vertex.describedAs?.(`anthropic/${SNAPSHOT}`)).to.equal('anthropic/claude-sonnet-4-5-20250929');
    expect(foundry.describedAs?.('claude-sonnet-4-6')).to.equal('anthropic/claude-sonnet-4-6');
    expect(
      bedrock.describedAs?.('arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-6-v1:0'),
    ).to.equal('bedrock/anthropic.claude-sonnet-4-6-v1:0');
  });
});
