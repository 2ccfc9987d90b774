import { expect } from 'chai';
import {
  gatewayOf,
  minimal,
  type ProviderGateway,
  replyJson,
  sendText,
  translate,
  type StubHandler,
  wireReply,
} from '../../kit/index.ts';
import { replyError } from '../../../host/upstream/fault.ts';
import { base64OfFloats, type Case, connected, factsOf, goldenJson, moduleOf, serving, VECTORS } from './support.ts';

const PATH = '/v1/embeddings';
const CASES = serving('embeddings');
const NATIVE = new Set(['hugging-face', 'ollama', 'ollama-cloud']);

type Body = Record<string, any>;

const goldenReply =
  ({ name }: Case<'embeddings'>): StubHandler =>
  (_request, response) =>
    replyJson(response, 200, goldenJson(`${name}/embeddings/reply.json`));

/** A request with every field, `encoding_format` apart. */
const full = (model: string): Body => ({
  model,
  input: ['first', 'second'],
  dimensions: 3,
  user: 'u-1',
  input_type: 'query',
  truncate: 'END',
});

/** Fields that a provider renames or leaves out. See docs/reference/providers.md#embeddings. */
const BODIES: Readonly<Record<string, (body: Body) => Body>> = {
  openai: ({ input_type: _type, ...body }) => body,
  mistral: ({ input_type: _type, dimensions, ...body }) => ({
    ...body,
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  }),
  'hugging-face': ({ input }) => ({ inputs: input }),
  ollama: ({ model, input, dimensions }) => ({ model, input, ...(dimensions !== undefined && { dimensions }) }),
  'ollama-cloud': ({ model, input, dimensions }) => ({ model, input, ...(dimensions !== undefined && { dimensions }) }),
};

async function sent(
  { host, upstream }: ProviderGateway,
  one: Case<'embeddings'>,
  request: Body,
): Promise<{ body: Body; format: unknown }> {
  const answer = await host.post(PATH, request);
  expect(answer.status, answer.text).to.equal(200);
  expect(upstream.seen.at(-1)).to.include({ method: 'POST', url: new URL(one.url(upstream.url)).pathname });
  const { encoding_format: format, ...body } = upstream.seen.at(-1)!.json();
  return { body, format };
}

/** Token ids travel on the common wire; native wires refuse them before any call. See docs/reference/data-plane.md#requests-that-a-wire-cannot-hold. */
async function sendsIds(
  { host, upstream }: ProviderGateway,
  { name, model }: Case<'embeddings'>,
  input: readonly unknown[],
): Promise<void> {
  const called = upstream.seen.length;
  const { status, text } = await host.post(PATH, { model, input });
  if (NATIVE.has(name)) expect([status, upstream.seen.length], `${name}: ${text}`).to.deep.equal([400, called]);
  else expect(upstream.seen.at(-1)?.json()['input'], name).to.deep.equal(input);
}

describe('embeddings requests', () => {
  for (const one of CASES) {
    const { name, model } = one;
    const shape = BODIES[name] ?? ((body: Body): Body => body);

    it(`of ${name}: the smallest, and the one with every field set`, async () => {
      const gateway = await gatewayOf(one.facts, goldenReply(one));
      const { body, format } = await sent(gateway, one, minimal('embeddings', model));
      expect(body).to.deep.equal(shape({ model, input: ['first', 'second'] }));
      expect(format, 'unasked').to.be.oneOf(name === 'openai' ? ['float'] : [undefined, 'float']);
      for (const asked of ['float', 'base64']) {
        const { body, format } = await sent(gateway, one, { ...full(model), encoding_format: asked });
        expect(body).to.deep.equal(shape(full(model)));
        expect(format).to.be.oneOf(NATIVE.has(name) ? [undefined] : [undefined, 'float', asked]);
      }
      for (const input of [
        [1, 2],
        [[1, 2], [3]],
      ])
        await sendsIds(gateway, one, input);
    });
  }

  it('of databricks hold no blank text', async () => {
    const { host, upstream } = await gatewayOf(factsOf('databricks'));
    for (const input of ['', '  \n', ['first', ' '], ['']]) {
      const { status, text } = await host.post(PATH, { model: 'databricks-gte-large-en', input });
      expect([status, upstream.seen.length], `${JSON.stringify(input)}: ${text}`).to.deep.equal([400, 0]);
    }
  });

  it('of hugging-face go to one percent-encoded path per segment, and refuse what climbs', async () => {
    const urlOf = async (model: string): Promise<string> =>
      (await translate(await connected('hugging-face'), 'embeddings', minimal('embeddings', model) as never)).sent.url;
    expect(await urlOf('a b/c#d')).to.equal(
      'http://h:9911/hf-inference/models/a%20b/c%23d/pipeline/feature-extraction',
    );
    expect(await urlOf('plain')).to.equal('http://h:9911/hf-inference/models/plain/pipeline/feature-extraction');
    for (const model of ['', '.', '..', 'a/../b', 'a//b', '/a', 'a/']) {
      const refused = await urlOf(model).then(
        () => undefined,
        (error: unknown) => error as { status?: number },
      );
      expect(refused?.status, JSON.stringify(model)).to.equal(400);
    }
  });
});

describe('embeddings replies', () => {
  for (const one of CASES) {
    it(`of ${one.name} are vectors in order, as numbers or base64, whatever came`, async () => {
      const encoded = encode(goldenJson(`${one.name}/embeddings/reply.json`));
      const { host, upstream, answerWith } = await gatewayOf(one.facts);
      for (const upstreamSends of [
        goldenJson(`${one.name}/embeddings/reply.json`),
        ...(NATIVE.has(one.name) ? [] : [encoded]),
      ]) {
        answerWith((_request, response) => replyJson(response, 200, upstreamSends));
        for (const format of [undefined, '', 'float', 'base64']) {
          const answer = await host.post(PATH, {
            ...minimal('embeddings', one.model),
            ...(format !== undefined && { encoding_format: format }),
          });
          expect(answer.status, answer.text).to.equal(200);
          const { object, data, model, usage } = answer.json();
          expect({ object, model }).to.deep.equal({ object: 'list', model: one.model });
          expect(data).to.deep.equal(
            VECTORS.map((vector, index) => ({
              object: 'embedding',
              embedding: format === 'base64' ? base64OfFloats(vector) : vector,
              index,
            })),
          );
          if (one.name === 'hugging-face') expect(usage).to.deep.equal({ prompt_tokens: 0, total_tokens: 0 });
          else if (one.name !== 'together') expect(usage).to.include({ prompt_tokens: 11, total_tokens: 11 });
        }
      }
      const { seen } = upstream;
      const called = seen.length;
      const refused = await host.post(PATH, { ...minimal('embeddings', one.model), encoding_format: 'ubinary' });
      expect([refused.status, seen.length]).to.deep.equal([400, called]);
      expect(refused.json().error)
        .to.include({ code: 'invalid_request' })
        .and.to.have.property('message')
        .that.includes('ubinary');
    });

    it(`of ${one.name} that fall short, or are errors, fail; their status is kept, and no page is quoted`, async () => {
      const { host, answerWith } = await gatewayOf(one.facts);
      for (const body of [
        shorten(goldenJson(`${one.name}/embeddings/reply.json`)),
        { error: { message: 'broken' } },
        { error: 'broken' },
      ]) {
        answerWith((_request, response) => replyJson(response, 200, body));
        const answer = await host.post(PATH, minimal('embeddings', one.model));
        expect(answer.status, `${JSON.stringify(body)} became ${answer.text}`).to.equal(502);
      }
      for (const [status, code] of [
        [401, 'upstream_auth_error'],
        [404, 'model_not_found'],
        [429, 'rate_limit_exceeded'],
        [500, 'upstream_error'],
      ] as const) {
        answerWith((_request, response) => sendText(response, status, 'text/html', '<h1>outside-the-envelope</h1>'));
        const answer = await host.post(PATH, minimal('embeddings', one.model));
        expect(answer.json().error).to.include({ code });
        expect(answer.text).to.not.include('outside-the-envelope');
      }
    });
  }

  it('of hugging-face may be one vector for one text', async () => {
    const { host } = await gatewayOf(factsOf('hugging-face'), (_request, response) =>
      replyJson(response, 200, [0.25, -0.5]),
    );
    expect((await host.post(PATH, { model: 'intfloat/e5-large', input: 'one' })).json().data).to.deep.equal([
      { object: 'embedding', embedding: [0.25, -0.5], index: 0 },
    ]);
  });
});

describe('embeddings errors', () => {
  it('of ollama and ollama-cloud are read in their own shapes', () => {
    const messageOf = (name: string, status: number, body: unknown): unknown =>
      replyError(moduleOf(name), wireReply(body, status), 0).fault?.message;
    expect(messageOf('ollama', 404, goldenJson('ollama/embeddings/error-404.json'))).to.equal(
      'model "none" not found, try pulling it first',
    );
    expect(messageOf('ollama-cloud', 401, goldenJson('ollama-cloud/embeddings/error-401.json'))).to.equal(
      'unauthorized',
    );
    expect(messageOf('ollama-cloud', 404, goldenJson('ollama-cloud/embeddings/error-404.json'))).to.equal('not_found');
    expect(messageOf('ollama-cloud', 404, { error: { code: 'model_missing' } })).to.equal('model_missing');
    expect(messageOf('ollama-cloud', 500, { message: 'flat' })).to.equal('flat');
  });
});

/** A reply with its vectors in base64. */
function encode(reply: Body): Body {
  return Array.isArray(reply['data'])
    ? { ...reply, data: reply['data'].map((item: Body) => ({ ...item, embedding: base64OfFloats(item['embedding']) })) }
    : reply;
}

/** A reply without its last vector. */
function shorten(reply: Body): unknown {
  if (Array.isArray(reply)) return reply.slice(0, 1);
  return 'embeddings' in reply
    ? { ...reply, embeddings: reply['embeddings'].slice(0, 1) }
    : { ...reply, data: reply['data'].slice(0, 1) };
}
