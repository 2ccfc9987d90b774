import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import { BEDROCK, openMessagesStream, readMessage, toMessagesBody } from '../../providers/_common/anthropic/index.ts';
import { callFor, unaryReply } from '../kit/index.ts';
import { chat, fixture } from './anthropic-support.ts';

const CLAUDE = 'us.anthropic.claude-sonnet-4-6-v1:0';
const call = callFor(CLAUDE, { stream: true });
const image = (url: string): object => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] });

describe('the messages wire behind bedrock', () => {
  it('names its version instead of model, stream and caller', () => {
    const { body, ignored } = toMessagesBody(chat({ user: 'jane', temperature: 1.5, stop: ['END'], metadata: { a: 'b' }, service_tier: 'auto' }), call, BEDROCK);
    expect(body).to.deep.equal({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 1024, messages: [{ role: 'user', content: 'hi' }], temperature: 1, stop_sequences: ['END'] });
    expect(ignored).to.deep.equal(['metadata', 'service_tier']);
  });

  it('takes base64 data only', () => {
    expect(JSON.stringify(toMessagesBody(chat(image('data:image/png;base64,iVBO')), call, BEDROCK).body)).to.include('"data":"iVBO"');
    for (const url of ['https://h/a.png', 'data:image/png,iVBO']) {
      expect(() => toMessagesBody(chat(image(url)), call, BEDROCK)).to.throw(GatewayError, 'messages[0].content[0]: bedrock takes base64 data addresses only');
    }
  });

  it('makes empty input of arguments that are not an object', () => {
    const messages = [{ role: 'assistant', tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{"a":' } }] }];
    expect(toMessagesBody(chat({ messages }), call, BEDROCK).body['messages']).to.deep.equal([{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] }]);
  });

  it('answers as the model that was asked for', () => {
    expect(readMessage(unaryReply(fixture('reply.json')), call, BEDROCK).model).to.equal(CLAUDE);
    const decode = openMessagesStream(call, BEDROCK);
    const chunks = fixture('stream.txt').split('\n').filter((line) => line.startsWith('data: ')).flatMap((line) => decode({ type: '', data: line.slice(6) }));
    expect(new Set(chunks.map(({ model }) => model))).to.deep.equal(new Set([CLAUDE]));
    const failed = (): unknown => openMessagesStream(call, BEDROCK)({ type: '', data: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}' });
    expect(failed).to.throw(GatewayError).with.nested.property('cause.message', 'bedrock: overloaded_error: Overloaded');
  });
});
