import { expect } from 'chai';
import type { ChatRequest, EmbeddingsRequest, ProviderModule, TranslatedSurface } from '../../host/contract/index.ts';
import { answeredBy, ask, rootOf, sentBy } from '../kit/index.ts';

export const CHAT: ChatRequest = ask('hi', {
  max_tokens: 5,
  temperature: 0.2,
  stop: ['END'],
  reasoning_effort: 'low',
}) as unknown as ChatRequest;
export const EMBED: EmbeddingsRequest = {
  model: 'm',
  input: ['a', 'b'],
  dimensions: 8,
  input_type: 'query',
  truncate: 'END',
};
export const FILE = { filename: 'a.wav', bytes: 0, open: async function* open(): AsyncGenerator<Uint8Array> {} };

const PATHS: Readonly<Partial<Record<TranslatedSurface, string>>> = {
  chat: '/chat/completions',
  embeddings: '/embeddings',
  images: '/images/generations',
  'images.edits': '/images/edits',
  rerank: '/rerank',
  moderations: '/moderations',
  'audio.transcriptions': '/audio/transcriptions',
  'audio.translations': '/audio/translations',
  'audio.speech': '/audio/speech',
};
const REQUESTS = {
  chat: CHAT,
  embeddings: EMBED,
  images: { model: 'm', prompt: 'p' },
  'images.edits': { model: 'm', prompt: 'p', form: [{ name: 'image', file: FILE }] },
  rerank: { model: 'm', query: 'q', documents: ['a'] },
  moderations: { model: 'm', input: 'a' },
  'audio.transcriptions': { model: 'm', file: FILE },
  'audio.translations': { model: 'm', file: FILE },
  'audio.speech': { model: 'm', input: 'hi', voice: 'v' },
};

/** What a provider serves beside translated surfaces; what is not named here it does not serve. */
export interface Flags {
  readonly passthrough?: boolean;
  readonly responses?: boolean | 'native';
  readonly batches?: boolean;
  readonly anyModel?: boolean;
  readonly discovery?: boolean;
}

export const FORWARDED: Flags = { passthrough: true, responses: true, discovery: true };

/** Declares checks: the default root, what is served below it on the common wire, and what else. See docs/providers.md#providers. */
export function itServes(
  module: ProviderModule,
  root: string,
  surfaces: readonly TranslatedSurface[],
  flags: Flags,
): void {
  it(`serves ${surfaces.join(', ')} below its root`, async () => {
    expect(await rootOf(module)).to.equal(root);
    for (const surface of surfaces)
      expect((await sentBy(module, surface, REQUESTS[surface] as never)).url, surface).to.equal(root + PATHS[surface]);
  });

  it('serves what it declares beside, and nothing else', () => {
    const { passthrough = false, responses = false, batches = false, anyModel = false, discovery } = module;
    const none: Required<Flags> = {
      passthrough: false,
      responses: false,
      batches: false,
      anyModel: false,
      discovery: false,
    };
    expect({ passthrough, responses, batches, anyModel, discovery: discovery !== undefined }).to.deep.equal({
      ...none,
      ...flags,
    });
  });
}

/** Declares checks: chat as it came, and streamed with usage. */
export function itForwardsChat(module: ProviderModule): void {
  it('sends chat as it came, unknown fields included, and streams with usage', async () => {
    expect((await sentBy(module, 'chat', CHAT)).body).to.deep.equal(CHAT);
    expect((await sentBy(module, 'chat', CHAT, { stream: true })).body).to.deep.equal({
      ...CHAT,
      stream: true,
      stream_options: { include_usage: true },
    });
  });
}

/** Declares checks of a chat whose vendor refuses `stream_options` and sends usage unasked. */
export function itForwardsChatWithoutOptions(module: ProviderModule): void {
  it('sends chat as it came, and streams without stream_options', async () => {
    expect((await sentBy(module, 'chat', CHAT)).body).to.deep.equal(CHAT);
    expect((await sentBy(module, 'chat', CHAT, { stream: true })).body).to.deep.equal({ ...CHAT, stream: true });
  });
}

/** Declares checks: embeddings as they came, and vectors read. */
export function itForwardsEmbeddings(module: ProviderModule): void {
  it('sends embeddings as they came, unknown fields included, and reads vectors', async () => {
    const { body, ignored } = await sentBy(module, 'embeddings', EMBED);
    expect([body, ignored]).to.deep.equal([EMBED, []]);
    const reply = await answeredBy(module, 'embeddings', EMBED, {
      data: [
        { embedding: [1, 2], index: 0 },
        { embedding: [3, 4], index: 1 },
      ],
    });
    expect(reply.data.map(({ embedding }: { embedding: number[] }) => embedding)).to.deep.equal([
      [1, 2],
      [3, 4],
    ]);
  });
}
