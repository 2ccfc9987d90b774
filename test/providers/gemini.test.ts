import { expect } from 'chai';
import { bearer, type ProviderModule } from '../../host/contract/index.ts';
import { replyError } from '../../host/upstream/fault.ts';
import gemini from '../../providers/gemini/index.ts';
import { connected, failedReply, golden, providerContract, rootOf, sentBy } from '../kit/index.ts';

const HI = { model: 'gemini-2.5-flash', messages: [{ role: 'user', content: 'hi' }] };

/** The suite knows bearer tokens only; which header carries the key is looked at below. */
const withBearer: ProviderModule = {
  ...gemini,
  connection: { ...gemini.connection, authorize: bearer('GEMINI_API_KEY') },
};
const below =
  (path: string) =>
  (address: string): string =>
    `${/^https?:\/\/[^/]+\/[^/]/i.test(address) ? address : `${address}/v1beta`}${path}`;

providerContract(withBearer, {
  name: 'gemini',
  required: ['GEMINI_API_KEY'],
  address: 'GEMINI_BASE_URL',
  credential: 'GEMINI_API_KEY',
  surfaces: {
    chat: { model: 'gemini-2.5-flash', url: below('/models/gemini-2.5-flash:generateContent') },
    embeddings: { model: 'gemini-embedding-001', url: below('/models/gemini-embedding-001:batchEmbedContents') },
    images: { model: 'imagen-4.0-generate-001', url: below('/models/imagen-4.0-generate-001:predict') },
  },
  golden: (file) =>
    golden(`gemini/chat/${file}`).replace(
      '"responseId": "Il0taoSYJ5Cez7IP"',
      '"responseId": "Il0taoSYJ5Cez7IP", "id": "Il0taoSYJ5Cez7IP"',
    ),
  errors: {
    401: 'Request had invalid authentication credentials.',
    404: 'models/none is not found for API version v1beta.',
  },
});

const MATRIX = JSON.parse(golden('capability-matrix.json')) as { readonly params: readonly string[] };
const LETTERS: ReadonlyMap<unknown, string> = new Map([
  ['forward', 'f'],
  ['translate', 'T'],
  ['unsupported', '–'],
]);

describe('gemini', () => {
  it('declares its row of the capability matrix', () => {
    expect(MATRIX.params.map((param) => LETTERS.get(gemini.params[param] ?? 'forward')).join(' ')).to.equal(
      'f f f f f – f f f f f T T T – – –',
    ); // docs/providers.md#fields-of-chat
    expect(Object.keys(gemini.params).filter((param) => !MATRIX.params.includes(param))).to.deep.equal([]);
  });

  it('resolves its root: the default, a bare host with its version, a path as it is', async () => {
    expect(await rootOf(gemini)).to.equal('https://generativelanguage.googleapis.com/v1beta');
    expect(await rootOf(gemini, { GEMINI_BASE_URL: 'http://h:9911' })).to.equal('http://h:9911/v1beta');
    expect(await rootOf(gemini, { GEMINI_BASE_URL: 'http://h:9911/probe/' })).to.equal('http://h:9911/probe');
  });

  it('sends its key as a header, never in the address', async () => {
    const { provider } = await connected(gemini, { GEMINI_API_KEY: 'AIza-key' });
    const { url } = await sentBy(gemini, 'chat', HI, { stream: true });
    expect(
      await provider.authorize({ method: 'POST', url, headers: {}, body: undefined }, provider.credentials),
    ).to.deep.equal({ 'x-goog-api-key': 'AIza-key' });
    expect(url).to.equal(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    );
  });

  it('names the model as one escaped segment, without its collection', async () => {
    const urlOf = async (model: string): Promise<string> =>
      (await sentBy(gemini, 'chat', { ...HI, model })).url.replace(/^.*v1beta/, '');
    expect(await urlOf('models/gemini-2.5-flash')).to.equal('/models/gemini-2.5-flash:generateContent');
    expect(await urlOf('a b#c')).to.equal('/models/a%20b%23c:generateContent');
    expect(await urlOf('tunedModels/x')).to.equal('/models/tunedModels%2Fx:generateContent');
    for (const model of ['.', '..', 'models/', 'a\\b']) {
      expect(
        await urlOf(model).then(
          () => 'sent',
          (error: { code: string }) => error.code,
        ),
        model,
      ).to.equal('invalid_request');
    }
  });

  it('serves chat, embeddings and images; nothing is forwarded and nothing listed', () => {
    const { passthrough, responses, batches, anyModel, discovery, wire, imageFormats } = gemini;
    expect(Object.keys(gemini.translators).toSorted()).to.deep.equal(['chat', 'embeddings', 'images']);
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
});

describe('gemini, errors', () => {
  const said = (file: string, status: number): ReturnType<typeof replyError> =>
    replyError(gemini, failedReply(golden(`gemini/chat/${file}`), status) as never, 0);

  it("have the vendor's message", () => {
    expect(said('error-401.json', 401))
      .to.deep.include({ code: 'upstream_auth_error' })
      .and.have.nested.property('fault.message', 'Request had invalid authentication credentials.');
    expect(said('error-404.json', 404))
      .to.deep.include({ code: 'model_not_found' })
      .and.have.nested.property('fault.message', 'models/none is not found for API version v1beta.');
  });

  it('of a wrong key are a refused credential, although they say 400', () => {
    expect(said('error-400-key.json', 400)).to.include({ code: 'upstream_auth_error', status: 502 });
  });

  it('of prompts that are too long, and of refused ones, say so to failover', () => {
    expect(said('error-400-length.json', 400))
      .to.include({ code: 'invalid_request' })
      .and.have.nested.property('fault.reason', 'context_length');
    const refused = {
      error: {
        code: 400,
        message: "This prompt contains words that violate Google's Responsible AI practices.",
        status: 'INVALID_ARGUMENT',
      },
    };
    expect(replyError(gemini, failedReply(refused) as never, 0)).to.have.nested.property(
      'fault.reason',
      'content_policy',
    );
    const other = { error: { code: 400, message: 'Invalid value at contents[0]', status: 'INVALID_ARGUMENT' } };
    expect(replyError(gemini, failedReply(other) as never, 0)).to.not.have.nested.property('fault.reason');
  });

  it('carry the wait their body states, unless a header states one', () => {
    expect(said('error-429.json', 429)).to.include({ code: 'rate_limit_exceeded', retryAfterMs: 34_500 });
    const reply = { ...failedReply(golden('gemini/chat/error-429.json'), 429), headers: { 'retry-after': '7' } };
    expect(replyError(gemini, reply as never, 0)).to.include({ retryAfterMs: 7000 });
  });

  it('of strange bodies keep their status and quote nothing', () => {
    for (const body of [
      '',
      'null',
      '[]',
      '[null]',
      '{"error":7}',
      '{"error":{"message":7,"details":{}}}',
      '{"error":{"details":[null,{"retryDelay":7},{"retryDelay":"-3s"},{"retryDelay":"0s"}]}}',
      '<html>',
    ]) {
      const { code, fault, retryAfterMs } = replyError(gemini, failedReply(body, 503) as never, 0);
      expect({ code, status: fault?.status, retryAfterMs }, body).to.deep.equal({
        code: 'upstream_error',
        status: 503,
        retryAfterMs: undefined,
      });
      expect(fault?.message, body).to.equal('Service Unavailable');
    }
  });
});
