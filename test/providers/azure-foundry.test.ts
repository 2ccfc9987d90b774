import { expect } from 'chai';
import { bearer, type ProviderModule } from '../../host/contract/index.ts';
import foundry from '../../providers/azure-foundry/index.ts';
import {
  ask,
  callFor,
  everyCut,
  golden,
  providerContract,
  relayStream,
  replyJson,
  rootOf,
  sentBy,
  startHost,
  stubUpstream,
  translateReply,
} from '../kit/index.ts';
import { faultOf, itDeclares, itPassesNothingOn } from './native-support.ts';
import { CHAT, EMBED } from './support.ts';

const ROOT = 'https://acme.services.ai.azure.com';
const AT = { variables: { AZURE_FOUNDRY_ENDPOINT: ROOT } };

const { chat, ...others } = foundry.translators;
/** The suite knows bearer tokens and no further header; both are looked at below. */
const plain: ProviderModule = {
  ...foundry,
  connection: { ...foundry.connection, authorize: bearer('AZURE_FOUNDRY_API_KEY') },
  translators: {
    ...others,
    chat: { ...chat!, toUpstream: (request, call) => ({ ...chat!.toUpstream(request, call), headers: {} }) },
  },
};

providerContract(plain, {
  name: 'azure-foundry',
  required: ['AZURE_FOUNDRY_API_KEY', 'AZURE_FOUNDRY_ENDPOINT'],
  address: 'AZURE_FOUNDRY_ENDPOINT',
  credential: 'AZURE_FOUNDRY_API_KEY',
  addsVersion: true,
  surfaces: {
    chat: { model: 'gpt-4o', url: (address) => `${address}/openai/v1/chat/completions` },
    embeddings: { model: 'text-embedding-3-large', url: (address) => `${address}/openai/v1/embeddings` },
  },
  golden: (file) => golden(`azure-foundry/chat/${file}`),
  errors: { 401: 'Access denied due to invalid subscription key or wrong API endpoint.', 404: 'Unknown model: none' },
});

describe('azure-foundry', () => {
  itPassesNothingOn(foundry, { anyModel: true });
  itDeclares(foundry, 'f f f f f f f f f f f f f f f f f');

  it('takes the address of a resource, bare or as the portal shows it, and reads a version it never sends', async () => {
    for (const address of [ROOT, `${ROOT}///`, `${ROOT}/openai/v1/`])
      expect(await rootOf(foundry, { AZURE_FOUNDRY_ENDPOINT: address }), address).to.equal(ROOT);
    const { url } = await sentBy(foundry, 'chat', CHAT, {
      variables: { ...AT.variables, AZURE_FOUNDRY_API_VERSION: '2024-05-01-preview' },
    });
    expect(url).to.equal(`${ROOT}/openai/v1/chat/completions`);
  });

  it('sends chat with its model, one ceiling, and the wish to drop what the model does not know', async () => {
    const { max_tokens, ...rest } = CHAT;
    const { body, headers, ignored } = await sentBy(foundry, 'chat', CHAT, AT);
    expect([body, headers, ignored]).to.deep.equal([
      { ...rest, max_completion_tokens: max_tokens },
      { 'extra-parameters': 'drop' },
      [],
    ]);
    const streamed = await sentBy(foundry, 'chat', CHAT, { ...AT, stream: true });
    expect(streamed.body).to.include({ stream: true });
    expect(streamed.headers).to.deep.equal({ 'extra-parameters': 'drop' });
  });

  it('sends embeddings with their input type', async () => {
    const { url, body, headers } = await sentBy(foundry, 'embeddings', EMBED, AT);
    expect([url, body, headers]).to.deep.equal([`${ROOT}/openai/v1/embeddings`, EMBED, {}]);
  });

  it('reads the same answer whole and from every cut of its stream', () => {
    const call = callFor('gpt-4o');
    const {
      choices: [whole],
      usage,
    } = translateReply(foundry, call, JSON.parse(golden('azure-foundry/chat/reply.json')));
    for (const pieces of everyCut(Buffer.from(golden('azure-foundry/chat/stream.txt')))) {
      const { reply, failure } = relayStream(foundry, { ...call, stream: true }, pieces);
      expect([failure, reply.choices[0]?.message.content, reply.choices[0]?.finish_reason, reply.usage]).to.deep.equal([
        undefined,
        whole?.message.content,
        whole?.finish_reason,
        usage,
      ]);
    }
  });

  it('knows refused content and prompts that are too long', () => {
    expect(faultOf(foundry, 400, golden('azure-openai/chat/error-400-content.json'))).to.include({
      reason: 'content_policy',
    });
    expect(faultOf(foundry, 400, golden('azure-foundry/chat/error-400-context.json'))).to.include({
      reason: 'context_length',
    });
    expect(faultOf(foundry, 404, golden('azure-foundry/chat/error-404.json'))).to.include({
      code: 'model_not_found',
      said: 'Unknown model: none',
      reason: undefined,
    });
    expect(faultOf(foundry, 401, golden('azure-foundry/chat/error-401.json'))).to.include({
      code: 'upstream_auth_error',
    });
  });

  it('answers, streams and fails live, with its key and nothing else, any model that no target owns', async () => {
    const upstream = await stubUpstream((request, response) => {
      if (request.text.includes('"fail"'))
        replyJson(response, 404, JSON.parse(golden('azure-foundry/chat/error-404.json')));
      else if (request.json()['stream'])
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(golden('azure-foundry/chat/stream.txt'));
      else response.writeHead(200, { 'content-type': 'application/json' }).end(golden('azure-foundry/chat/reply.json'));
    });
    const variables = { AZURE_FOUNDRY_API_KEY: 'foundry-key-0123456789', AZURE_FOUNDRY_ENDPOINT: upstream.url };
    const host = await startHost({ targets: [{ virtual_key: 'azure-foundry' }] }, { variables });
    const request = { model: 'some/finetune-7' };
    expect((await host.post('/v1/chat/completions', ask('hi', request))).json()).to.include({
      provider: 'azure-foundry',
      model: 'some/finetune-7',
    });
    expect((await host.post('/v1/chat/completions', ask('hi', { ...request, stream: true }))).events().at(-1)).to.equal(
      '[DONE]',
    );
    expect((await host.post('/v1/chat/completions', ask('fail', request))).status).to.equal(404);
    for (const { headers, url } of upstream.seen) {
      expect([headers['api-key'], headers['authorization'], headers['extra-parameters'], url]).to.deep.equal([
        'foundry-key-0123456789',
        undefined,
        'drop',
        '/openai/v1/chat/completions',
      ]);
    }
  });
});
