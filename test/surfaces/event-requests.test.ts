import { expect } from 'chai';
import { golden, replyJson } from '../kit/index.ts';
import { encoded, type Body, collected, type Streamed, STREAMED, withStub } from './events-kit.ts';
import { errorOf, everySurface } from './kit.ts';

describe('whole answers to requests for a stream', () => {
  const TEXT = { text: 'hello', usage: { type: 'duration', seconds: 2 }, segments: [1] };

  it('become the last event of a transcription', async () => {
    const [one] = STREAMED as readonly [Streamed];
    const { client, upstream } = await withStub((_request, response) => replyJson(response, 200, TEXT));
    expect(await collected(await one.ask(client))).to.deep.equal({
      events: [{ type: 'transcript.text.done', text: 'hello', usage: TEXT.usage }],
    });
    expect(upstream.seen).to.have.length(1);
    const plain = await withStub((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('1\n00:00 --> 00:01\nGrüße');
    });
    expect((await collected(await one.ask(plain.client, { response_format: 'srt' }))).events).to.deep.equal([
      { type: 'transcript.text.done', text: '1\n00:00 --> 00:01\nGrüße' },
    ]);
  });

  it('become an event for each image', async () => {
    const reply = JSON.parse(golden('openai/images/reply.json')) as Body;
    const { b64_json } = reply['data'][0];
    for (const [one, type] of [
      [STREAMED[1], 'image_generation.completed'],
      [STREAMED[2], 'image_edit.completed'],
    ] as const) {
      const { client } = await withStub((_request, response) =>
        replyJson(response, 200, { ...reply, data: [{ b64_json }, { b64_json }] }),
      );
      const { events } = await collected(await (one as Streamed).ask(client));
      const { created, background, output_format, quality, size, usage } = reply;
      const each = { type, b64_json, created_at: created, background, output_format, quality, size };
      expect(events).to.deep.equal([each, { ...each, usage }]);
    }
  });

  it('become one piece of speech', async () => {
    const { client } = await withStub((_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.from([0xff, 0xf3, 0x00]));
    });
    expect((await collected(await (STREAMED[3] as Streamed).ask(client))).events).to.deep.equal([
      { type: 'speech.audio.delta', audio: '//MA' },
      { type: 'speech.audio.done' },
    ]);
  });

  it('are failures where they hold one', async () => {
    for (const one of STREAMED) {
      const { client } = await withStub((_request, response) =>
        replyJson(response, 200, { error: { message: 'overloaded' } }),
      );
      const error = await one.ask(client).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error, one.surface).to.include({ status: 502, code: 'upstream_error' });
    }
  });
});

describe('requests that cannot be streamed', () => {
  it('are refused before any call: translations, odd words, odd formats', async () => {
    const { host, upstream } = await withStub(() => {});
    const form = async (fields: Readonly<Record<string, string>>): Promise<[Buffer, Record<string, string>]> => {
      const body = new FormData();
      body.append('file', new Blob(['RIFF']), 'a.wav');
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      return encoded(body);
    };
    const answers = [
      await host.post('/v1/audio/translations', ...(await form({ model: 'm', stream: 'true' }))),
      await host.post('/v1/audio/transcriptions', ...(await form({ model: 'm', stream: 'maybe' }))),
      await host.post('/v1/images/generations', { model: 'm', prompt: 'x', stream: 'true' }),
      await host.post('/v1/audio/speech', { model: 'm', input: 'x', voice: 'v', stream_format: 'ndjson' }),
      await host.post('/v1/audio/speech', { model: 'm', input: 'x', voice: { name: 'v' } }),
    ];
    expect(answers.map((answer) => [answer.status, errorOf(answer).code])).to.deep.equal([
      [400, 'streaming_not_supported'],
      [400, 'invalid_request'],
      [400, 'invalid_request'],
      [400, 'invalid_request'],
      [400, 'invalid_request'],
    ]);
    expect(upstream.seen).to.have.length(0);
  });

  it('are explained as they are answered', async () => {
    const { streams: _all, ...unable } = everySurface;
    const { host } = await withStub(() => {}, {}, unable);
    for (const [surface, more] of [
      ['images', { prompt: 'x', stream: true }],
      ['images.edits', { stream: 'true' }],
      ['audio.transcriptions', { stream: 'true' }],
      ['audio.speech', { input: 'x', voice: 'v', stream_format: 'sse' }],
    ] as const) {
      const answer = (await host.post('/admin/explain', { surface, request: { model: 'm', ...more } })).json();
      expect(answer.streaming, surface).to.equal(true);
      expect(answer.refusal.message).to.match(/^no target can stream .* of this model$/);
      expect(answer.dropped).to.deep.equal([{ target: 'a', reason: `does not stream ${surface}`, figures: {} }]);
    }
  });

  it('send partial_images on without a stream, and a stream that is not wanted as it was written', async () => {
    const { host, upstream } = await withStub((_request, response) =>
      replyJson(response, 200, { data: [{ b64_json: 'AA==' }] }),
    );
    const body = { model: 'm', prompt: 'x', partial_images: 2, stream: false };
    expect((await host.post('/v1/images/generations', body)).status).to.equal(200);
    expect(upstream.seen[0]?.json()).to.deep.equal(body);
  });
});
