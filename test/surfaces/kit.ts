import { commonTranslators } from 'gw/common-wire';
import {
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

/** A provider of the common wire with every surface, all streamed that may be. */
export const everySurface = {
  streams: ['images', 'images.edits', 'audio.transcriptions', 'audio.speech'],
  translators: commonTranslators(
    [
      'chat',
      'embeddings',
      'images',
      'images.edits',
      'audio.speech',
      'audio.transcriptions',
      'audio.translations',
      'rerank',
      'moderations',
    ],
    {},
  ),
} as const;

export interface SurfaceSet {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  /** The body that the upstream saw last. */
  readonly sent: () => Record<string, unknown>;
}

/** A gateway with one target that serves model `m` on every surface. */
export async function withUpstream(
  handler: StubHandler,
  config: object = {},
  options: TestHostOptions = {},
): Promise<SurfaceSet> {
  const upstream = await stubUpstream(handler);
  const host = await startHost(
    { strategy: { mode: 'single' }, targets: [upstream.target('a', {}, everySurface)], ...config },
    options,
  );
  return { host, upstream, sent: () => upstream.seen.at(-1)?.json() ?? {} };
}

export const blocked = (word: string): object => ({
  plugins: [{ name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: [word] } }],
});

export const errorOf = (answer: { json(): any }): { code: string; message: string; type: string } =>
  answer.json().error;
