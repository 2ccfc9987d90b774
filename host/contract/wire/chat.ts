/**
 * The common chat wire: the bodies of `POST /v1/chat/completions` as clients send and receive them.
 * Fields that are not listed travel too; the index signatures say so. Numbers that JavaScript
 * cannot hold exactly arrive as `JSON.rawJSON` objects, so that they leave digit for digit.
 */
import type { BILLED, UsageFacts } from '../money/usage-facts.ts';

/** What a body of JSON may hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/**
 * A request of chat in the common wire, which is that of OpenAI's chat completions. Members that
 * are not listed travel as they are.
 */
export interface ChatRequest {
  /** Model, or an alias of the configuration. */
  readonly model: string;
  /** The conversation so far, oldest first. */
  readonly messages: readonly ChatMessage[];
  /** How freely words are drawn; vendors differ in the highest value. */
  readonly temperature?: number | null;
  /** Share of the likeliest words that are drawn from, 0 to 1. */
  readonly top_p?: number | null;
  /** How many choices are wanted; 1 unless said. */
  readonly n?: number | null;
  /** Asks for the same answer to the same request, where the vendor can do that. */
  readonly seed?: number | object | null;
  /** The ceiling a client declared; after token-ceiling unification the one that counts. */
  readonly max_tokens?: number | null;
  /** Most tokens of one choice, reasoning included; counts before `max_tokens`. */
  readonly max_completion_tokens?: number | null;
  /** Lowers words that have been used at all, -2 to 2. */
  readonly presence_penalty?: number | null;
  /** Lowers words by how often they have been used, -2 to 2. */
  readonly frequency_penalty?: number | null;
  /** A string becomes a list of one when the request is read. */
  readonly stop?: readonly string[] | string | null;
  /** Functions that the model may call. */
  readonly tools?: readonly ChatTool[] | null;
  /** Whether and which tool is to be called: `none`, `auto`, `required`, or one by its name. */
  readonly tool_choice?: string | object | null;
  /** Whether one answer may call several tools. */
  readonly parallel_tool_calls?: boolean | null;
  /** The form of the answer: text, JSON, or JSON of a schema. */
  readonly response_format?: { readonly type: string; readonly json_schema?: unknown } | null;
  /** Whether the answer says how likely its tokens were. */
  readonly logprobs?: boolean | null;
  /** How many other tokens are listed at each place. */
  readonly top_logprobs?: number | null;
  /** Whether the answer comes as chunks. */
  readonly stream?: boolean | null;
  /** What a stream holds beside the chunks, such as usage. */
  readonly stream_options?: { readonly include_usage?: boolean | null } | null;
  /** Whom the request is made for, as the client names them. */
  readonly user?: string | null;
  /** What is added to the likelihood of single tokens, by their id. */
  readonly logit_bias?: Readonly<Record<string, number>> | null;
  readonly [field: string]: unknown;
}

/** One message of a conversation, in the common wire. */
export interface ChatMessage {
  /** Who speaks: `system`, `developer`, `user`, `assistant` or `tool`. */
  readonly role: string;
  /** A text, or parts; absent or `null` where the message only calls tools. */
  readonly content?: string | readonly ContentPart[] | null;
  /** Name of the speaker, where several have one role. */
  readonly name?: string | null;
  /** Calls that the assistant made. */
  readonly tool_calls?: readonly ToolCall[] | null;
  /** The call that a message of a tool answers. */
  readonly tool_call_id?: string | null;
  /** The reasoning of the assistant as text. */
  readonly reasoning_content?: string | null;
  /** The reasoning as its vendor gave it, to be sent back unchanged. */
  readonly reasoning_details?: readonly unknown[] | null;
  readonly [field: string]: unknown;
}

/** A part of a message: a text, an image, a sound or a file, by its `type`. */
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

/** A call of a tool that a model asks for. */
export interface ToolCall {
  /** Names the call; the message with the result repeats it. */
  readonly id?: string;
  /** The kind of tool; `function` is the usual one. */
  readonly type?: string;
  /** Place among the calls of one message. */
  readonly index?: number;
  /**
   * The function by name, and its arguments as a text of JSON, which a model may have got wrong.
   */
  readonly function: { readonly name?: string; readonly arguments?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** A tool that a model may call. */
export interface ChatTool {
  /** The kind of tool; `function` is the usual one. */
  readonly type: string;
  /** Name, description, and the JSON Schema of its arguments. */
  readonly function?: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: unknown;
    readonly strict?: boolean | null;
    readonly [field: string]: unknown;
  };
  /** A mark for vendors whose cache of prompts ends where the client says so. */
  readonly cache_control?: unknown;
  readonly [field: string]: unknown;
}

/**
 * Token counts. `prompt_tokens` includes cache reads and excludes `cache_write_tokens`, on every
 * provider; see `cacheWritesIn`.
 */
export interface Usage {
  /** Tokens of the prompt, those from a cache included. */
  readonly prompt_tokens: number;
  /** Tokens of all choices, reasoning included. */
  readonly completion_tokens: number;
  /** Both together. */
  readonly total_tokens: number;
  /** Tokens of reasoning, which the completion counts too. */
  readonly reasoning_tokens?: number;
  /** Tokens of the prompt that the vendor read from its cache. */
  readonly cache_read_tokens?: number;
  /** Tokens of the prompt that the vendor wrote to its cache. */
  readonly cache_write_tokens?: number;
  /** What else the answer is billed by; `withFacts` sets it, and no client is shown it. */
  readonly [BILLED]?: UsageFacts;
  readonly [field: string]: unknown;
}

/** A whole answer of chat in the common wire. */
export interface ChatReply {
  /** Id of the answer, as the vendor gave it. */
  id?: string;
  /** Always `chat.completion`. */
  object?: string;
  /** Unix seconds. */
  created?: number;
  /** The model by the name that the client asked for. */
  model?: string;
  /** Key of the target that answered; the host fills it. */
  provider?: string;
  /** The answers; as many as `n` asked for. */
  choices: ChatChoice[];
  /** Token counts; absent where the vendor did not say. */
  usage?: Usage;
  /** What the vendor says beside the common format. */
  provider_metadata?: Record<string, unknown>;
  [field: string]: unknown;
}

/** One of the answers to a request. */
export interface ChatChoice {
  /** Place among the choices, from 0. */
  index: number;
  /** What the model said. */
  message: ReplyMessage;
  /** How likely its tokens were, where that was asked for. */
  logprobs?: unknown;
  /** Why it ended: `stop`, `length`, `tool_calls`, `content_filter`; see `finishReason`. */
  finish_reason: string | null;
  [field: string]: unknown;
}

/** The message of a whole answer. */
export interface ReplyMessage {
  /** Always `assistant`. */
  role: string;
  /** The text; `null` where the model only calls tools. */
  content: string | null;
  /** Calls that the model asks for. */
  tool_calls?: ToolCall[];
  /** The reasoning as text. */
  reasoning_content?: string;
  /** The reasoning as its vendor gave it, for the next request. */
  reasoning_details?: unknown[];
  [field: string]: unknown;
}

/** One piece of a streamed answer. A stream decoder makes these; the host fills what is missing. */
export interface ChatChunk {
  /** Id of the answer: the same in all of its chunks. */
  id?: string;
  /** Always `chat.completion.chunk`. */
  object?: string;
  /** Unix seconds: the same in all chunks of an answer. */
  created?: number;
  /** The model by the name that the client asked for. */
  model?: string;
  /** What comes on for each choice; empty in the chunk that holds usage. */
  choices: ChunkChoice[];
  /** Token counts, on the last chunk. */
  usage?: Usage | null;
  [field: string]: unknown;
}

/** What a chunk adds to one choice. */
export interface ChunkChoice {
  /** Place among the choices, from 0. */
  index: number;
  /** What comes on. */
  delta: ChunkDelta;
  /** How likely the tokens of this piece were, where that was asked for. */
  logprobs?: unknown;
  /** Why the choice ended; `null` until it has. */
  finish_reason?: string | null;
  [field: string]: unknown;
}

/** A piece of a message. Texts are joined in the order in which they come. */
export interface ChunkDelta {
  /** Always `assistant`; the first piece has it. */
  role?: string;
  /** A piece of the text. */
  content?: string | null;
  /** A piece of the reasoning. */
  reasoning_content?: string | null;
  /** A piece of the reasoning as its vendor gives it. */
  reasoning_details?: unknown[];
  /** Pieces of calls, each by its index. */
  tool_calls?: ToolCallDelta[];
  [field: string]: unknown;
}

/** A piece of a call of a tool. */
export interface ToolCallDelta {
  /** The call that it belongs to, by its place. */
  index?: number;
  /** Id of the call; the first piece has it. */
  id?: string;
  /** The kind of tool; the first piece has it. */
  type?: string;
  /** The name, whole, in the first piece; a piece of the arguments in each. */
  function?: { name?: string; arguments?: string; [field: string]: unknown };
  [field: string]: unknown;
}
