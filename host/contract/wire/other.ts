/**
 * Bodies of the surfaces beside chat, in the common wire. Fields that are not listed travel too.
 */
import type { Billed } from '../money/cost.ts';
import type { Usage } from './chat.ts';
import type { FormPart, UploadedFile } from './form.ts';

/** A request of embeddings in the common wire. */
export interface EmbeddingsRequest {
  /** Model, or an alias of the configuration. */
  readonly model: string;
  /** Text, a list of texts, token ids, or lists of token ids. */
  readonly input: string | readonly (string | number | readonly number[])[];
  /** How vectors are written: `float`, or `base64` of 32-bit floats in little-endian order. */
  readonly encoding_format?: string | null;
  /** Length of each vector, where the model leaves a choice. */
  readonly dimensions?: number | null;
  /** Whom the request is made for. */
  readonly user?: string | null;
  /** What the vectors are for, at vendors that tell documents from questions. */
  readonly input_type?: string | null;
  readonly [field: string]: unknown;
}

/** Vectors, one for each input. */
export interface EmbeddingsReply {
  /** Always `list`. */
  object: string;
  /** The vectors in the order of the inputs. */
  data: { object: string; embedding: number[] | string; index: number }[];
  /** The model by the name that the client asked for. */
  model: string;
  /** Token counts of the inputs. */
  usage?: { prompt_tokens: number; total_tokens: number };
  [field: string]: unknown;
}

/** A request for images in the common wire. */
export interface ImagesRequest {
  /** Model, or an alias of the configuration. */
  readonly model: string;
  /** What is to be seen. */
  readonly prompt: string;
  /** How many images; 1 unless said. */
  readonly n?: number | null;
  /** Width and height in pixels, such as `1024x1024`. */
  readonly size?: string | null;
  /** How much work goes into an image; the words are the vendor's. */
  readonly quality?: string | null;
  /** The style; the words are the vendor's. */
  readonly style?: string | null;
  /** Whether images come as addresses (`url`) or in the answer (`b64_json`). */
  readonly response_format?: string | null;
  /** Whom the request is made for. */
  readonly user?: string | null;
  readonly [field: string]: unknown;
}

/** Images that were made. */
export interface ImagesReply {
  /** Unix seconds. */
  created?: number;
  /** The images, each as an address or as base64. */
  data: { url?: string; b64_json?: string; revised_prompt?: string }[];
  /** Kept for pricing; the host does not send it to the client. */
  usage?: Usage;
  [field: string]: unknown;
}

/** A request that orders documents by a question. */
export interface RerankRequest {
  /** Model, or an alias of the configuration. */
  readonly model: string;
  /** The question. */
  readonly query: string;
  /** The documents, as texts or as objects. */
  readonly documents: readonly string[];
  /** How many of the best are wanted; all unless said. */
  readonly top_n?: number | null;
  /** Whether results repeat their documents. */
  readonly return_documents?: boolean | null;
  /** Where a document is cut, in tokens. */
  readonly max_tokens_per_doc?: number | null;
  readonly [field: string]: unknown;
}

/** Documents by how well they fit the question, the best first. */
export interface RerankReply {
  /** Id of the answer. */
  id?: string;
  /** Each by the document's place in the request, with its score. */
  results: { index: number; relevance_score: number; document?: { text: string } }[];
  /** The model by the name that the client asked for. */
  model?: string;
  /** What the vendor says beside the results, such as what it bills. */
  meta?: {
    billed_units?: { search_units?: number };
    tokens?: { input_tokens?: number; output_tokens?: number };
  };
  [field: string]: unknown;
}

/** A request that asks whether texts are harmful. */
export interface ModerationsRequest {
  /** Model, or an alias; vendors have one of their own without it. */
  readonly model: string;
  /** Text, a list of texts, or multimodal parts. */
  readonly input: unknown;
  readonly [field: string]: unknown;
}

/** What a vendor found, one result for each input. */
export interface ModerationsReply {
  /** Id of the answer. */
  id?: string;
  /** The model by the name that the client asked for. */
  model?: string;
  /** The findings in the order of the inputs. */
  results: {
    flagged: boolean;
    categories: Record<string, boolean>;
    category_scores: Record<string, number>;
    category_applied_input_types?: Record<string, string[]>;
  }[];
  [field: string]: unknown;
}

/**
 * The form fields of an upload. The file's bytes stand apart, so that they are streamed and never
 * copied.
 */
export interface TranscriptionRequest {
  /** Model, or an alias of the configuration. */
  readonly model: string;
  /** The sound. */
  readonly file: UploadedFile;
  /** The language that is spoken, as ISO 639-1. */
  readonly language?: string;
  /** Words that stand before, or how names are written. */
  readonly prompt?: string;
  /** The form of the answer, such as `json`, `text` or `srt`. */
  readonly response_format?: string;
  /** How freely words are drawn, 0 to 1. */
  readonly temperature?: string;
  /** What times are wanted for: `word`, `segment`. */
  readonly timestamp_granularities?: readonly string[];
  /**
   * All parts in the order in which the client wrote them, the file among them; absent where no
   * client wrote any. Fields of any name stand among the members as well.
   */
  readonly form?: readonly FormPart[];
  readonly [field: string]: unknown;
}

/** A request that has images changed: the fields of a form, and its files. */
export interface ImageEditsRequest {
  /** Model, or an alias of the configuration. */
  readonly model: string;
  /** What is to be seen. */
  readonly prompt?: string;
  /** How many images; 1 unless said. */
  readonly n?: number;
  /**
   * All parts in the order in which the client wrote them: texts, images, a mask. Fields of any
   * name stand among the members as well.
   */
  readonly form: readonly FormPart[];
  readonly [field: string]: unknown;
}

/** A body that leaves as it came: audio, subtitles, a provider's own JSON. */
export interface RawReply {
  /** The media type as the provider stated it. */
  readonly contentType: string;
  /** The bytes, whole or as they arrive. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** What the vendor says of its use, where the body does not tell the client. */
  readonly billed?: Billed | undefined;
}

/** A request that has a text read out. */
export interface SpeechRequest {
  /** Model, or an alias of the configuration. */
  readonly model: string;
  /** The text. */
  readonly input: string;
  /** The voice; the words are the vendor's. A voice of the caller's own is named by its id. */
  readonly voice: string | { readonly id: string };
  /** The format of the sound, such as `mp3`. */
  readonly response_format?: string | null;
  /** How fast it is read; 1 is the usual speed. */
  readonly speed?: number | null;
  /** `audio`, or `sse` for a stream of events; `audio` unless said. */
  readonly stream_format?: string | null;
  readonly [field: string]: unknown;
}

/**
 * What plugins see of a body that is forwarded untouched: the values a route peeked at, and the
 * bytes if it holds them.
 */
export interface OpaqueRequest {
  /** The model, where the body names one. */
  readonly model?: string;
  /** The ceiling, where the body names one. */
  readonly max_tokens?: number;
  /** Whom the request is made for, where the body says so. */
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
  /** What the tool is called with, by name. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/**
 * What a tool answered. Source: Model Context Protocol, revision 2025-11-25, "Tools", read
 * 2026-11-22.
 */
export interface ToolReply {
  /** Blocks of text, images, audio, links to resources, resources. */
  readonly content: readonly unknown[];
  /** The result as data, where the tool gives any. */
  readonly structuredContent?: unknown;
  /** The tool's own word that it failed. */
  readonly isError?: boolean;
  readonly [field: string]: unknown;
}
