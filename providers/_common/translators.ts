import type { ParamTreatments, TranslatedSurface, Translators } from 'gw/contract';
import {
  commonSpeech,
  commonTranscriptions,
  commonTranslations,
  type SpeechOptions,
  type TranscriptionOptions,
} from './audio.ts';
import type { BodyOptions } from './body.ts';
import { type ChatOptions, commonChat } from './chat.ts';
import { commonEmbeddings, type EmbeddingsOptions } from './embeddings.ts';
import type { FormOptions } from './forms.ts';
import { commonImageEdits, commonImages, type ImagesOptions } from './images.ts';
import { commonModerations } from './moderations.ts';
import { commonRerank, type RerankOptions } from './rerank.ts';

/** What a provider does otherwise, by surface. */
export interface CommonOptions {
  readonly chat?: ChatOptions;
  readonly embeddings?: EmbeddingsOptions;
  readonly images?: ImagesOptions;
  readonly 'images.edits'?: FormOptions;
  readonly rerank?: RerankOptions;
  readonly moderations?: BodyOptions;
  readonly 'audio.transcriptions'?: TranscriptionOptions;
  readonly 'audio.translations'?: TranscriptionOptions;
  readonly 'audio.speech'?: SpeechOptions;
}

/** Surfaces the common wire has a translator for. */
export type CommonSurface = TranslatedSurface;

/** Translators of the common wire for the surfaces a provider serves. */
export function commonTranslators(
  surfaces: readonly CommonSurface[],
  params: ParamTreatments,
  options: CommonOptions = {},
): Translators {
  const all: { readonly [S in CommonSurface]: () => Translators[S] } = {
    chat: () => commonChat(params, options.chat),
    embeddings: () => commonEmbeddings(options.embeddings),
    images: () => commonImages(options.images),
    'images.edits': () => commonImageEdits(options['images.edits']),
    rerank: () => commonRerank(options.rerank),
    moderations: () => commonModerations(options.moderations),
    'audio.transcriptions': () => commonTranscriptions(options['audio.transcriptions']),
    'audio.translations': () => commonTranslations(options['audio.translations']),
    'audio.speech': () => commonSpeech(options['audio.speech']),
  };
  return Object.fromEntries(surfaces.map((surface) => [surface, all[surface]()]));
}
