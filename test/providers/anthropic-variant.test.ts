import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import { BEDROCK, openMessagesStream, readMessage, toMessagesBody } from '../../providers/_common/anthropic/index.ts';
import { shippedCall } from '../kit/facts.ts';
import { unaryReply } from '../kit/index.ts';
import { chat, fixture } from './anthropic-support.ts';

const CLAUDE = 'us.anthropic.claude-sonnet-4-6-v1:0';
const call = shippedCall('bedrock', CLAUDE, { stream: true });
const image = (url: string): object => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
});

describe('the messages wire behind bedrock', () => {
  it('names its version instead of model, stream and caller', () => {
    const { body, ignored } = toMessagesBody(
      chat({ user: 'jane', temperature: 1.5, stop: ['END'], metadata: { a: 'b' }, service_tier: 'auto' }),
      call,
      BEDROCK,
    );
    expect(body).to.deep.equal({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 1024,
      messages: [{ role: 'user', content: 'hi' }],
      temperature: 1,
      stop_sequences: ['END'],
    });
    expect(ignored).to.deep.equal(['metadata', 'service_tier']);
  });

  it('takes base64 data only', () => {
    expect(JSON.stringify(toMessagesBody(chat(image('data:image/png;base64,iVBO')), call, BEDROCK).body)).to.include(
      '"data":"iVBO"',
    );
    for (const url of ['https://h/a.png', 'data:image/png,iVBO']) {
      expect(() => toMessagesBody(chat(image(url)), call, BEDROCK)).to.throw(
        GatewayError,
        'messages[0].content[0]: bedrock takes base64 data addresses only',
      );
    }
  });

  it('makes empty input of arguments that are not an object', () => {
    const messages = [
      { role: 'assistant', tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{"a":' } }] },
    ];
    expect(toMessagesBody(chat({ messages }), call, BEDROCK).body['messages']).to.deep.equal([
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
    ]);
  });

  it('holds answers to schemas but of Opus 4.7 and 4.8, and calls up to Opus 4.6: the service refuses the others', () => {
    const schema = {
      type: 'object',
      properties: { depth: { type: 'number' } },
      required: ['depth'],
      additionalProperties: false,
    };
    const format = { response_format: { type: 'json_schema', json_schema: { name: 'depth', schema } } };
    const strict = { tools: [{ type: 'function', function: { name: 'sound', parameters: schema, strict: true } }] };
    const bodyFor = (model: string, more: object): { body: any; ignored: readonly string[] } =>
      toMessagesBody(chat(more), shippedCall('bedrock', `us.anthropic.${model}`), BEDROCK);
    expect(bodyFor('claude-opus-4-6-v1', format).body.output_config).to.deep.equal({
      format: { type: 'json_schema', schema },
    });
    expect(bodyFor('claude-opus-4-6-v1', strict).body.tools[0]).to.include({ strict: true });
    for (const model of ['claude-opus-4-7', 'claude-opus-4-8']) {
      const { body, ignored } = bodyFor(model, format);
      expect(body, model).to.not.have.property('output_config');
      expect(body.tool_choice, model).to.include({ type: 'tool', name: body.tools[0].name });
      expect(body.tools[0].input_schema, model).to.deep.equal(schema);
      expect(ignored, model).to.deep.equal([]);
    }
    for (const model of ['claude-opus-4-7', 'claude-sonnet-5', 'claude-fable-5', 'claude-opus-5-5']) {
      const { body, ignored } = bodyFor(model, strict);
      expect(body.tools, model).to.deep.equal([{ name: 'sound', input_schema: schema }]);
      expect(ignored, model).to.deep.equal(['strict']);
    }
    for (const model of ['claude-opus-5', 'claude-opus-5-5'])
      expect(bodyFor(model, format).body.output_config, model).to.deep.equal({
        format: { type: 'json_schema', schema },
      });
  });

  it('answers as the model that was asked for', () => {
    expect(readMessage(unaryReply(fixture('reply.json')), call, BEDROCK).model).to.equal(CLAUDE);
    const decode = openMessagesStream(call, BEDROCK);
    const chunks = fixture('stream.txt')
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .flatMap((line) => decode({ type: '', data: line.slice(6) }));
    expect(new Set(chunks.map(({ model }) => model))).to.deep.equal(new Set([CLAUDE]));
    const failed = (): unknown =>
      openMessagesStream(
        call,
        BEDROCK,
      )({ type: '', data: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}' });
    expect(failed)
      .to.throw(GatewayError)
      .with.nested.property('cause.message', 'bedrock: overloaded_error: Overloaded');
  });
});
