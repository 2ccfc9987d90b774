import { expect } from 'chai';
import { bearer, type ProviderModule } from '../../host/contract/index.ts';
import azure from '../../providers/azure-openai/index.ts';
import {
  ask,
  callFor,
  connected,
  everyCut,
  golden,
  providerContract,
  refusedBy,
  relayStream,
  replyJson,
  rootOf,
  sentBy,
  startHost,
  stubUpstream,
  translateReply,
} from '../kit/index.ts';
import { faultOf, itDeclares, itPassesNothingOn } from './native-support.ts';
import { CHAT, EMBED, FILE } from './support.ts';

const ROOT = 'https://acme.openai.azure.com';
const VARIABLES = { AZURE_OPENAI_ENDPOINT: ROOT, AZURE_OPENAI_DEPLOYMENT: 'gpt-4o-mini' };
const AT = { variables: VARIABLES };
const url = (deployment: string, path: string, version = '2024-10-21'): string =>
  `${ROOT}/openai/deployments/${deployment}${path}?api-version=${version}`;

/** The suite knows bearer tokens only; which header carries the key is looked at below. */
const withBearer: ProviderModule = {
  ...azure,
  connection: { ...azure.connection, open: () => ({ authorize: bearer('AZURE_OPENAI_API_KEY') }) },
};
const below =
  (path: string, deployment: string) =>
  (address: string): string =>
    `${address}/openai/deployments/${deployment}${path}?api-version=2024-10-21`;

providerContract(withBearer, {
  name: 'azure-openai',
  required: ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_DEPLOYMENT'],
  address: 'AZURE_OPENAI_ENDPOINT',
  credential: 'AZURE_OPENAI_API_KEY',
  surfaces: {
    chat: { model: 'gpt-4o-mini', url: below('/chat/completions', 'azure-openai-deployment-0123456789') },
    embeddings: { model: 'text-embedding-3-small', url: below('/embeddings', 'text-embedding-3-small') },
    images: { model: 'gpt-image-1', url: below('/images/generations', 'gpt-image-1') },
    'images.edits': { model: 'gpt-image-2', url: below('/images/edits', 'gpt-image-2') },
    'audio.transcriptions': { model: 'whisper', url: below('/audio/transcriptions', 'whisper') },
    'audio.translations': { model: 'whisper', url: below('/audio/translations', 'whisper') },
    'audio.speech': { model: 'tts', url: below('/audio/speech', 'tts') },
  },
  golden: (file) => golden(`azure-openai/chat/${file}`),
  errors: {
    401: 'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
    404: 'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
  },
});

describe('azure-openai', () => {
  itPassesNothingOn(azure, { batches: true });
  itDeclares(azure, 'f f f f f f f f f f f f f f f f f');

  it('takes the address of a resource, bare or as the portal shows it', async () => {
    for (const address of [ROOT, `${ROOT}/`, ` ${ROOT}/openai`, `${ROOT}/openai/v1/`])
      expect(await rootOf(azure, { AZURE_OPENAI_ENDPOINT: address }), address).to.equal(ROOT);
    expect(await rootOf(azure, { AZURE_OPENAI_ENDPOINT: 'http://h:9911/probe' })).to.equal('http://h:9911/probe');
  });

  it('serves the configured deployment, and no model of the catalog', async () => {
    const { provider } = await connected(azure, VARIABLES);
    expect(provider.configuredModels).to.deep.equal(['gpt-4o-mini']);
    expect(azure).to.include({ catalogModels: false, forwardPath: '/openai/v1' });
  });

  it('does not connect with a deployment that would leave its place in the path', async () => {
    for (const deployment of ['a/b', '..', 'a\\b']) {
      const outcome: unknown = await connected(azure, { AZURE_OPENAI_DEPLOYMENT: deployment }).catch(
        (error: unknown) => error,
      );
      expect(outcome, deployment).to.be.an('error').with.property('message').that.includes('AZURE_OPENAI_DEPLOYMENT');
    }
  });
});

describe('azure-openai, chat', () => {
  it('goes to the configured deployment whatever the model, with one ceiling', async () => {
    const request = { ...CHAT, model: 'gpt-4o', max_completion_tokens: 9 };
    const {
      max_tokens: _dropped,
      reasoning_effort: _refused,
      ...body
    } = request as typeof request & { reasoning_effort?: string };
    const sent = await sentBy(azure, 'chat', request, AT);
    expect([sent.url, sent.body, sent.ignored]).to.deep.equal([
      url('gpt-4o-mini', '/chat/completions'),
      body,
      ['reasoning_effort'],
    ]);
    expect(await sentBy(azure, 'chat', { ...CHAT, model: '../x' }, AT)).to.include({
      url: url('gpt-4o-mini', '/chat/completions'),
    });
    const streamed = await sentBy(azure, 'chat', request, { ...AT, stream: true });
    expect(streamed.body).to.deep.equal({ ...body, stream: true, stream_options: { include_usage: true } });
  });

  it('promotes a lone max_tokens, and invents no ceiling', async () => {
    const { body } = await sentBy(azure, 'chat', CHAT, AT);
    expect(body).to.include({ max_completion_tokens: 5 }).and.not.have.property('max_tokens');
    expect((await sentBy(azure, 'chat', ask() as never, AT)).body).to.not.have.any.keys(
      'max_tokens',
      'max_completion_tokens',
    );
  });

  it('names the version as it is written, and escapes the deployment', async () => {
    const variables = {
      ...VARIABLES,
      AZURE_OPENAI_API_VERSION: '2025-04-01-preview',
      AZURE_OPENAI_DEPLOYMENT: 'my deploy',
    };
    expect((await sentBy(azure, 'chat', CHAT, { variables })).url).to.equal(
      url('my%20deploy', '/chat/completions', '2025-04-01-preview'),
    );
  });

  it('reads the same answer whole and from every cut of its stream, filter annotations or not', () => {
    const call = callFor('gpt-4o-mini');
    const {
      choices: [whole],
      usage,
    } = translateReply(azure, call, JSON.parse(golden('azure-openai/chat/reply.json')));
    for (const pieces of everyCut(Buffer.from(golden('azure-openai/chat/filters.txt')))) {
      const { reply, failure, chunks } = relayStream(azure, { ...call, stream: true }, pieces);
      expect(failure).to.equal(undefined);
      expect(reply.choices[0]?.message).to.include({ role: 'assistant', content: whole?.message.content });
      expect([reply.choices[0]?.finish_reason, reply.usage, reply.id]).to.deep.equal([
        whole?.finish_reason,
        usage,
        'chatcmpl-azure-01',
      ]);
      expect(chunks.at(-1).usage).to.include({ prompt_tokens: 11, completion_tokens: 7 });
    }
  });

  it('reads an answer that was filtered away', () => {
    const {
      choices: [choice],
    } = translateReply(azure, callFor('m'), JSON.parse(golden('azure-openai/chat/filtered.json')));
    expect([choice?.message.content, choice?.finish_reason]).to.deep.equal([null, 'content_filter']);
  });
});

describe('azure-openai, other surfaces', () => {
  const cases = [
    ['embeddings', '/embeddings', EMBED],
    ['images', '/images/generations', { model: 'm', prompt: 'p' }],
    ['images.edits', '/images/edits', { model: 'm', prompt: 'p', form: [{ name: 'image', file: FILE }] }],
    ['audio.transcriptions', '/audio/transcriptions', { model: 'm', file: FILE }],
    ['audio.translations', '/audio/translations', { model: 'm', file: FILE }],
    ['audio.speech', '/audio/speech', { model: 'm', input: 'hi', voice: 'v' }],
  ] as const;

  for (const [surface, path, request] of cases) {
    it(`${surface} goes to the deployment of the request's model, else to the configured one`, async () => {
      for (const [model, deployment] of [
        ['my deploy', 'my%20deploy'],
        ['ünï#?', '%C3%BCn%C3%AF%23%3F'],
        ['', 'gpt-4o-mini'],
      ] as const) {
        expect((await sentBy(azure, surface, { ...request, model }, AT)).url, model).to.equal(url(deployment, path));
      }
      for (const model of ['.', '..', 'a/b', 'a\\b', '../../x'])
        expect((await refusedBy(azure, surface, { ...request, model }, AT)).code, model).to.equal('invalid_request');
    });
  }

  it('embeddings keep their format, leave the input type out, and refuse empty texts', async () => {
    for (const encoding_format of ['float', 'base64']) {
      const { body, ignored } = await sentBy(azure, 'embeddings', { ...EMBED, encoding_format }, AT);
      expect([body, ignored]).to.deep.equal([
        { model: 'm', input: ['a', 'b'], dimensions: 8, truncate: 'END', encoding_format },
        ['input_type'],
      ]);
    }
    expect((await sentBy(azure, 'embeddings', { model: 'm', input: [1, 2] }, AT)).body).to.deep.equal({
      model: 'm',
      input: [1, 2],
    });
    for (const input of ['', ['a', '']])
      expect((await refusedBy(azure, 'embeddings', { model: 'm', input }, AT)).code).to.equal('invalid_request');
  });

  it('images and their edits name no model, speech and recordings an empty one', async () => {
    expect(
      (await sentBy(azure, 'images', { model: 'm', prompt: 'p', n: 2, response_format: 'url', quality: 'hd' }, AT))
        .body,
    ).to.deep.equal({ prompt: 'p', n: 2, response_format: 'url', quality: 'hd' });
    expect((await sentBy(azure, 'audio.speech', { model: 'm', input: 'hi', voice: 'v' }, AT)).body).to.deep.equal({
      model: '',
      input: 'hi',
      voice: 'v',
      response_format: 'mp3',
    });
    for (const surface of ['audio.transcriptions', 'audio.translations'] as const) {
      expect((await sentBy(azure, surface, { model: 'm', file: FILE }, AT)).form).to.deep.equal([
        { name: 'file', file: FILE },
        { name: 'model', value: '' },
      ]);
    }
    const form = [
      { name: 'model', value: 'm' },
      { name: 'image', file: FILE },
    ];
    expect((await sentBy(azure, 'images.edits', { model: 'm', form }, AT)).form).to.deep.equal([
      { name: 'image', file: FILE, contentType: undefined },
    ]);
  });
});

describe('azure-openai, refusals', () => {
  it('know filtered content and prompts that are too long', () => {
    const file = (name: string): string => golden(`azure-openai/${name}.json`);
    expect(faultOf(azure, 400, file('chat/error-400-content')))
      .to.include({ code: 'invalid_request', status: 400, reason: 'content_policy' })
      .and.have.property('message')
      .that.includes('content management policy');
    expect(faultOf(azure, 400, file('images/error-400-content'))).to.include({ reason: 'content_policy' });
    expect(faultOf(azure, 400, file('chat/error-400-context'))).to.include({
      code: 'invalid_request',
      reason: 'context_length',
    });
    expect(faultOf(azure, 500, file('chat/error-400-content'))).to.include({
      code: 'upstream_error',
      reason: undefined,
    });
  });

  it('are read from their status otherwise, whatever the body', () => {
    expect(faultOf(azure, 401, golden('azure-openai/chat/error-401.json')))
      .to.include({ code: 'upstream_auth_error', reason: 'key' })
      .and.have.property('said')
      .that.includes('invalid subscription key');
    expect(faultOf(azure, 404, golden('azure-openai/chat/error-404.json'))).to.include({ code: 'model_not_found' });
    for (const body of ['', '[]', 'null', '{"error":7}', '{"error":{"innererror":[]}}', '<html>'])
      expect(faultOf(azure, 400, body), body).to.include({
        code: 'invalid_request',
        said: 'Bad Request',
        reason: undefined,
      });
    expect(faultOf(azure, 401, '{"statusCode":401,"message":"no key"}')).to.include({ said: 'no key' });
  });
});

describe('azure-openai, live', () => {
  it('answers, streams and fails through its own address, with its key and nothing else', async () => {
    const upstream = await stubUpstream((request, response) => {
      if (request.text.includes('"fail"'))
        replyJson(response, 400, JSON.parse(golden('azure-openai/chat/error-400-content.json')));
      else if (request.json()['stream'])
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(golden('azure-openai/chat/stream.txt'));
      else response.writeHead(200, { 'content-type': 'application/json' }).end(golden('azure-openai/chat/reply.json'));
    });
    const variables = {
      AZURE_OPENAI_API_KEY: 'azure-key-0123456789',
      AZURE_OPENAI_ENDPOINT: upstream.url,
      AZURE_OPENAI_DEPLOYMENT: 'gpt-4o-mini',
    };
    const host = await startHost({ targets: [{ virtual_key: 'azure-openai' }] }, { variables });
    const whole = await host.post('/v1/chat/completions', ask('hi', { model: 'gpt-4o-mini' }));
    expect(whole.json()).to.include({ provider: 'azure-openai', model: 'gpt-4o-mini' });
    const streamed = await host.post('/v1/chat/completions', ask('hi', { model: 'gpt-4o-mini', stream: true }));
    expect(streamed.events().at(-1)).to.equal('[DONE]');
    expect(
      streamed
        .events()
        .slice(0, -1)
        .every((chunk) => typeof chunk.object === 'string' && chunk.model === 'gpt-4o-mini'),
    ).to.equal(true);
    expect((await host.post('/v1/chat/completions', ask('fail', { model: 'gpt-4o-mini' }))).status).to.equal(400);
    for (const { headers, url: path } of upstream.seen) {
      expect(headers['api-key']).to.equal('azure-key-0123456789');
      expect(headers).to.not.have.property('authorization');
      expect(path).to.equal('/openai/deployments/gpt-4o-mini/chat/completions?api-version=2024-10-21');
    }
    const { data } = (await host.get('/v1/models')).json();
    expect(data.map(({ id }: { id: string }) => id)).to.deep.equal(['gpt-4o-mini']);
  });
});
