import { expect } from 'chai';
import OpenAI, { APIError, toFile } from 'openai';
import {
  golden,
  MASTER_KEY,
  openSse,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { everySurface } from './kit.ts';

export type Body = Record<string, any>;

/** The events of a golden stream, without the mark of its end. */
export const eventsIn = (text: string): Body[] =>
  [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) => (data === '[DONE]' ? [] : [JSON.parse(data)]));

export interface Streamed {
  readonly surface: keyof typeof COUNTS;
  readonly fixture: string;
  readonly path: string;
  /** The events as the official client gives them. */
  ask(client: OpenAI, more?: object): Promise<AsyncIterable<unknown>>;
}

const file = (): Promise<File> => toFile(Buffer.from('RIFF audio'), 'talk.wav');
const picture = (): Promise<File> => toFile(Buffer.from('\x89PNG'), 'a.png', { type: 'image/png' });

/** What the last event of each golden stream says of its use. */
export const COUNTS = {
  'audio.transcriptions': [14, 31],
  images: [11, 1056],
  'images.edits': [323, 1056],
  'audio.speech': [14, 101],
} as const;

export const STREAMED: readonly Streamed[] = [
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

export const goldenOf = ({ fixture }: Streamed): string => golden(`openai/${fixture}/events.sse`);

export async function collected(events: AsyncIterable<unknown>): Promise<{ events: unknown[]; error?: any }> {
  const all: unknown[] = [];
  try {
    for await (const event of events) all.push(event);
  } catch (error) {
    return { events: all, error };
  }
  return { events: all };
}

export const clientOf = ({ url }: TestHost): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: MASTER_KEY, maxRetries: 0, timeout: 30_000 });

export const streaming =
  (text: string): StubHandler =>
  (_request, response) => {
    openSse(response);
    response.end(text);
  };

export interface Gateway {
  readonly host: TestHost;
  readonly client: OpenAI;
  readonly upstream: StubUpstream;
}

export async function withStub(
  handler: StubHandler,
  config: object = {},
  module: object = everySurface,
): Promise<Gateway> {
  const upstream = await stubUpstream(handler);
  const host = await startHost({ targets: [upstream.target('a', {}, module)], ...config });
  return { host, client: clientOf(host), upstream };
}

export async function encoded(form: FormData): Promise<[Buffer, Record<string, string>]> {
  const request = new Request('http://h', { method: 'POST', body: form });
  return [Buffer.from(await request.arrayBuffer()), { 'content-type': request.headers.get('content-type') ?? '' }];
}
