import { expect } from 'chai';
import { chatReply, replyJson } from '../kit/index.ts';
import { withUpstream } from './kit.ts';

/** Request, the upstream's reply, and the figures of the line. See docs/observability.md#log-lines. */
const SURFACES: Readonly<Record<string, readonly [path: string, request: object, reply: object, figures: object]>> = {
  embedding: [
    '/v1/embeddings',
    { input: 'x' },
    {
      object: 'list',
      data: [{ object: 'embedding', embedding: [1], index: 0 }],
      usage: { prompt_tokens: 3, total_tokens: 3 },
    },
    { tokens: 3, cost_usd: null },
  ],
  image: [
    '/v1/images/generations',
    { prompt: 'x', n: 2 },
    { created: 1, data: [{ url: 'https://images.example/1' }, { url: 'https://images.example/2' }] },
    { images: 2, cost_usd: null },
  ],
  rerank: [
    '/v1/rerank',
    { query: 'x', documents: ['a', 'b'] },
    { results: [{ index: 1, relevance_score: 0.5 }] },
    { results: 1 },
  ],
  moderation: [
    '/v1/moderations',
    { input: ['x', 'y'] },
    {
      results: [
        { flagged: false, categories: {}, category_scores: {} },
        { flagged: false, categories: {}, category_scores: {} },
      ],
    },
    { results: 2 },
  ],
};

const form = (): FormData => {
  const fields = new FormData();
  fields.append('model', 'm');
  fields.append('file', new Blob(['sound']), 'a.wav');
  return fields;
};

describe('the log line of a request', () => {
  for (const [name, [path, request, reply, figures]] of Object.entries(SURFACES)) {
    it(`is called after ${name}, has its figures, and tells failures as errors`, async () => {
      let isBroken = false;
      const { host } = await withUpstream((_request, response) => replyJson(response, isBroken ? 500 : 200, reply));
      const answer = await host.post(path, { model: 'm', ...request });
      expect(answer.status).to.equal(200);
      const line = host.lines.find(({ msg }) => msg === `${name} request completed`);
      expect(line).to.include({
        level: 'INFO',
        model: 'm',
        provider: 'a',
        trace_id: answer.headers.get('x-request-id'),
        ...figures,
      });
      isBroken = true;
      await host.post(path, { model: 'm', ...request });
      expect(host.lines.find(({ msg }) => msg === `${name} request failed`))
        .to.include({ level: 'ERROR', model: 'm' })
        .and.to.have.property('error');
    });
  }

  for (const [name, path] of [
    ['transcription', '/v1/audio/transcriptions'],
    ['translation', '/v1/audio/translations'],
  ] as const) {
    it(`of a ${name} counts the bytes of its text`, async () => {
      const { host } = await withUpstream((_request, response) => replyJson(response, 200, { text: 'spoken' }));
      const response = await fetch(host.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${host.host.masterKey}` },
        body: form(),
      });
      const text = await response.text();
      expect(response.status).to.equal(200);
      expect(host.lines.find(({ msg }) => msg === `${name} request completed`)).to.include({
        level: 'INFO',
        text_bytes: Buffer.byteLength(text),
      });
    });
  }

  it('of speech counts the bytes of its sound', async () => {
    const { host } = await withUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.alloc(5000));
    });
    expect((await host.post('/v1/audio/speech', { model: 'm', input: 'x', voice: 'v' })).status).to.equal(200);
    expect(host.lines.find(({ msg }) => msg === 'speech request completed')).to.include({
      level: 'INFO',
      audio_bytes: 5000,
    });
  });

  it('of a chat is for debugging', async () => {
    const { host } = await withUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    await host.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }] });
    expect(host.lines.find(({ msg }) => msg === 'request completed')).to.include({
      level: 'DEBUG',
      tokens_in: 11,
      tokens_out: 7,
    });
  });
});
