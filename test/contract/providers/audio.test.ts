import { expect } from 'chai';
import type { TranscriptionRequest } from '../../../host/contract/index.ts';
import {
  gatewayOf,
  MASTER_KEY,
  minimal,
  readReply,
  replyJson,
  sendText,
  type TestHost,
  translate,
  valueOf,
  wireReply,
} from '../../kit/index.ts';
import { connected, goldenBytes, goldenJson, moduleOf, serving } from './support.ts';

const SPEECH = '/v1/audio/speech';
const UPLOADS = ['audio.transcriptions', 'audio.translations'] as const;
const FILE = new TextEncoder().encode('RIFF audio bytes');

interface Uploaded {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

async function upload(
  host: TestHost,
  surface: string,
  fields: Readonly<Record<string, string | readonly string[] | undefined>>,
): Promise<Uploaded> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) for (const one of [value ?? []].flat()) form.append(name, one);
  form.append('file', new Blob([FILE]), 'clip.wav');
  const response = await fetch(`${host.url}/v1/${surface.replace('.', '/')}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}` },
    body: form,
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

/** Names and values of a multipart body, in order; of a file its name and type too. */
function partsOf(body: string, contentType: string): string[][] {
  const boundary = /boundary="?([^";]+)/.exec(contentType)?.[1] ?? '';
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = '', ...rest] = part.replace(/^\r\n/, '').split('\r\n\r\n');
      const value = rest.join('\r\n\r\n').replace(/\r\n$/, '');
      const [, name = ''] = /name="([^"]*)"/.exec(head) ?? [];
      const [, filename] = /filename="([^"]*)"/.exec(head) ?? [];
      return filename === undefined
        ? [name, value]
        : [name, value, filename, /content-type: *([^\r\n]+)/i.exec(head)?.[1] ?? ''];
    });
}

/** What of a transcript goes on where its times are not asked for. */
const plainTranscript = ({ text, languages, logprobs, usage }: any): object =>
  JSON.parse(JSON.stringify({ text, languages, logprobs, usage }));

const folderOf = (surface: string): string => surface.replace('audio.', '');

describe('uploads', () => {
  for (const surface of UPLOADS) {
    for (const { facts, name, model, url } of serving(surface).filter((one) => one.name !== 'fireworks')) {
      it(`of ${name} ${folderOf(surface)} carry their parts in order, and come back in the format asked for`, async () => {
        const { host, upstream, answerWith } = await gatewayOf(facts, (_request, response) =>
          replyJson(response, 200, goldenJson(`${name}/${folderOf(surface)}/reply.json`)),
        );
        const fields = {
          timestamp_granularities: '',
          temperature: '0.2',
          response_format: 'verbose_json',
          prompt: 'harbour',
          model,
        };
        const whole = await upload(host, surface, { ...fields, 'timestamp_granularities[]': ['word', 'segment'] });
        expect(whole.status, whole.text).to.equal(200);
        const [seen] = upstream.seen;
        expect(seen).to.include({ method: 'POST', url: new URL(url(upstream.url)).pathname });
        expect(seen!.headers.authorization).to.equal(`Bearer ${valueOf(facts.credential!)}`);
        expect(partsOf(seen!.text, seen!.headers['content-type'] ?? '')).to.deep.equal([
          ['temperature', '0.2'],
          ['response_format', 'verbose_json'],
          ['prompt', 'harbour'],
          ['model', model],
          ['timestamp_granularities[]', 'word'],
          ['timestamp_granularities[]', 'segment'],
          ['file', 'RIFF audio bytes', 'clip.wav', 'application/octet-stream'],
        ]);
        expect(JSON.parse(whole.text)).to.deep.equal(goldenJson(`${name}/${folderOf(surface)}/reply.json`));

        for (const more of [{}, { response_format: 'json' }])
          expect(JSON.parse((await upload(host, surface, { model, ...more })).text)).to.deep.equal(
            plainTranscript(goldenJson(`${name}/${folderOf(surface)}/reply.json`)),
          );
        for (const response_format of ['text', 'srt', 'vtt']) {
          answerWith((_request, response) => sendText(response, 200, 'application/json', '{"text":"looks like JSON"}'));
          const { status, text, type } = await upload(host, surface, { model, response_format });
          expect({ status, text, type }).to.deep.equal({
            status: 200,
            text: '{"text":"looks like JSON"}',
            type: 'text/plain; charset=utf-8',
          });
        }
        answerWith((_request, response) => sendText(response, 200, 'text/plain', 'plain words'));
        expect(JSON.parse((await upload(host, surface, { model })).text)).to.deep.equal({ text: 'plain words' });
      });
    }
  }

  it('carry the language of a transcription where it stood', async () => {
    for (const { facts, name, model } of serving('audio.transcriptions').filter((one) => one.name !== 'fireworks')) {
      const { host, upstream } = await gatewayOf(facts, (_request, response) =>
        replyJson(response, 200, { text: 'x' }),
      );
      await upload(host, 'audio.transcriptions', { language: 'de', model });
      expect(
        partsOf(upstream.seen[0]!.text, upstream.seen[0]!.headers['content-type'] ?? '').map(([part]) => part),
        name,
      ).to.deep.equal(['language', 'model', 'file']);
    }
  });

  it('with a temperature that is not a finite number are refused before any call', async () => {
    const [{ facts, model }] = serving('audio.transcriptions').filter(({ name }) => name === 'openai') as [
      ReturnType<typeof serving>[number],
    ];
    const { host, upstream } = await gatewayOf(facts);
    for (const temperature of ['warm', 'NaN', 'Infinity', '1e999'])
      expect((await upload(host, 'audio.transcriptions', { model, temperature })).status, temperature).to.equal(400);
    expect(upstream.seen).to.have.length(0);
  });

  it('of fireworks go to the host of their model, whatever the address, with the credential; other models nowhere', async () => {
    const provider = await connected('fireworks', 'http://h:9911/probe');
    const request = (model: string): TranscriptionRequest =>
      minimal('audio.transcriptions', model) as TranscriptionRequest;
    for (const [surface, task] of [
      ['audio.transcriptions', 'transcriptions'],
      ['audio.translations', 'translations'],
    ] as const) {
      for (const [model, host] of [
        ['whisper-v3', 'audio-prod'],
        ['whisper-v3-turbo', 'audio-turbo'],
      ] as const) {
        const { sent, wire } = await translate(provider, surface, request(model));
        expect(sent.url).to.equal(`https://${host}.api.fireworks.ai/v1/audio/${task}`);
        expect(sent.headers['authorization']).to.equal(`Bearer ${valueOf('FIREWORKS_API_KEY')}`);
        expect(wire.form?.map(({ name }) => name)).to.deep.equal(['file', 'model']);
      }
      const refused = await translate(provider, surface, request('whisper-v9')).then(
        () => undefined,
        (error: unknown) => error as { status?: number },
      );
      expect(refused?.status).to.equal(400);
      const reply = readReply(
        provider,
        surface,
        request('whisper-v3'),
        wireReply(goldenJson(`fireworks/${task}/reply.json`)),
      );
      expect(JSON.parse(Buffer.from(reply.body as Uint8Array).toString())).to.deep.equal(
        plainTranscript(goldenJson(`fireworks/${task}/reply.json`)),
      );
    }
  });

  it('of mistral are transcribed only', () => {
    expect(moduleOf('mistral').translators).to.not.have.property('audio.translations');
  });
});

const CONTENT_TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  odd: 'application/octet-stream',
};

/** The speech body with every field. See docs/reference/providers.md#speech. */
const BODIES: Readonly<Record<string, (body: Record<string, unknown>) => Record<string, unknown>>> = {
  mistral: ({ voice, speed: _speed, ...body }) => ({ ...body, voice_id: voice }),
  together: ({ speed: _speed, ...body }) => body,
};

describe('speech', () => {
  for (const { facts, name, model, url } of serving('audio.speech')) {
    const sound =
      name === 'mistral'
        ? Buffer.from(goldenJson('mistral/speech/reply.json').audio_data, 'base64')
        : goldenBytes(`${name}/speech/reply.base64`);
    const golden = (response: Parameters<typeof sendText>[0]): void => {
      if (name === 'mistral') replyJson(response, 200, goldenJson('mistral/speech/reply.json'));
      else sendText(response, 200, 'audio/x-unlikely', sound);
    };

    it(`of ${name} is asked for with a format, and in the vendor's names`, async () => {
      const { host, upstream } = await gatewayOf(facts, (_request, response) => golden(response));
      const shape = BODIES[name] ?? ((body: Record<string, unknown>): Record<string, unknown> => body);
      const full = { model, input: 'hello', voice: 'alloy', response_format: 'wav', speed: 1.25, brand_new_field: 'x' };
      for (const request of [
        { model, input: 'hello', voice: 'alloy' },
        { model, input: 'hello', voice: 'alloy', response_format: '' },
        full,
      ])
        await host.post(SPEECH, request);
      const small = shape({ model, input: 'hello', voice: 'alloy', response_format: 'mp3' });
      expect(upstream.seen.map((seen) => seen.json())).to.deep.equal([small, small, shape(full)]);
      expect(upstream.seen[0]).to.include({ method: 'POST', url: new URL(url(upstream.url)).pathname });
    });

    it(`of ${name} is the provider's bytes, typed by the format asked for`, async () => {
      const { host } = await gatewayOf(facts, (_request, response) => golden(response));
      for (const [response_format, type] of [[undefined, 'audio/mpeg'], ...Object.entries(CONTENT_TYPES)] as const) {
        const response = await fetch(`${host.url}${SPEECH}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, input: 'hello', voice: 'alloy', ...(response_format && { response_format }) }),
        });
        expect([response.status, response.headers.get('content-type')], response_format).to.deep.equal([200, type]);
        expect(Buffer.from(await response.arrayBuffer()).equals(sound), `${response_format} bytes`).to.equal(true);
      }
    });
  }
});
