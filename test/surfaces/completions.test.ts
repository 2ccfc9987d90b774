import { expect } from 'chai';
import { chatReply, replyJson } from '../kit/index.ts';
import { blocked, errorOf, type SurfaceSet, withUpstream } from './kit.ts';

const PATH = '/v1/completions';
const answering = (config: object = {}): Promise<SurfaceSet> =>
  withUpstream((_request, response) => replyJson(response, 200, chatReply(' world')), config);

describe('completions', () => {
  it('run as one user message and answer as text', async () => {
    const { host, sent } = await answering();
    const answer = await host.post(PATH, {
      model: 'm',
      prompt: 'hello',
      max_tokens: 5,
      temperature: 0.5,
      stop: '\n',
      zebra: true,
    });
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.equal({
      id: 'chatcmpl-1',
      object: 'text_completion',
      created: 1_700_000_000,
      model: 'm',
      choices: [{ text: ' world', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    expect(sent()).to.deep.include({
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 5,
      temperature: 0.5,
      stop: ['\n'],
      zebra: true,
    });
    expect(answer.headers.get('x-gateway-attempts')).to.equal('1');
  });

  it('put the prompt in front with echo', async () => {
    const { host, sent } = await answering();
    const answer = await host.post(PATH, {
      model: 'm',
      prompt: ['hello'],
      echo: true,
      suffix: 's',
      best_of: 2,
      logprobs: 3,
      n: 1,
    });
    expect(answer.json().choices[0].text).to.equal('hello world');
    expect(sent()).to.not.have.any.keys('prompt', 'echo', 'suffix', 'best_of', 'logprobs', 'stream');
  });

  it('take an absent prompt as an empty one', async () => {
    const { host, sent } = await answering();
    for (const body of [{ model: 'm' }, { model: 'm', prompt: null }, { model: 'm', prompt: '' }]) {
      expect((await host.post(PATH, body)).status).to.equal(200);
      expect(sent()['messages']).to.deep.equal([{ role: 'user', content: '' }]);
    }
  });

  for (const [body, code, message] of [
    [{ prompt: 'x' }, 'invalid_request', 'model is required'],
    [{ prompt: 'x', stream: true }, 'invalid_request', 'model is required'],
    [{ model: 'm', stream: true, prompt: [1] }, 'streaming_not_supported', 'does not stream'],
    [{ model: 'm', prompt: ['a', 'b'] }, 'unsupported_parameter', 'prompt'],
    [{ model: 'm', prompt: [1, 2], stop: 7 }, 'unsupported_parameter', 'prompt'],
    [{ model: 'm', prompt: [['a']] }, 'unsupported_parameter', 'prompt'],
    [{ model: 'm', prompt: [] }, 'unsupported_parameter', 'prompt'],
    [{ model: 'm', prompt: [null] }, 'unsupported_parameter', 'prompt'],
    [{ model: 'm', prompt: 'x', stop: 7, temperature: 9 }, 'invalid_request', 'stop must be'],
    [{ model: 'm', prompt: 'x', temperature: 9 }, 'invalid_request', 'temperature must be between 0 and 2'],
    [{ model: 'm', prompt: 'x', max_tokens: 0 }, 'invalid_request', 'max_tokens must be greater than 0'],
    [{ model: 'm', prompt: 'x', echo: 'yes' }, 'invalid_request', 'echo must be true or false'],
  ] as const) {
    it(`refuse ${JSON.stringify(body)}`, async () => {
      const { host, upstream } = await answering();
      const answer = await host.post(PATH, body);
      expect([answer.status, errorOf(answer).code]).to.deep.equal([400, code]);
      expect(errorOf(answer).message).to.contain(message);
      expect(upstream.seen).to.have.length(0);
    });
  }

  it('are read by guardrails and obey the metadata header', async () => {
    const { host } = await answering(blocked('forbidden'));
    expect(errorOf(await host.post(PATH, { model: 'm', prompt: 'forbidden' })).code).to.equal('request_rejected');
    expect((await host.post(PATH, { model: 'm', prompt: 'x' }, { 'x-gateway-metadata': '[]' })).status).to.equal(400);
  });
});
