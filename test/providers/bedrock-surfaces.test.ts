import { expect } from 'chai';
import type { Send, WireReply, WireRequest } from '../../host/contract/index.ts';
import bedrock from '../../providers/bedrock/index.ts';
import { callFor, refusedBy, sentBy, unaryReply } from '../kit/index.ts';
import { BEARER, fixture } from './bedrock-support.ts';

const TITAN_EMBED = 'amazon.titan-embed-text-v2:0';
const COHERE_EMBED = 'cohere.embed-english-v3';
const options = { variables: BEARER };

const embed = (model: string, input: unknown, more: object = {}): any => ({ model, input, ...more });
const image = (model: string, more: object = {}): any => ({ model, prompt: 'a harbour', ...more });

/** The reply in the common wire. */
function answered(
  surface: 'embeddings' | 'images' | 'rerank',
  request: any,
  body: unknown,
  headers: Record<string, string> = {},
): any {
  return bedrock.translators[surface]?.fromUpstream(
    unaryReply(body, 200, headers),
    callFor(request.model),
    request as never,
  );
}

/** Why a body is not a reply; `undefined` when it is one. */
function unusable(...reply: Parameters<typeof answered>): string | undefined {
  try {
    answered(...reply);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function refusal(surface: 'embeddings' | 'images', request: any): Promise<string> {
  const { code, message } = await refusedBy(bedrock, surface, request, options);
  return `${code}: ${message}`;
}

describe('bedrock, embeddings of Titan', () => {
  /** Runs a request through the provider's round trips; each text is answered when `release` says so. */
  async function converse(
    texts: readonly string[],
    answer: (text: string) => Promise<WireReply>,
    more: object = {},
  ): Promise<{ reply: WireReply; asked: any[]; most: number }> {
    const asked: any[] = [];
    const counted = { open: 0, most: 0 };
    const send: Send = async ({ body }) => {
      asked.push(body);
      counted.open += 1;
      counted.most = Math.max(counted.most, counted.open);
      await new Promise(setImmediate);
      const reply = await answer((body as any).inputText);
      counted.open -= 1;
      return reply;
    };
    const wire = bedrock.translators.embeddings?.toUpstream(
      embed(TITAN_EMBED, texts, more),
      callFor(TITAN_EMBED),
    ) as WireRequest;
    const reply = await bedrock.converse?.(send, wire, callFor(TITAN_EMBED));
    return { reply: reply as WireReply, asked, most: counted.most };
  }

  const vector = async (text: string): Promise<WireReply> => ({
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ embedding: [text.length, 0.5], inputTextTokenCount: 2 })),
  });

  it('makes a call per text, at most 4 at a time, and keeps their order', async () => {
    const texts = Array.from({ length: 11 }, (_, at) => 'x'.repeat(at + 1));
    const late = async (text: string): Promise<WireReply> => {
      for (let turns = 12 - text.length; turns > 0; turns -= 1) await new Promise(setImmediate); // the first answer last
      return vector(text);
    };
    const { reply, asked, most } = await converse(texts, late, { dimensions: 256 });
    expect(most).to.equal(4);
    expect(asked.map(({ inputText }) => inputText)).to.have.members(texts);
    expect(asked[0]).to.deep.equal({ inputText: 'x', dimensions: 256 });
    const { data, usage } = answered('embeddings', embed(TITAN_EMBED, texts), reply.body);
    expect(data.map(({ embedding, index }: any) => [embedding[0], index])).to.deep.equal(
      texts.map(({ length }, at) => [length, at]),
    );
    expect(usage).to.deep.equal({ prompt_tokens: 22, total_tokens: 22 });
  });

  it('answers with the first failure, and calls no further', async () => {
    const busy: WireReply = { status: 429, headers: { 'retry-after': '3' }, body: Buffer.from('{"message":"slow"}') };
    const { reply, asked } = await converse(
      Array.from({ length: 20 }, (_, at) => `t${at}`),
      async (text) => (text === 't1' ? busy : vector(text)),
    );
    expect(reply).to.equal(busy);
    expect(asked.length).to.be.lessThan(10);
    const broken = await converse(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], async () => {
      throw new Error('reset');
    }).catch((error: unknown) => String(error));
    expect(broken).to.equal('Error: reset');
  });

  it('sends one text the same way, to the model as it came', async () => {
    const { url, body, ignored } = await sentBy(
      bedrock,
      'embeddings',
      embed('us.amazon.titan-embed-text-v1', 'hi', { user: 'u', encoding_format: 'base64' }),
      options,
    );
    expect(url).to.match(/\/model\/us\.amazon\.titan-embed-text-v1\/invoke$/);
    expect({ body, ignored }).to.deep.equal({ body: { inputText: ['hi'] }, ignored: ['user'] });
  });

  it('refuses dimensions where they are fixed, token ids, and models that do not embed', async () => {
    expect(await refusal('embeddings', embed('amazon.titan-embed-text-v1', 'hi', { dimensions: 256 }))).to.match(
      /^invalid_request: dimensions/,
    );
    expect(await refusal('embeddings', embed(TITAN_EMBED, [[1, 2]]))).to.match(/^invalid_request: input/);
    for (const model of [
      'amazon.titan-embed-image-v1',
      'amazon.nova-2-multimodal-embeddings-v1:0',
      'amazon.nova-lite-v1:0',
      'm',
    ])
      expect(await refusal('embeddings', embed(model, 'hi'))).to.match(/^invalid_request: bedrock cannot embed/);
  });

  it('fails when an answer is not a vector', async () => {
    for (const answers of [[{}], [], [null], [{ embedding: 'x' }], 7, [{ embedding: [1] }, { embedding: [1] }]]) {
      expect(unusable('embeddings', embed(TITAN_EMBED, 'hi'), { answers }), JSON.stringify(answers)).to.be.a('string');
    }
    expect(
      answered('embeddings', embed(TITAN_EMBED, 'hi'), { answers: [fixture('embeddings/titan-reply.json')] }).data[0]
        .embedding,
    ).to.deep.equal([0.25, -0.5, 1]);
  });
});

describe('bedrock, embeddings of Cohere', () => {
  it('sends all texts at once, as documents unless said', async () => {
    const { url, body } = await sentBy(bedrock, 'embeddings', embed(COHERE_EMBED, ['first', 'second']), options);
    expect(url).to.match(/\/model\/cohere\.embed-english-v3\/invoke$/);
    expect(body).to.deep.equal({ texts: ['first', 'second'], input_type: 'search_document' });
    const four = await sentBy(
      bedrock,
      'embeddings',
      embed('global.cohere.embed-v4:0', 'x', { input_type: 'search_query' }),
      options,
    );
    expect(four.body).to.deep.equal({ texts: ['x'], input_type: 'search_query', embedding_types: ['float'] });
  });

  it('refuses what it cannot express', async () => {
    expect(await refusal('embeddings', embed(COHERE_EMBED, 'x', { dimensions: 8 }))).to.match(
      /^invalid_request: dimensions/,
    );
    expect(await refusal('embeddings', embed(COHERE_EMBED, 'x', { input_type: 'mood' }))).to.equal(
      'invalid_request: input_type "mood" is none of search_document, search_query, classification, clustering',
    );
  });

  it('reads both forms of answers, and counts tokens from body or header', async () => {
    const request = embed(COHERE_EMBED, ['first', 'second']);
    const plain = answered('embeddings', request, fixture('embeddings/cohere-reply.json'));
    expect(plain.data.map(({ embedding }: any) => embedding)).to.deep.equal([
      [0.25, -0.5, 1],
      [0.125, 0, -2],
    ]);
    expect(plain.usage).to.deep.equal({ prompt_tokens: 6, total_tokens: 6 });
    const typed = answered('embeddings', request, fixture('embeddings/cohere-v4-reply.json'), {
      'x-amzn-bedrock-input-token-count': '9',
    });
    expect(typed).to.deep.include({ data: plain.data, usage: { prompt_tokens: 9, total_tokens: 9 } });
    for (const body of [{ embeddings: [[1]] }, { embeddings: { int8: [[1], [1]] } }, {}, { embeddings: [[], []] }])
      expect(unusable('embeddings', request, body), JSON.stringify(body)).to.be.a('string');
  });
});

describe('bedrock, images', () => {
  it('asks Nova Canvas and Titan', async () => {
    for (const model of ['amazon.nova-canvas-v1:0', 'us.amazon.titan-image-generator-v2:0']) {
      const { url, body, ignored } = await sentBy(
        bedrock,
        'images',
        image(model, { n: 2, size: '1024x768', quality: 'hd', style: 'vivid', response_format: 'b64_json' }),
        options,
      );
      expect(url).to.match(/\/model\/[^/]+\/invoke$/);
      expect({ body, ignored }).to.deep.equal({
        body: {
          taskType: 'TEXT_IMAGE',
          textToImageParams: { text: 'a harbour' },
          imageGenerationConfig: { numberOfImages: 2, width: 1024, height: 768, quality: 'premium' },
        },
        ignored: ['style'],
      });
    }
    const bare = await sentBy(
      bedrock,
      'images',
      image('amazon.nova-canvas-v1:0', { size: 'large', quality: 'standard' }),
      options,
    );
    expect({ config: bare.body.imageGenerationConfig, ignored: bare.ignored }).to.deep.equal({
      config: { quality: 'standard' },
      ignored: ['size'],
    });
    expect((await sentBy(bedrock, 'images', image('amazon.nova-canvas-v1:0'), options)).body).to.not.have.property(
      'imageGenerationConfig',
    );
  });

  it('asks Stable Diffusion XL, and no other of its family', async () => {
    const { body, ignored } = await sentBy(
      bedrock,
      'images',
      image('stability.stable-diffusion-xl-v1', { n: 2, size: '512x512' }),
      options,
    );
    expect({ body, ignored }).to.deep.equal({
      body: { text_prompts: [{ text: 'a harbour' }], samples: 2 },
      ignored: ['size'],
    });
    for (const model of ['stability.sd3-5-large-v1:0', 'amazon.nova-lite-v1:0'])
      expect(await refusal('images', image(model))).to.match(/^invalid_request: bedrock cannot make images/);
  });

  it('reads the images that were made', async () => {
    expect(answered('images', image('amazon.nova-canvas-v1:0'), fixture('images/amazon-reply.json'))).to.deep.equal({
      data: [{ b64_json: 'aW1hZ2Ux' }, { b64_json: 'aW1hZ2Uy' }],
    });
    expect(
      answered('images', image('stability.stable-diffusion-xl-v1'), fixture('images/stability-reply.json')),
    ).to.deep.equal({ data: [{ b64_json: 'aW1hZ2Ux' }] });
  });

  it('fails when one was refused, or none made', async () => {
    for (const body of [
      { images: ['aW1hZ2Ux'], error: 'blocked' },
      { images: [] },
      { images: [null] },
      {},
      { images: 'x' },
    ])
      expect(unusable('images', image('amazon.nova-canvas-v1:0'), body), JSON.stringify(body)).to.be.a('string');
    for (const artifacts of [
      [],
      undefined,
      [{ base64: 'x', finishReason: 'ERROR' }],
      [{ finishReason: 'SUCCESS' }],
      [7],
    ]) {
      expect(
        unusable('images', image('stability.stable-diffusion-xl-v1'), { artifacts }),
        JSON.stringify(artifacts),
      ).to.be.a('string');
    }
  });
});

describe('bedrock, rerank', () => {
  const request = (more: object = {}): any => ({
    model: 'cohere.rerank-v3-5:0',
    query: 'q',
    documents: ['a', 'b', 'c'],
    ...more,
  });

  it('asks the service that reranks, by its own address', async () => {
    const { url, body, ignored, withCredential } = await sentBy(
      bedrock,
      'rerank',
      request({ top_n: 2, return_documents: true, max_tokens_per_doc: 9 }),
      { variables: { ...BEARER, AWS_REGION: 'eu-central-1' } },
    );
    expect({ url, ignored, withCredential }).to.deep.equal({
      url: 'https://bedrock-agent-runtime.eu-central-1.amazonaws.com/rerank',
      ignored: ['max_tokens_per_doc'],
      withCredential: true,
    });
    expect(body).to.deep.equal({
      queries: [{ type: 'TEXT', textQuery: { text: 'q' } }],
      sources: ['a', 'b', 'c'].map((text) => ({
        type: 'INLINE',
        inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
      })),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          numberOfResults: 2,
          modelConfiguration: { modelArn: 'arn:aws:bedrock:eu-central-1::foundation-model/cohere.rerank-v3-5:0' },
        },
      },
    });
  });

  it('asks for all with no number, 0 or too large a one', async () => {
    for (const top_n of [undefined, null, 0, 99]) {
      expect(
        (await sentBy(bedrock, 'rerank', request({ top_n }), options)).body.rerankingConfiguration
          .bedrockRerankingConfiguration.numberOfResults,
        String(top_n),
      ).to.equal(3);
    }
  });

  it('takes ARNs as they are, and names the partition of the region', async () => {
    const arnOf = async (model: string, region: string): Promise<string> =>
      (await sentBy(bedrock, 'rerank', request({ model }), { variables: { ...BEARER, AWS_REGION: region } })).body
        .rerankingConfiguration.bedrockRerankingConfiguration.modelConfiguration.modelArn;
    expect(await arnOf('arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0', 'eu-west-1')).to.equal(
      'arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0',
    );
    expect(await arnOf('x', 'us-gov-west-1')).to.equal('arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/x');
    expect(await arnOf('x', 'cn-north-1')).to.equal('arn:aws-cn:bedrock:cn-north-1::foundation-model/x');
    expect(await arnOf('x', 'eusc-de-east-1')).to.equal('arn:aws-eusc:bedrock:eusc-de-east-1::foundation-model/x');
  });

  it('reads scores', async () => {
    expect(answered('rerank', request(), fixture('rerank/reply.json'))).to.deep.equal({
      results: [
        { index: 2, relevance_score: 0.91 },
        { index: 0, relevance_score: 0.4 },
        { index: 1, relevance_score: 0.02 },
      ],
    });
    for (const body of [{}, { results: [{}] }, { results: [{ index: '0', relevanceScore: 1 }] }])
      expect(unusable('rerank', request(), body), JSON.stringify(body)).to.be.a('string');
  });
});
