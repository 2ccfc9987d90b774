import { frozenTable } from './json/members.ts';
import type { ChatReply, ChatRequest } from './wire/chat.ts';
import type {
  EmbeddingsReply,
  EmbeddingsRequest,
  ImageEditsRequest,
  ImagesReply,
  ImagesRequest,
  ModerationsReply,
  ModerationsRequest,
  OpaqueRequest,
  RawReply,
  RerankReply,
  RerankRequest,
  SpeechRequest,
  ToolReply,
  ToolRequest,
  TranscriptionRequest,
} from './wire/other.ts';

/**
 * Bodies per surface, in the common wire. A new surface is one line here, one in `SURFACES`, and
 * its files. It is the one place that ties a surface to its types: `RequestOf` and `ReplyOf` read
 * it, and so do `isChat` and `isSurface`.
 */
export interface SurfaceBodies {
  /** `/v1/chat/completions`. */
  readonly chat: { readonly request: ChatRequest; readonly reply: ChatReply };
  /** `/v1/completions`: the prompt is read into a chat. */
  readonly completions: { readonly request: ChatRequest; readonly reply: ChatReply };
  /** Bodies of Anthropic's Messages, read into a chat. */
  readonly messages: { readonly request: ChatRequest; readonly reply: ChatReply };
  /** Requests of clients of the Gemini API, in the common wire. */
  readonly generate_content: { readonly request: ChatRequest; readonly reply: ChatReply };
  /** `/v1/embeddings`. */
  readonly embeddings: { readonly request: EmbeddingsRequest; readonly reply: EmbeddingsReply };
  /** `/v1/images/generations`. */
  readonly images: { readonly request: ImagesRequest; readonly reply: ImagesReply };
  /** `/v1/images/edits`: a form with images. */
  readonly 'images.edits': { readonly request: ImageEditsRequest; readonly reply: ImagesReply };
  /** `/v1/rerank`. */
  readonly rerank: { readonly request: RerankRequest; readonly reply: RerankReply };
  /** `/v1/moderations`. */
  readonly moderations: { readonly request: ModerationsRequest; readonly reply: ModerationsReply };
  /**
   * `/v1/audio/transcriptions`: a form with a file; the answer is of the type that the client asked
   * for.
   */
  readonly 'audio.transcriptions': { readonly request: TranscriptionRequest; readonly reply: RawReply };
  /** `/v1/audio/translations`: the text of the answer is English. */
  readonly 'audio.translations': { readonly request: TranscriptionRequest; readonly reply: RawReply };
  /** `/v1/audio/speech`: the answer is sound. */
  readonly 'audio.speech': { readonly request: SpeechRequest; readonly reply: RawReply };
  /** `/v1/responses` that goes on to a vendor of that API as it is. */
  readonly responses: { readonly request: OpaqueRequest; readonly reply: undefined };
  /** A request of the Responses API that its target cannot be given as it is, read into a chat. */
  readonly 'responses.translated': { readonly request: ChatRequest; readonly reply: ChatReply };
  /** Any other path of `/v1`, forwarded as it is. */
  readonly passthrough: { readonly request: OpaqueRequest; readonly reply: undefined };
  /** A call of a tool that a client makes itself, at `/mcp`. */
  readonly mcp: { readonly request: ToolRequest; readonly reply: ToolReply };
}

/** A family of routes with one body shape. */
export type Surface = keyof SurfaceBodies;

/**
 * Surfaces whose requests and replies are those of a chat, whatever their clients speak. One
 * translator, that of `chat`, serves them all.
 */
export type ChatSurface = 'chat' | 'completions' | 'messages' | 'generate_content' | 'responses.translated';

/**
 * Surfaces a provider translates. Those of chats run as chat, responses and pass-through are
 * forwarded, and calls of tools go to tool servers.
 */
export type TranslatedSurface = Exclude<Surface, ChatSurface | 'responses' | 'passthrough' | 'mcp'> | 'chat';

/**
 * Translated surfaces beside chat whose answers a service may stream as events of the common wire:
 * they go on to the client as they come.
 */
export type StreamedSurface = 'images' | 'images.edits' | 'audio.transcriptions' | 'audio.speech';

/**
 * The request body of a surface, in the common wire. For a union of surfaces it is the union of
 * their bodies, so narrow the exchange first.
 */
export type RequestOf<S extends Surface> = SurfaceBodies[S]['request'];
/**
 * The reply body of a surface, in the common wire; `undefined` where answers are only forwarded.
 */
export type ReplyOf<S extends Surface> = SurfaceBodies[S]['reply'];

/** What sets a surface apart where the host treats surfaces alike. */
interface SurfaceFacts {
  /** The translator that serves it; `undefined` where no provider translates the body. */
  readonly translator: TranslatedSurface | undefined;
  /**
   * The name a plugin's configuration, a log row and the coverage table know it by. Two surfaces
   * may share one: both kinds of uploads are `audio.transcriptions` there.
   */
  readonly tag: string;
  /** Whether plugins see the real messages, rather than a read-only projection of the body. */
  readonly isChat: boolean;
  /** Whether it is one of `StreamedSurface`. */
  readonly canStream?: boolean;
  /** Whether the answer is bytes that go on as they are, rather than JSON. */
  readonly isRaw?: boolean;
  /**
   * Whether its request bodies hold content that no plugin can read, such as audio: a content
   * guardrail refuses them all (docs/reference/data-plane.md#unreadable-bodies).
   */
  readonly isUnreadable?: boolean;
  /**
   * Whether bodies go to a provider and back as they are: answers have been sent when
   * `after_request` runs.
   */
  readonly isForwarded?: boolean;
}

/**
 * What the host knows of each surface. Frozen. Asking it by `surface` is the way to treat kinds of
 * surfaces alike without naming each.
 */
export const SURFACES: Readonly<Record<Surface, SurfaceFacts>> = frozenTable({
  chat: { translator: 'chat', tag: 'chat', isChat: true },
  completions: { translator: 'chat', tag: 'completions', isChat: true },
  messages: { translator: 'chat', tag: 'messages', isChat: true },
  generate_content: { translator: 'chat', tag: 'generate_content', isChat: true },
  embeddings: { translator: 'embeddings', tag: 'embeddings', isChat: false },
  images: { translator: 'images', tag: 'images', isChat: false, canStream: true },
  'images.edits': {
    translator: 'images.edits',
    tag: 'images.edits',
    isChat: false,
    canStream: true,
    isUnreadable: true,
  },
  rerank: { translator: 'rerank', tag: 'rerank', isChat: false },
  moderations: { translator: 'moderations', tag: 'moderations', isChat: false },
  'audio.transcriptions': {
    translator: 'audio.transcriptions',
    tag: 'audio.transcriptions',
    isChat: false,
    canStream: true,
    isRaw: true,
    isUnreadable: true,
  },
  'audio.translations': {
    translator: 'audio.translations',
    tag: 'audio.transcriptions',
    isChat: false,
    isRaw: true,
    isUnreadable: true,
  },
  'audio.speech': {
    translator: 'audio.speech',
    tag: 'audio.speech',
    isChat: false,
    canStream: true,
    isRaw: true,
  },
  responses: { translator: undefined, tag: 'responses', isChat: false, isForwarded: true },
  'responses.translated': { translator: 'chat', tag: 'responses', isChat: true },
  passthrough: { translator: undefined, tag: 'passthrough', isChat: false, isForwarded: true },
  mcp: { translator: undefined, tag: 'mcp', isChat: false },
});

/**
 * The names of all surfaces. Frozen. In the order of the table, for schemas of settings that list
 * surfaces.
 */
export const SURFACE_NAMES = Object.freeze(Object.keys(SURFACES)) as readonly Surface[];
