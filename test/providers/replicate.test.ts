import { expect } from 'chai';
import type { ChatRequest } from '../../host/contract/index.ts';
import replicate from '../../providers/replicate/index.ts';
import {
  answeredBy,
  ask,
  callFor,
  connected,
  golden,
  refusedBy,
  rootOf,
  sentBy,
  translateReply,
  unusableTo,
} from '../kit/index.ts';
import { faultOf, itDeclares, itPassesNothingOn } from './native-support.ts';

const MODEL = 'meta/meta-llama-3-8b-instruct';
const ROOT = 'https://api.replicate.com/v1';
const chat = (more: object = {}): ChatRequest => ask('hi', { model: MODEL, ...more }) as unknown as ChatRequest;
const file = (name: string): any => JSON.parse(golden(`replicate/${name}.json`));

describe('replicate', () => {
  itPassesNothingOn(replicate);
  itDeclares(replicate, 'f f – f f – f f f – – – – – – – –');

  it('has its root, and addresses as its only form of images', async () => {
    expect(await rootOf(replicate)).to.equal(ROOT);
    expect(await rootOf(replicate, { REPLICATE_BASE_URL: 'http://h' })).to.equal('http://h/v1');
    expect(replicate.imageFormats).to.deep.equal(['url']);
  });

  it('lists its usual models, or those that its variables name, pinned ones under both names', async () => {
    const models = async (variables: Record<string, string>): Promise<readonly string[]> =>
      (await connected(replicate, variables)).provider.configuredModels;
    expect(await models({})).to.deep.equal([
      'meta/meta-llama-3.1-405b-instruct',
      'meta/meta-llama-3.1-70b-instruct',
      'meta/meta-llama-3.1-8b-instruct',
      'black-forest-labs/flux-schnell',
      'black-forest-labs/flux-dev',
      'stability-ai/sdxl',
    ]);
    expect(await models({ REPLICATE_TEXT_MODELS: ' a/b:v1, ,c/d', REPLICATE_IMAGE_MODELS: 'e/f' })).to.deep.equal([
      'a/b:v1',
      'a/b',
      'c/d',
      'e/f',
    ]);
  });
});

describe('replicate, where predictions are created', () => {
  const sent = async (model: string, list = 'a/pinned:v1'): Promise<[string, unknown]> => {
    const { url, body } = await sentBy(replicate, 'chat', chat({ model }), {
      variables: { REPLICATE_TEXT_MODELS: list },
    });
    return [url.replace(ROOT, ''), body.version];
  };

  it("is the model's own place, or the common one with a version", async () => {
    expect(await sent('a/b')).to.deep.equal(['/models/a/b/predictions', undefined]);
    expect(await sent('a/b:v9')).to.deep.equal(['/predictions', 'v9']);
    expect(await sent('a/pinned')).to.deep.equal(['/predictions', 'v1']);
    expect(await sent('a/pinned:v9')).to.deep.equal(['/predictions', 'v9']);
    expect(await sent('a/b:')).to.deep.equal(['/models/a/b/predictions', undefined]);
    expect(await sent('a/b', 'a/b')).to.deep.equal(['/models/a/b/predictions', undefined]);
  });

  it('is never left by a name', async () => {
    expect(await sent('owner/bad#name')).to.deep.equal(['/models/owner/bad%23name/predictions', undefined]);
    expect(await sent('ow ner/n')).to.deep.equal(['/models/ow%20ner/n/predictions', undefined]);
    for (const model of [
      '',
      'a',
      'a/',
      '/b',
      'a/b/c',
      '../b',
      'a/..',
      './b',
      'a/.',
      'a:v1',
      '../b:v1',
      '/',
      'a/n\\m',
    ]) {
      expect((await refusedBy(replicate, 'chat', chat({ model }))).code, model).to.equal('invalid_request');
      expect((await refusedBy(replicate, 'images', { model, prompt: 'p' })).code, model).to.equal('invalid_request');
    }
  });
});

describe('replicate, chat requests', () => {
  it('are one text and its settings, zeros included', async () => {
    const messages = [
      { role: 'system', content: 'You are terse.' },
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'reply' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'sec' },
          { type: 'text', text: 'ond' },
        ],
      },
    ];
    const settings = {
      max_tokens: 64,
      temperature: 0,
      top_p: 0,
      top_k: 0,
      seed: 0,
      presence_penalty: 0,
      frequency_penalty: 0,
    };
    const { url, body, headers, ignored } = await sentBy(
      replicate,
      'chat',
      chat({ messages, ...settings, stop: ['END', '###'] }),
    );
    expect(url).to.equal(`${ROOT}/models/${MODEL}/predictions`);
    expect(body).to.deep.equal({
      input: {
        prompt: 'system: You are terse.\nuser: first\nassistant: reply\nuser: second\nassistant: ',
        ...settings,
        stop_sequences: 'END,###',
      },
    });
    expect([headers, ignored]).to.deep.equal([{ prefer: 'wait' }, []]);
  });

  it('ask for a stream, and do not wait then', async () => {
    const { body, headers } = await sentBy(replicate, 'chat', chat({ temperature: null }), { stream: true });
    expect([body, headers]).to.deep.equal([{ input: { prompt: 'user: hi\nassistant: ' }, stream: true }, {}]);
  });

  it('name what cannot travel', async () => {
    expect(
      (
        await sentBy(
          replicate,
          'chat',
          chat({ reasoning_effort: 'low', metadata: {}, stream_options: {}, n: 2, tools: [] }),
        )
      ).ignored,
    ).to.deep.equal(['reasoning_effort', 'metadata']);
    const comma = await sentBy(replicate, 'chat', chat({ stop: ['a,b', 'c'] }));
    expect([comma.body.input.stop_sequences, comma.ignored]).to.deep.equal(['c', ['stop']]);
    expect((await sentBy(replicate, 'chat', chat({ stop: [] }))).body.input).to.not.have.property('stop_sequences');
  });

  it('read text only, in whatever turn', async () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 't' },
          { type: 'image_url', image_url: { url: 'u' } },
        ],
      },
      { role: 'user', content: 'hi' },
    ];
    const refusal = await refusedBy(replicate, 'chat', chat({ messages }));
    expect([refusal.code, refusal.message]).to.satisfy(
      ([code, message]: string[]) =>
        code === 'invalid_request' && message!.includes('messages[0].content[1]') && message!.includes('image_url'),
    );
  });
});

describe('replicate, chat answers', () => {
  it('are what a prediction put out, with what it counted', () => {
    const reply = translateReply(replicate, callFor(MODEL), file('chat/reply'));
    expect(reply.choices).to.deep.equal([
      { index: 0, message: { role: 'assistant', content: 'conformance ok' }, finish_reason: 'stop' },
    ]);
    expect([reply.id, reply.usage]).to.deep.equal([
      'gm3qorzdhgbfurvjtvhg6dckhu',
      { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    ]);
    const content = (output: unknown, metrics?: unknown): unknown[] => {
      const {
        choices: [choice],
        usage,
      } = translateReply(replicate, callFor(MODEL), { status: 'succeeded', output, metrics });
      return [choice?.message.content, usage];
    };
    expect(content('whole', { input_token_count: 0, output_token_count: 0 })).to.deep.equal(['whole', undefined]);
    expect(content(['a', 7, null, 'b'], 'x')).to.deep.equal(['ab', undefined]);
    expect(content([])).to.deep.equal(['', undefined]);
  });

  it('are unusable without success or output', async () => {
    const odd = [
      null,
      [],
      {},
      { status: 'succeeded' },
      { status: 'succeeded', output: null },
      { status: 'succeeded', output: { a: 1 } },
      { status: 'processing', output: ['a'] },
      { output: 'a' },
      'text',
    ];
    for (const body of odd)
      expect(await unusableTo(replicate, 'chat', chat(), body), JSON.stringify(body)).to.be.a('string');
  });
});

describe('replicate, images', () => {
  const request = { model: 'black-forest-labs/flux-schnell', prompt: 'p' };

  it('are asked for with number and size', async () => {
    const { url, body, headers, ignored } = await sentBy(replicate, 'images', {
      ...request,
      n: 2,
      size: '640x480',
      quality: 'hd',
      style: 'vivid',
      user: 'u',
      response_format: 'url',
    });
    expect(url).to.equal(`${ROOT}/models/black-forest-labs/flux-schnell/predictions`);
    expect([body, headers, ignored]).to.deep.equal([
      { input: { prompt: 'p', num_outputs: 2, width: 640, height: 480 } },
      { prefer: 'wait' },
      ['quality', 'style', 'user'],
    ]);
    for (const size of [undefined, null, '', 'auto'])
      expect((await sentBy(replicate, 'images', { ...request, size })).body).to.deep.equal({ input: { prompt: 'p' } });
    expect((await sentBy(replicate, 'images', { ...request, model: 'a/b:v1' })).body).to.deep.equal({
      version: 'v1',
      input: { prompt: 'p' },
    });
  });

  it('of sizes that are none are refused', async () => {
    for (const size of [
      'big',
      '10',
      '10x',
      'x10',
      '0x10',
      '10x0',
      '-1x5',
      '1.5x2',
      '10x10x10',
      ' 10x10',
      '1e3x5',
      '99999999x1',
    ])
      expect((await refusedBy(replicate, 'images', { ...request, size })).code, size).to.equal('invalid_request');
  });

  it('come as addresses, from a list or alone', async () => {
    const urls = file('images/reply').output as string[];
    expect(await answeredBy(replicate, 'images', request, file('images/reply'))).to.deep.equal({
      data: urls.map((url) => ({ url })),
    });
    expect(
      await answeredBy(replicate, 'images', request, { status: 'succeeded', output: 'https://i.example/1' }),
    ).to.deep.equal({ data: [{ url: 'https://i.example/1' }] });
    expect(
      await answeredBy(replicate, 'images', request, { status: 'succeeded', output: [7, 'https://i.example/1'] }),
    ).to.deep.equal({ data: [{ url: 'https://i.example/1' }] });
    for (const output of [[], [7], null, '', [''], { url: 'u' }])
      expect(
        await unusableTo(replicate, 'images', request, { status: 'succeeded', output }),
        JSON.stringify(output),
      ).to.be.a('string');
  });
});

describe('replicate, refusals', () => {
  it('have their message in `detail`, and of predictions in `error`', () => {
    expect(faultOf(replicate, 401, golden('replicate/chat/error-401.json'))).to.include({
      code: 'upstream_auth_error',
      said: 'You did not pass a valid authentication token',
    });
    expect(faultOf(replicate, 404, golden('replicate/chat/error-404.json'))).to.include({ code: 'model_not_found' });
    expect(faultOf(replicate, 422, golden('replicate/chat/error-422.json'))).to.include({
      code: 'invalid_request',
      status: 422,
      message: '- input.max_tokens: Must be greater than or equal to 1',
      reason: undefined,
    });
    expect(faultOf(replicate, 502, golden('replicate/chat/failed.json'))).to.include({
      code: 'upstream_error',
      said: 'CUDA out of memory',
    });
    expect(faultOf(replicate, 502, golden('replicate/chat/canceled.json'))).to.include({
      said: 'the prediction is canceled',
    });
    for (const body of ['', '[]', '{}', '{"status":"succeeded"}', '{"status":500}', '{"error":{}}'])
      expect(faultOf(replicate, 500, body), body).to.include({ said: 'Internal Server Error' });
  });

  it('recognise refused content and prompts that are too long by the message', () => {
    expect(faultOf(replicate, 400, golden('replicate/chat/refused.json'))).to.include({
      code: 'invalid_request',
      reason: 'content_policy',
    });
    expect(
      faultOf(replicate, 400, '{"error":"NSFW content detected. Try running it again, or try a different prompt."}'),
    ).to.include({ reason: 'content_policy' });
    expect(faultOf(replicate, 400, '{"error":"Prompt length exceeds maximum input length: 9001"}')).to.include({
      reason: 'context_length',
    });
  });
});
