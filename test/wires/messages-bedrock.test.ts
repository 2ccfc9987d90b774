import { expect } from 'chai';
import {
  replyJson,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { BEARER, chunk, CLAUDE, NOVA } from '../providers/bedrock-support.ts';
import { eventsOf, hello, PATH, VENDOR_EVENTS, vendorMessage } from './messages-kit.ts';

/** The service holds no answers of this model to a schema, nor calls. */
const OPUS = 'us.anthropic.claude-opus-4-7';
const HELD = 'us.anthropic.claude-opus-4-6-v1';

async function open(handler: StubHandler): Promise<{ host: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream(handler);
  const host = await startHost(
    { targets: [{ virtual_key: 'bedrock', models: [CLAUDE, NOVA, OPUS, HELD] }] },
    { variables: { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url, ...BEARER } },
  );
  return { host, upstream };
}

const answering: StubHandler = (_request, response) =>
  replyJson(response, 200, vendorMessage([{ type: 'text', text: 'hello' }, { type: 'hologram' }]));

describe('Messages to Claude on Bedrock', () => {
  it("are the client's bytes less what the service does not take", async () => {
    const { host, upstream } = await open(answering);
    const body = `{ "model":"${CLAUDE}", "max_tokens":64, "metadata":{"user_id":"u"}, "context_management":{}, "stream":false, "big":12345678901234567890, "messages":[ {"role":"user","content":[{"type":"hologram"}]} ] }`;
    const answer = await host.post(PATH, body, {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'context-1m-2025-08-07,newest-2026-01-01',
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json().content[1]).to.deep.equal({ type: 'hologram' });
    const [seen] = upstream.seen;
    expect(seen?.text).to.equal(
      '{"max_tokens":64,"big":12345678901234567890,"messages":[ {"role":"user","content":[{"type":"hologram"}]} ],"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07"]}',
    );
    expect(seen?.headers).to.not.have.any.keys('anthropic-version', 'anthropic-beta');
    expect(decodeURIComponent(seen?.url ?? '')).to.equal(`/model/${CLAUDE}/invoke`);
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal(
      'metadata, context_management, anthropic-beta:newest-2026-01-01',
    );
  });

  for (const beta of ['context-management-2025-06-27', 'compact-2026-01-12']) {
    it(`keep the management of the context beside its beta ${beta}`, async () => {
      const { host, upstream } = await open(answering);
      const answer = await host.post(
        PATH,
        { ...hello, model: CLAUDE, context_management: { edits: [] } },
        { 'anthropic-beta': beta },
      );
      expect(answer.headers.get('x-gateway-ignored-params')).to.equal(null);
      expect(upstream.seen[0]?.json()).to.deep.include({ context_management: { edits: [] }, anthropic_beta: [beta] });
    });
  }

  it('go through the common format where they ask for a schema that the service does not hold a model to', async () => {
    const schema = {
      type: 'object',
      properties: { depth: { type: 'number' } },
      required: ['depth'],
      additionalProperties: false,
    };
    const { host, upstream } = await open((_request, response) =>
      replyJson(
        response,
        200,
        vendorMessage([{ type: 'tool_use', id: 't', name: 'gw_structured_answer', input: { depth: 3 } }], {
          stop_reason: 'tool_use',
        }),
      ),
    );
    const answer = await host.post(PATH, {
      ...hello,
      model: OPUS,
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(answer.json()).to.deep.include({
      content: [{ type: 'text', text: '{"depth":3}', citations: null }],
      stop_reason: 'end_turn',
    });
    expect(upstream.seen[0]?.json()).to.have.nested.property('tool_choice.name', 'gw_structured_answer');
    const tools = [{ name: 'sound', input_schema: schema, strict: true }];
    expect((await host.post(PATH, { ...hello, model: OPUS, tools })).headers.get('x-gateway-ignored-params')).to.equal(
      'tools[0].strict',
    );
    expect(upstream.seen[1]?.json().tools).to.deep.equal([{ name: 'sound', input_schema: schema }]);
    await host.post(PATH, { ...hello, model: HELD, tools });
    expect(upstream.seen[2]?.json().tools).to.deep.equal(tools);
  });

  it('leave searches of the web out, and are refused where they ask for nothing else', async () => {
    const { host, upstream } = await open(answering);
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 };
    const tide = { name: 'tide', input_schema: { type: 'object' } };
    const answer = await host.post(PATH, { ...hello, model: CLAUDE, tools: [tide, search] });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal('tools[1]');
    expect(upstream.seen[0]?.json()['tools']).to.deep.equal([tide]);
    const refused = await host.post(PATH, { ...hello, model: CLAUDE, tools: [search] });
    expect([refused.status, refused.json().error.type]).to.deep.equal([400, 'invalid_request_error']);
    expect(refused.json().error.message).to.include('tools[0]');
    expect(upstream.seen).to.have.length(1);
  });

  it('stream as the events of this wire', async () => {
    const { host } = await open((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
        .end(Buffer.concat(VENDOR_EVENTS.map((event) => chunk(event))));
    });
    const answer = await host.post(PATH, { ...hello, model: CLAUDE, stream: true });
    expect(eventsOf(answer.text)).to.deep.equal(VENDOR_EVENTS);
  });

  it('go through the common format with media by their address', async () => {
    const { host } = await open(answering);
    const image = { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'see' }, image] }];
    expect((await host.post(PATH, { ...hello, model: CLAUDE, messages })).status).to.equal(400);
  });

  it('go through the common format to other models, errors of tools included', async () => {
    const { host, upstream } = await open((_request, response) =>
      replyJson(response, 200, {
        output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      }),
    );
    const answer = await host.post(PATH, {
      ...hello,
      model: NOVA,
      tools: [{ name: 'n', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'no', is_error: true }] },
      ],
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(upstream.seen[0]?.text).to.include('"status":"error"');
  });
});
