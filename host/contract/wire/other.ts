/** Bodies of the surfaces beside chat, in the common wire. Fields that are not listed travel too. */
import type { Billed } from '../money/cost.ts';
import type { Usage } from './chat.ts';

export interface EmbeddingsRequest {
  readonly model: string;
  /** Text, a list of texts, token ids, or lists of token ids. */
  readonly input: string | readonly (string | number | readonly number[])[];
  readonly encoding_format?: string | null;
  readonly dimensions?: number | null;
  readonly user?: string | null;
  readonly input_type?: string | null;
  readonly [field: string]: unknown;
}

export interface EmbeddingsReply {
  object: string;
  data: { object: string; embedding: number[] | string; index: number }[];
  model: string;
  usage?: { prompt_tokens: number; total_tokens: number };
  [field: string]: unknown;
}

export interface ImagesRequest {
  readonly model: string;
  readonly prompt: string;
  readonly n?: number | null;
  readonly size?: string | null;
  readonly quality?: string | null;
  readonly style?: string | null;
  readonly response_format?: string | null;
  readonly user?: string | null;
  readonly [field: string]: unknown;
}

export interface ImagesReply {
  created?: number;
  data: { url?: string; b64_json?: string; revised_prompt?: string }[];
  /** Kept for pricing; the host does not send it to the client. */
  usage?: Usage;
  [field: string]: unknown;
}

export interface RerankRequest {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n?: number | null;
  readonly return_documents?: boolean | null;
  readonly max_tokens_per_doc?: number | null;
  readonly [field: string]: unknown;
}

export interface RerankReply {
  id?: string;
  results: { index: number; relevance_score: number; document?: { text: string } }[];
  model?: string;
  meta?: {
    billed_units?: { search_units?: number };
    tokens?: { input_tokens?: number; output_tokens?: number };
  };
  [field: string]: unknown;
}

export interface ModerationsRequest {
  readonly model: string;
  /** Text, a list of texts, or multimodal parts. */
  readonly input: unknown;
  readonly [field: string]: unknown;
}

export interface ModerationsReply {
  id?: string;
  model?: string;
  results: {
    flagged: boolean;
    categories: Record<string, boolean>;
    category_scores: Record<string, number>;
    category_applied_input_types?: Record<string, string[]>;
  }[];
  [field: string]: unknown;
}

/** The form fields of an upload. The file's bytes stand apart, so that they are streamed and never copied. */
export interface TranscriptionRequest {
  readonly model: string;
  readonly file: UploadedFile;
  readonly language?: string;
  readonly prompt?: string;
  readonly response_format?: string;
  readonly temperature?: string;
  readonly timestamp_granularities?: readonly string[];
  readonly [field: string]: unknown;
}

export interface UploadedFile {
  readonly filename: string;
  readonly bytes: number;
  /** Length of a recording, where its header says it. */
  readonly seconds?: number | undefined;
  /** Opens the content from its start, once per attempt. */
  open(): AsyncIterable<Uint8Array>;
}

/** A body that leaves as it came: audio, subtitles, a provider's own JSON. */
export interface RawReply {
  readonly contentType: string;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** What the vendor says of its use, where the body does not tell the client. */
  readonly billed?: Billed | undefined;
}

export interface SpeechRequest {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  readonly response_format?: string | null;
  readonly speed?: number | null;
  readonly [field: string]: unknown;
}

/** What plugins see of a body that is forwarded untouched: the values a route peeked at, and the bytes if it holds them. */
export interface OpaqueRequest {
  readonly model?: string;
  readonly max_tokens?: number;
  readonly user?: string;
  /** The body as parsed JSON, when it is JSON of at most 1 MiB. */
  readonly json?: unknown;
  readonly [field: string]: unknown;
}

/** One call of a tool that a client makes itself, through the gateway. */
export interface ToolRequest {
  /** No model takes part. */
  readonly model?: undefined;
  /** Name of the tool server in the configuration. */
  readonly server: string;
  /** Name of the tool, as its server lists it. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** What a tool answered. Source: Model Context Protocol, revision 2025-11-25, "Tools", read 2026-11-22. */
export interface ToolReply {
  /** Blocks of text, images, audio, links to resources, resources. */
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  /** The tool's own word that it failed. */
  readonly isError?: boolean;
  readonly [field: string]: unknown;
}
