/**
 * The common chat wire: the bodies of `POST /v1/chat/completions` as clients send and receive them.
 * Fields that are not listed travel too; the index signatures say so. Numbers that JavaScript cannot
 * hold exactly arrive as `JSON.rawJSON` objects, so that they leave digit for digit.
 */

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly n?: number | null;
  readonly seed?: number | object | null;
  /** The ceiling a client declared; after token-ceiling unification the one that counts. */
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly presence_penalty?: number | null;
  readonly frequency_penalty?: number | null;
  /** A string becomes a list of one when the request is read. */
  readonly stop?: readonly string[] | string | null;
  readonly tools?: readonly ChatTool[] | null;
  readonly tool_choice?: string | object | null;
  readonly parallel_tool_calls?: boolean | null;
  readonly response_format?: { readonly type: string; readonly json_schema?: unknown } | null;
  readonly logprobs?: boolean | null;
  readonly top_logprobs?: number | null;
  readonly stream?: boolean | null;
  readonly stream_options?: { readonly include_usage?: boolean | null } | null;
  readonly user?: string | null;
  readonly logit_bias?: Readonly<Record<string, number>> | null;
  readonly [field: string]: unknown;
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly ContentPart[] | null;
  readonly name?: string | null;
  readonly tool_calls?: readonly ToolCall[] | null;
  readonly tool_call_id?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning_details?: readonly unknown[] | null;
  readonly [field: string]: unknown;
}

export type ContentPart =
  | {
      readonly type: 'text';
      readonly text: string;
      readonly cache_control?: unknown;
      readonly [field: string]: unknown;
    }
  | {
      readonly type: 'image_url';
      readonly image_url: { readonly url: string; readonly detail?: string };
      readonly [field: string]: unknown;
    }
  | { readonly type: 'input_audio'; readonly input_audio?: unknown; readonly [field: string]: unknown }
  | { readonly type: 'file'; readonly file?: unknown; readonly [field: string]: unknown }
  | {
      readonly type: 'refusal';
      readonly refusal: string;
      readonly cache_control?: unknown;
      readonly [field: string]: unknown;
    };

export interface ToolCall {
  readonly id?: string;
  readonly type?: string;
  readonly index?: number;
  readonly function: { readonly name?: string; readonly arguments?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface ChatTool {
  readonly type: string;
  readonly function?: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: unknown;
    readonly strict?: boolean | null;
    readonly [field: string]: unknown;
  };
  readonly cache_control?: unknown;
  readonly [field: string]: unknown;
}

/** Token counts. `prompt_tokens` includes cache reads and excludes `cache_write_tokens`, on every provider; see `cacheWritesIn`. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly reasoning_tokens?: number;
  readonly cache_read_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly [field: string]: unknown;
}

export interface ChatReply {
  id?: string;
  object?: string;
  created?: number;
  model?: string;
  /** Key of the target that answered; the host fills it. */
  provider?: string;
  choices: ChatChoice[];
  usage?: Usage;
  provider_metadata?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface ChatChoice {
  index: number;
  message: ReplyMessage;
  logprobs?: unknown;
  finish_reason: string | null;
  [field: string]: unknown;
}

export interface ReplyMessage {
  role: string;
  content: string | null;
  tool_calls?: ToolCall[];
  reasoning_content?: string;
  reasoning_details?: unknown[];
  [field: string]: unknown;
}

/** One piece of a streamed answer. A stream decoder makes these; the host fills what is missing. */
export interface ChatChunk {
  id?: string;
  object?: string;
  created?: number;
  model?: string;
  choices: ChunkChoice[];
  usage?: Usage | null;
  [field: string]: unknown;
}

export interface ChunkChoice {
  index: number;
  delta: ChunkDelta;
  logprobs?: unknown;
  finish_reason?: string | null;
  [field: string]: unknown;
}

export interface ChunkDelta {
  role?: string;
  content?: string | null;
  reasoning_content?: string | null;
  reasoning_details?: unknown[];
  tool_calls?: ToolCallDelta[];
  [field: string]: unknown;
}

export interface ToolCallDelta {
  index?: number;
  id?: string;
  type?: string;
  function?: { name?: string; arguments?: string; [field: string]: unknown };
  [field: string]: unknown;
}
