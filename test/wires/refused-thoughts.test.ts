import { expect } from 'chai';
import { sealEnvelope } from '../../builtins/wires/envelope.ts';
import {
  replyJson,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { vendorMessage } from './messages-kit.ts';

type Json = Record<string, any>;

const SIGNED = { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'hm', signature: 'c2ln' };
const ENVELOPE = sealEnvelope([SIGNED]);

/** Clients whose history holds a thought of the vendor's, and what they know it by. */
const CLIENTS = {
  chat: {
    path: '/v1/chat/completions',
    lost: null,
    body: {
      model: 'claude-x',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'ok', reasoning_content: 'hm', reasoning_details: [SIGNED] },
        { role: 'user', content: 'go on' },
      ],
    },
  },
  Gemini: {
    path: '/v1beta/models/claude-x:generateContent',
    lost: 'contents[1].parts[0]',
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ text: 'hm', thought: true, thoughtSignature: ENVELOPE }, { text: 'ok' }] },
        { role: 'user', parts: [{ text: 'go on' }] },
      ],
    },
  },
  Responses: {
    path: '/v1/responses',
    lost: 'input[1]',
    body: {
      model: 'claude-x',
      input: [
        { role: 'user', content: 'hi' },
        { type: 'reasoning', summary: [], encrypted_content: ENVELOPE },
        { role: 'assistant', content: 'ok' },
        { role: 'user', content: 'go on' },
      ],
    },
  },
} as const;

const hasThoughts = (body: Json): boolean => JSON.stringify(body['messages']).includes('c2ln');

async function open(message: string): Promise<{ upstream: StubUpstream; t: TestHost }> {
  const refusing: StubHandler = (request, response) => {
    if (hasThoughts(request.json()))
      replyJson(response, 400, { type: 'error', error: { type: 'invalid_request_error', message } });
    else replyJson(response, 200, vendorMessage([{ type: 'text', text: 'hello' }]));
  };
  const upstream = await stubUpstream(refusing);
  const t = await startHost(
    { responses: { translate: 'auto' }, targets: [{ virtual_key: 'anthropic', models: ['claude-x'] }] },
    { variables: { ANTHROPIC_API_KEY: 'vendor-key-0123456789', ANTHROPIC_BASE_URL: `${upstream.url}/v1` } },
  );
  return { upstream, t };
}

describe('a request that is refused for the thoughts of an earlier turn', () => {
  for (const message of [
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'messages.1.content.0: thinking block is bound to a different conversation',
    'thinking.block_binding: Extra inputs are not permitted',
  ])
    for (const [name, { path, body, lost }] of Object.entries(CLIENTS))
      it(`goes out once more without them, of a client of ${name}: ${message}`, async () => {
        const { upstream, t } = await open(message);
        const answer = await t.post(path, body);
        expect(answer.status, answer.text).to.equal(200);
        expect(upstream.seen.map((seen) => hasThoughts(seen.json()))).to.deep.equal([true, false]);
        expect(upstream.seen[1]!.text).not.to.include('block_binding');
        expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
        expect(answer.headers.get('x-gateway-ignored-params')).to.equal(lost);
        await t.post(path, body);
        expect(upstream.seen, 'it is not kept in mind').to.have.length(4);
      });

  it("is left as it is in the client's own wire", async () => {
    const { upstream, t } = await open('Invalid `signature` in `thinking` block');
    const answer = await t.post('/v1/messages', {
      model: 'claude-x',
      max_tokens: 64,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 'c2ln' }] },
        { role: 'user', content: 'go on' },
      ],
    });
    expect([answer.status, upstream.seen.length]).to.deep.equal([400, 1]);
  });
});
