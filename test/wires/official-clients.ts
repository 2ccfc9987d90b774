import Anthropic from '@anthropic-ai/sdk';
import { type Content, GoogleGenAI, type GenerateContentResponse } from '@google/genai';
import OpenAI from 'openai';
import { parsed } from '../differential/meaning/meaning.ts';
import { MASTER_KEY } from '../kit/index.ts';

type Fields = Record<string, any>;

/** What a client's own package makes of an answer; the end and the counts in the words of its wire. */
export interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly end: unknown;
  readonly usage: Fields;
}

/** How an answer ended, in the words of the common wire. */
export type End = 'stop' | 'tool_calls' | 'length' | 'content_filter';

/** Counts of an answer. What was read from a cache, or written to one, is part of the input. */
export interface Counted {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
  readonly reasoning: number;
}

/** A client of one wire that declares tools and asks for thoughts. */
export interface OfficialClient {
  readonly name: string;
  /** Whether a tool whose input is a text reaches the vendor as one. Other wires have none, or a function is declared in its place. */
  readonly hasCustomTools: boolean;
  readonly ask: (url: string, isStreamed: boolean) => Promise<Said>;
  readonly endOf: (end: End) => unknown;
  readonly usageOf: (counted: Counted) => Fields;
}

const FUNCTIONS = ['tide', 'wind', 'free_berths'] as const;
const PROMPT = 'how is the tide?';
const PARAMETERS = { type: 'object', properties: { harbour: { type: 'string' } } } as const;

/** Not of the vendor's own chats, so that its package has no name for it. */
const SHOWN = { include_reasoning: true };

const openai = (url: string): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: MASTER_KEY, maxRetries: 0 });

/** These counts; 0 where there is none. */
const picked = (from: object | null | undefined, names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, (from as Fields | undefined)?.[name] ?? 0]));

const CHAT: OfficialClient = {
  name: 'chat',
  hasCustomTools: true,
  async ask(url, isStreamed) {
    const asked: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model: 'm',
      messages: [{ role: 'user', content: PROMPT }],
      tools: [
        ...FUNCTIONS.map((name) => ({ type: 'function' as const, function: { name, parameters: PARAMETERS } })),
        { type: 'custom', custom: { name: 'write_sql' } },
      ],
      ...SHOWN,
    };
    const { completions } = openai(url).chat;
    const { message, finish, usage } = isStreamed
      ? await joinedChat(await completions.create({ ...asked, stream: true, stream_options: { include_usage: true } }))
      : wholeChat(await completions.create(asked));
    const { prompt_tokens_details: read, completion_tokens_details: thought } = usage ?? {};
    return {
      text: message['content'] ?? '',
      reasoning: message['reasoning_content'] ?? '',
      calls: (message['tool_calls'] ?? []).map(({ type, function: called, custom }: Fields) =>
        type === 'custom'
          ? { name: custom.name, input: custom.input }
          : { name: called.name, input: parsed(called.arguments) },
      ),
      end: finish,
      usage: {
        ...picked(usage, ['prompt_tokens', 'completion_tokens', 'total_tokens', 'cache_write_tokens']),
        ...picked(read, ['cached_tokens']),
        ...picked(thought, ['reasoning_tokens']),
      },
    };
  },
  endOf: (end) => end,
  usageOf: ({ input, cached, written, output, reasoning }) => ({
    prompt_tokens: input - written,
    completion_tokens: output,
    total_tokens: input - written + output,
    cache_write_tokens: written,
    cached_tokens: cached,
    reasoning_tokens: reasoning,
  }),
};

/** What a client has of a chat when it is over. */
interface Chatted {
  readonly message: Fields;
  readonly finish: string | null;
  readonly usage: Fields | undefined;
}

const wholeChat = ({ choices: [choice], usage }: OpenAI.ChatCompletion): Chatted => ({
  message: choice!.message,
  finish: choice!.finish_reason,
  usage,
});

/** The package's own assembly of a stream takes calls of functions alone, so that its chunks are put together here. */
async function joinedChat(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<Chatted> {
  const message: Fields = { content: '', reasoning_content: '', tool_calls: [] };
  let finish: string | null = null;
  let usage: Fields | undefined;
  for await (const chunk of stream) {
    if (chunk.usage) usage = chunk.usage;
    for (const { delta, finish_reason: reason } of chunk.choices) {
      finish = reason ?? finish;
      const { content, reasoning_content: thought, tool_calls: calls = [] } = delta as Fields;
      message['content'] += content ?? '';
      message['reasoning_content'] += thought ?? '';
      for (const { index, type, function: called, custom } of calls) {
        const known = (message['tool_calls'][index] ??= {
          type,
          function: { name: called?.name, arguments: '' },
          custom: { name: custom?.name, input: '' },
        });
        known.function.arguments += called?.arguments ?? '';
        known.custom.input += custom?.input ?? '';
      }
    }
  }
  return { message, finish, usage };
}

const MESSAGES_ENDS = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', content_filter: 'refusal' };

const MESSAGES: OfficialClient = {
  name: 'Messages',
  hasCustomTools: false,
  async ask(url, isStreamed) {
    const client = new Anthropic({ baseURL: url, apiKey: MASTER_KEY, maxRetries: 0 });
    const asked: Anthropic.MessageCreateParamsNonStreaming = {
      model: 'm',
      max_tokens: 4096,
      thinking: { type: 'enabled', budget_tokens: 1024, display: 'summarized' },
      messages: [{ role: 'user', content: PROMPT }],
      tools: FUNCTIONS.map((name) => ({ name, input_schema: PARAMETERS })),
    };
    const {
      content,
      stop_reason: end,
      usage,
    } = isStreamed ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked);
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
      calls: content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [])),
      end,
      usage: {
        ...picked(usage, ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']),
        ...picked(usage.output_tokens_details, ['thinking_tokens']),
      },
    };
  },
  endOf: (end) => MESSAGES_ENDS[end],
  usageOf: ({ input, cached, written, output, reasoning }) => ({
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: output,
    thinking_tokens: reasoning,
  }),
};

const GEMINI_ENDS = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY' };

const GEMINI: OfficialClient = {
  name: 'Gemini',
  hasCustomTools: false,
  async ask(url, isStreamed) {
    const { models } = new GoogleGenAI({
      apiKey: MASTER_KEY,
      httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } },
    });
    const asked = {
      model: 'm',
      contents: [{ role: 'user', parts: [{ text: PROMPT }] }] satisfies Content[],
      config: {
        thinkingConfig: { includeThoughts: true },
        tools: [{ functionDeclarations: FUNCTIONS.map((name) => ({ name, parametersJsonSchema: PARAMETERS })) }],
      },
    };
    const pieces: GenerateContentResponse[] = [];
    if (isStreamed) for await (const piece of await models.generateContentStream(asked)) pieces.push(piece);
    else pieces.push(await models.generateContent(asked));
    const parts = pieces.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    const last = pieces.at(-1);
    return {
      text: parts.map(({ text = '', thought }) => (thought === true ? '' : text)).join(''),
      reasoning: parts.map(({ text = '', thought }) => (thought === true ? text : '')).join(''),
      calls: parts.flatMap(({ functionCall: call }) => (call ? [{ name: call.name ?? '', input: call.args }] : [])),
      end: last?.candidates?.[0]?.finishReason,
      usage: picked(last?.usageMetadata, [
        'promptTokenCount',
        'cachedContentTokenCount',
        'candidatesTokenCount',
        'thoughtsTokenCount',
        'totalTokenCount',
      ]),
    };
  },
  endOf: (end) => GEMINI_ENDS[end],
  usageOf: ({ input, cached, output, reasoning }) => ({
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  }),
};

const RESPONSES_ENDS = {
  stop: ['completed', undefined],
  tool_calls: ['completed', undefined],
  length: ['incomplete', 'max_output_tokens'],
  content_filter: ['incomplete', 'content_filter'],
};

const RESPONSES: OfficialClient = {
  name: 'Responses',
  hasCustomTools: false,
  async ask(url, isStreamed) {
    const asked: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
      model: 'm',
      input: PROMPT,
      reasoning: { summary: 'auto' },
      tools: FUNCTIONS.map((name) => ({ type: 'function', name, parameters: PARAMETERS, strict: false })),
    };
    const { responses } = openai(url);
    const response = isStreamed
      ? await responses.stream({ ...asked, stream: true }).finalResponse()
      : await responses.create(asked);
    const { output, output_text: text, status, incomplete_details: details, usage } = response;
    return {
      text,
      reasoning: output
        .map((item) => (item.type === 'reasoning' ? item.summary.map((part) => part.text).join('') : ''))
        .join(''),
      calls: output.flatMap((item) =>
        item.type === 'function_call' ? [{ name: item.name, input: parsed(item.arguments) }] : [],
      ),
      end: [status, details?.reason],
      usage: {
        ...picked(usage, ['input_tokens', 'output_tokens', 'total_tokens']),
        ...picked(usage?.input_tokens_details, ['cached_tokens', 'cache_write_tokens']),
        ...picked(usage?.output_tokens_details, ['reasoning_tokens']),
      },
    };
  },
  endOf: (end) => RESPONSES_ENDS[end],
  usageOf: ({ input, cached, written, output, reasoning }) => ({
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    cached_tokens: cached,
    cache_write_tokens: written,
    reasoning_tokens: reasoning,
  }),
};

/** The vendors' own packages, each on its own wire. */
export const OFFICIAL_CLIENTS: readonly OfficialClient[] = [CHAT, MESSAGES, GEMINI, RESPONSES];
