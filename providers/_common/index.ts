/** The public entry point `gw/common-wire`: the builder for providers that speak the clients' format, and its parts. */
export { accountHeaders } from './account-headers.ts';
export { commonSpeech, commonTranscriptions, commonTranslations } from './audio.ts';
export type { SpeechOptions, TranscriptionOptions } from './audio.ts';
export type { BodyOptions } from './body.ts';
export { commonChat } from './chat.ts';
export type { CeilingStyle, ChatBody, ChatOptions } from './chat.ts';
export { type Citation, urlCitations } from './citations.ts';
export { joinedConversation } from './conversation.ts';
export { listedModels, readModels } from './discovery.ts';
export { commonEmbeddings, embeddingsOf, inputTexts, isVector } from './embeddings.ts';
export type { EmbeddingsOptions } from './embeddings.ts';
export {
  addAll,
  countOf,
  fieldsBeside,
  type Fields,
  invalidRequest,
  isFields,
  isGiven,
  itemsOf,
  objectOf,
  withoutAbsent,
} from './fields.ts';
export type { FormOptions } from './forms.ts';
export { commonImageEdits, commonImages, requireImageFormat } from './images.ts';
export type { ImagesOptions } from './images.ts';
export { commonModerations } from './moderations.ts';
export type { Notes } from './notes.ts';
export { type Path, pathSegment, pathSegments, wholeSegment, withoutTail } from './paths.ts';
export { responsesChat, type ResponsesOptions } from './responses/index.ts';
export { commonRerank, tokensMeta } from './rerank.ts';
export type { RerankOptions } from './rerank.ts';
export { translateWebSearch, type WebSearch } from './web-search.ts';
export { commonTranslators } from './translators.ts';
export type { CommonOptions, CommonSurface } from './translators.ts';
