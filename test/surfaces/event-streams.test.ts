import { expect } from 'chai';
import { definePlugin } from 'gw/contract';
import Joi from 'joi';
import OpenAI, { APIError, toFile } from 'openai';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { moduleOf } from '../contract/providers/support.ts';
import {
  fakeClock,
  golden,
  MASTER_KEY,
  openSse,
  replyJson,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { errorOf, everySurface } from './kit.ts';

type Body = Record<string, any>;

/** The events of a golden stream, without the mark of its end. */
const eventsIn = (text: string): Body[] =>
  [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) => (data === '[DONE]' ? [] : [JSON.parse(data)]));

interface Streamed {
  readonly surface: keyof typeof COUNTS;
  readonly fixture: string;
  readonly path: string;
  /** The events as the official client gives them. */
  ask(client: OpenAI, more?: object): Promise<AsyncIterable<unknown>>;
}

const file = (): Promise<File> => toFile(Buffer.from('RIFF audio'), 'talk.wav');
const picture = (): Promise<File> => toFile(Buffer.from('\x89PNG'), 'a.png', { type: 'image/png' });

/** What the last event of each golden stream says of its use. */
const COUNTS = {
  'audio.transcriptions': [14, 31],
  images: [11, 1056],
  'images.edits': [323, 1056],
  'audio.speech': [14, 101],
} as const;

const STREAMED: readonly Streamed[] = [
  {
    surface: 'audio.transcriptions',
    fixture: 'transcriptions',
    path: '/audio/transcriptions',
    ask: async (client, more) =>
      client.audio.transcriptions.create({ file: await file(), model: 'm', stream: true, ...more }),
  },
  {
    surface: 'images',
    fixture: 'images',
    path: '/images/generations',
    ask: (client, more) =>
      client.images.generate({ model: 'm', prompt: 'a harbour', stream: true, partial_images: 2, ...more }),
  },
  {
    surface: 'images.edits',
    fixture: 'edits',
    path: '/images/edits',
    ask: async (client, more) =>
      client.images.edit({ model: 'm', prompt: 'a harbour', image: await picture(), stream: true, ...more }),
  },
  {
    surface: 'audio.speech',
    fixture: 'speech',
    path: '/audio/speech',
    async ask(client, more) {
      const answer = await client.audio.speech.create({
        model: 'm',
        input: 'hello',
        voice: 'alloy',
        stream_format: 'sse',
        ...more,
      });
      expect(answer.headers.get('content-type')).to.equal('text/event-stream');
      return eventsAsync(await answer.text());
    },
  },
];

/** The client has no reader for the events of speech. */
async function* eventsAsync(text: string): AsyncGenerator {
  for (const event of eventsIn(text)) {
    if (event['error']) throw new APIError(undefined, event['error'], undefined, undefined);
    yield event;
  }
}

const goldenOf = ({ fixture }: Streamed): string => golden(`openai/${fixture}/events.sse`);

async function collected(events: AsyncIterable<unknown>): Promise<{ events: unknown[]; error?: any }> {
  const all: unknown[] = [];
  try {
    for await (const event of events) all.push(event);
  } catch (error) {
    return { events: all, error };
  }
  return { events: all };
}

const clientOf = ({ url }: TestHost): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: MASTER_KEY, maxRetries: 0, timeout: 30_000 });

const streaming =
  (text: string): StubHandler =>
  (_request, response) => {
    openSse(response);
    response.end(text);
  };

interface Gateway {
  readonly host: TestHost;
  readonly client: OpenAI;
  readonly upstream: StubUpstream;
}

async function withModule(name: string, handler: StubHandler): Promise<Gateway> {
  const upstream = await stubUpstream(handler);
  const variables: Readonly<Record<string, string>> =
    name === 'openai'
      ? { OPENAI_API_KEY: 'key-0123456789', OPENAI_BASE_URL: upstream.url }
      : {
          AZURE_OPENAI_API_KEY: 'key-0123456789',
          AZURE_OPENAI_ENDPOINT: upstream.url,
          AZURE_OPENAI_DEPLOYMENT: 'chats',
        };
  const host = await startHost({ targets: [{ virtual_key: name, model_map: { m: 'vendor-model' } }] }, { variables });
  return { host, client: clientOf(host), upstream };
}

async function withStub(handler: StubHandler, config: object = {}, module: object = everySurface): Promise<Gateway> {
  const upstream = await stubUpstream(handler);
  const host = await startHost({ targets: [upstream.target('a', {}, module)], ...config });
  return { host, client: clientOf(host), upstream };
}

const guarded = (config: object = {}): object => ({
  plugins: [
    { name: 'word-filter', stage: 'after_request', enabled: true, config: { blocked_words: ['forbidden'], ...config } },
  ],
});

describe('streams beside chat', () => {
  for (const one of STREAMED) {
    describe(one.surface, () => {
      for (const name of ['openai', 'azure-openai']) {
        it(`deliver each event of ${name} to the official client, by one call`, async () => {
          const { client, upstream, host } = await withModule(name, streaming(goldenOf(one)));
          const { events, error } = await collected(await one.ask(client));
          expect(error).to.equal(undefined);
          expect(events).to.deep.equal(eventsIn(goldenOf(one)));
          expect(upstream.seen).to.have.length(1);
          const [seen] = upstream.seen;
          expect(seen?.url).to.include(one.path);
          expect(seen?.text).to.match(/stream_format":"sse"|"stream":true|name="stream"\r\n\r\ntrue\r\n/);
          expect(`${seen?.url} ${seen?.text}`).to.include('vendor-model');
          const samples = host.samples.filter(({ name: figure }) => figure.startsWith('gateway_tokens_'));
          expect(samples.map(({ value }) => value)).to.deep.equal(COUNTS[one.surface]);
        });
      }

      it('leave in the bytes that came, however these are cut', async () => {
        const text = Buffer.from(goldenOf(one));
        const { client, host } = await withStub(async (_request, response) => {
          openSse(response);
          for (let at = 0; at < text.length; at += 97) {
            response.write(text.subarray(at, at + 97));
            await new Promise((resolve) => {
              setImmediate(resolve);
            });
          }
          response.end();
        });
        const body: string[] = [];
        const raw = clientOf(host).withOptions({
          fetch: async (url, init) => {
            const answer = await fetch(url, init);
            body.push(await answer.clone().text());
            return answer;
          },
        });
        expect((await collected(await one.ask(raw))).error).to.equal(undefined);
        expect(body.filter((each) => each !== '')).to.deep.equal([goldenOf(one)]); // the client looks first whether a fetch sends forms
        expect(client.baseURL).to.equal(raw.baseURL);
      });

      it('go on as they come', async () => {
        const opened = Promise.withResolvers<ServerResponse>();
        const [first = '', ...rest] = goldenOf(one).split(/(?<=\n\n)/);
        const { host } = await withStub((_request, response) => {
          openSse(response);
          response.write(first);
          opened.resolve(response);
        });
        if (one.surface === 'audio.speech') {
          const answer = await fetch(`${host.url}/v1/audio/speech`, {
            method: 'POST',
            headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'm', input: 'x', voice: { id: 'voice_1' }, stream_format: 'sse' }),
          });
          const reader = answer.body?.getReader();
          expect(Buffer.from((await reader?.read())?.value ?? []).toString()).to.equal(first);
          (await opened.promise).end(rest.join(''));
          return;
        }
        const events = (await one.ask(clientOf(host)))[Symbol.asyncIterator]();
        expect((await events.next()).value).to.deep.equal(eventsIn(first)[0]);
        (await opened.promise).end(rest.join(''));
        expect((await events.next()).done).to.equal(false);
      });

      it('fail over before the first event, on a status and on an event that is an error', async () => {
        const broken: readonly StubHandler[] = [
          (_request, response) => replyJson(response, 500, { error: { message: 'no' } }),
          streaming(': ping\n\nevent: error\ndata: {"type":"error","error":{"message":"overloaded"}}\n\n'),
          streaming(''),
          streaming('data: [DONE]\n\n'),
        ];
        for (const handler of broken) {
          const [bad, good] = [await stubUpstream(handler), await stubUpstream(streaming(goldenOf(one)))];
          const host = await startHost({
            strategy: { mode: 'fallback' },
            targets: [bad.target('bad', {}, everySurface), good.target('good', {}, everySurface)],
          });
          const { events, error } = await collected(await one.ask(clientOf(host)));
          expect([error, events]).to.deep.equal([undefined, eventsIn(goldenOf(one))]);
          expect([bad.seen.length, good.seen.length]).to.deep.equal([1, 1]);
        }
      });

      it('are an error of its own status where no event came', async () => {
        const { client } = await withStub((_request, response) =>
          replyJson(response, 429, { error: { message: 'slow down' } }),
        );
        const error = await one.ask(client).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).to.be.instanceOf(APIError).and.to.include({ status: 429, code: 'rate_limit_exceeded' });
      });

      it('end with an error event where they break off after it', async () => {
        const [first = ''] = goldenOf(one).split(/(?<=\n\n)/);
        const ends: readonly (readonly [StubHandler, message: RegExp])[] = [
          [
            streaming(`${first}event: error\ndata: {"error":{"message":"the vendor has stopped"}}\n\n`),
            /the vendor has stopped/,
          ],
          [streaming(`${first}data: {"half`), /ended before it was complete/],
          [
            (_request, response) => {
              openSse(response);
              response.write(first, () => response.destroy());
            },
            /./,
          ],
        ];
        for (const [handler, message] of ends) {
          const { client, upstream } = await withStub(handler);
          const { events, error } = await collected(await one.ask(client));
          expect(events).to.deep.equal(eventsIn(first));
          expect(error?.error).to.include({ type: 'stream_error', code: 'stream_error' });
          expect(error?.error.message).to.match(message);
          expect(upstream.seen).to.have.length(1);
        }
      });

      it('are not asked of a target that does not stream them', async () => {
        const { streams: _all, ...unable } = everySurface;
        const { host, client, upstream } = await withStub(() => {}, {}, unable);
        const error = await one.ask(client).then(
          () => undefined,
          (reason: any) => reason,
        );
        expect(error).to.include({ status: 404, code: 'model_not_found' });
        expect(error.message).to.match(/no target can stream .* of this model/);
        expect(upstream.seen).to.have.length(0);
        const able = await stubUpstream(streaming(goldenOf(one)));
        const both = await startHost({
          strategy: { mode: 'fallback' },
          targets: [upstream.target('unable', {}, unable), able.target('able', {}, everySurface)],
        });
        expect((await collected(await one.ask(clientOf(both)))).error).to.equal(undefined);
        expect([upstream.seen.length, able.seen.length]).to.deep.equal([0, 1]);
        expect(host.url).not.to.equal(both.url);
      });

      it('end their upstream when the client leaves', async () => {
        const [first = ''] = goldenOf(one).split(/(?<=\n\n)/);
        const closed = Promise.withResolvers<void>();
        const { client } = await withStub((_request, response) => {
          openSse(response);
          response.write(first);
          void once(response, 'close').then(() => closed.resolve());
        });
        if (one.surface === 'audio.speech') {
          const answer = await client.audio.speech.create({
            model: 'm',
            input: 'x',
            voice: 'alloy',
            stream_format: 'sse',
          });
          await answer.body?.cancel();
        } else for await (const _event of await one.ask(client)) break;
        await closed.promise;
      });
    });
  }
});

describe('streams beside chat, behind proxies', () => {
  it('are not buffered, open early, and say between whole events that they go on', async () => {
    const clock = fakeClock();
    const called = Promise.withResolvers<ServerResponse>();
    const upstream = await stubUpstream((_request, response) => called.resolve(response));
    const host = await startHost({ targets: [upstream.target('a', {}, everySurface)] }, { clock });
    const opened = fetch(`${host.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', prompt: 'x', stream: true }),
    });
    const vendor = await called.promise;
    clock.advance(45_000);
    const answer = await opened;
    expect([answer.status, answer.headers.get('x-accel-buffering')]).to.deep.equal([200, 'no']);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (end: string): Promise<void> => {
      while (!text.endsWith(end)) text += (await reader?.read())?.value ?? expect.fail(`ended with ${text}`);
    };
    const COMMENT = ': keep-alive\n\n';
    clock.advance(15_000);
    await until(COMMENT);
    const [first = '', ...rest] = goldenOf(STREAMED[1] as Streamed).split(/(?<=\n\n)/);
    openSse(vendor);
    vendor.write(first);
    await until(first);
    vendor.write(rest[0]?.slice(0, 40));
    clock.advance(15_000);
    await until(COMMENT);
    vendor.end(rest.join('').slice(40));
    await until(rest.at(-1) ?? '');
    expect((await reader?.read())?.done).to.equal(true);
    expect(text).to.equal([COMMENT, ': gw target=a model=m attempts=1\n\n', first, COMMENT, ...rest].join(''));
  });
});

describe('a stream that goes silent', () => {
  const [one] = STREAMED as readonly [Streamed];
  const [first = ''] = goldenOf(one).split(/(?<=\n\n)/);
  const idle = { streamIdleMs: 50 };

  it('is a time-out before its first event, so that the next target is tried, whether or not its headers came', async () => {
    for (const handler of [() => {}, (_request, response) => openSse(response)] as readonly StubHandler[]) {
      const [silent, good] = [await stubUpstream(handler), await stubUpstream(streaming(goldenOf(one)))];
      const targets = [silent.target('silent', {}, everySurface), good.target('good', {}, everySurface)];
      const host = await startHost({ strategy: { mode: 'fallback' }, targets }, idle);
      expect((await collected(await one.ask(clientOf(host)))).events).to.have.length(8);
      const alone = await startHost({ strategy: { mode: 'single' }, targets: targets.slice(0, 1) }, idle);
      const error = await one.ask(clientOf(alone)).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).to.include({ status: 504, code: 'upstream_timeout' });
    }
  });

  it('ends with an error event after it', async () => {
    const upstream = await stubUpstream((_request, response) => {
      openSse(response);
      response.write(first);
    });
    const host = await startHost({ targets: [upstream.target('a', {}, everySurface)] }, idle);
    const { events, error } = await collected(await one.ask(clientOf(host)));
    expect(events).to.have.length(1);
    expect(error?.error).to.include({ type: 'timeout_error', code: 'stream_timeout' });
  });
});

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

describe('a guardrail of answers', () => {
  const [one] = STREAMED as readonly [Streamed];
  const said = (...words: string[]): string =>
    [
      ...words.map((delta) => ({ type: 'transcript.text.delta', delta })),
      { type: 'transcript.text.done', text: words.join(''), usage: { type: 'duration', seconds: 2 } },
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('');

  it('reads a streamed transcript whole before any of it leaves', async () => {
    const { client, upstream } = await withStub(streaming(said('all', ' is', ' well')), guarded());
    expect((await collected(await one.ask(client))).events).to.deep.equal([
      { type: 'transcript.text.delta', delta: 'all is well' },
      { type: 'transcript.text.done', text: 'all is well', usage: { type: 'duration', seconds: 2 } },
    ]);
    expect(upstream.seen).to.have.length(1);
  });

  it('refuses what it finds, by a status', async () => {
    const { host } = await withStub(streaming(said('a for', 'bidden', ' word')), guarded());
    const form = new FormData();
    form.append('file', new Blob(['RIFF']), 'a.wav');
    form.append('model', 'm');
    form.append('stream', 'true');
    const answer = await host.post('/v1/audio/transcriptions', ...(await encoded(form)));
    expect([answer.status, errorOf(answer).code]).to.deep.equal([502, 'response_rejected']);
  });

  it('tries the next target where the stream breaks off, as nothing has left', async () => {
    const half = said('all', ' is').split(/(?<=\n\n)/)[0] ?? '';
    const [bad, good] = [await stubUpstream(streaming(half)), await stubUpstream(streaming(said('well')))];
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [bad.target('bad', {}, everySurface), good.target('good', {}, everySurface)],
      ...guarded(),
    });
    expect((await collected(await one.ask(clientOf(host)))).events).to.have.length(2);
  });

  it('has as much time for it as for a whole answer', async () => {
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = definePlugin<object>({
      name: 'slow',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['after_request'],
      settings: Joi.object({}),
      create: () => ({
        after_request: async () => {
          asked.resolve();
          await gate.promise;
          return undefined;
        },
      }),
    });
    const upstream = await stubUpstream(streaming(said('all is well')));
    const clock = fakeClock();
    const host = await startHost(
      {
        targets: [upstream.target('a', {}, everySurface)],
        plugins: [{ name: 'slow', stage: 'after_request', enabled: true }],
      },
      { modules: [slow], clock },
    );
    const answer = one.ask(clientOf(host)).then(collected);
    await asked.promise;
    clock.advance(11_000); // longer than what runs when an answer has left
    gate.resolve();
    expect((await answer).events).to.have.length(2);
  });

  it('cannot check more than 1 MiB', async () => {
    const { host, client } = await withStub(streaming(said('x'.repeat(600_000), 'y'.repeat(600_000))), guarded());
    const error = await one.ask(client).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.include({ status: 502, code: 'response_rejected' });
    expect(host.samples.find(({ name }) => name === 'gateway_requests_total')?.labels['status']).to.equal('rejected');
  });

  it('that only records lets it pass as it comes', async () => {
    const text = said('a for', 'bidden', ' word');
    const { client, host } = await withStub(streaming(text), guarded({ stream: 'record' }));
    expect((await collected(await one.ask(client))).events).to.deep.equal(eventsIn(text));
    expect(host.lines.some(({ msg }) => String(msg).includes('guardrail'))).to.equal(true);
  });

  it('leaves images and sound as they are', async () => {
    for (const other of STREAMED.slice(1)) {
      const { client } = await withStub(streaming(goldenOf(other)), guarded());
      expect((await collected(await other.ask(client))).events).to.deep.equal(eventsIn(goldenOf(other)));
    }
  });
});

async function encoded(form: FormData): Promise<[Buffer, Record<string, string>]> {
  const request = new Request('http://h', { method: 'POST', body: form });
  return [Buffer.from(await request.arrayBuffer()), { 'content-type': request.headers.get('content-type') ?? '' }];
}

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

describe('the modules of OpenAI and Azure', () => {
  it('say what they stream, and the others that they stream nothing', () => {
    for (const name of ['openai', 'azure-openai'])
      expect(moduleOf(name).streams).to.have.members([
        'images',
        'images.edits',
        'audio.transcriptions',
        'audio.speech',
      ]);
    for (const name of ['groq', 'together', 'mistral']) expect(moduleOf(name).streams).to.equal(undefined);
  });
});
