/** The vendors' own clients in a loop of tools, each keeping its history as its users do: what came back goes back. */
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk';
import { ApiError, type Content, GoogleGenAI, type Part } from '@google/genai';
import OpenAI, { APIError } from 'openai';

const SCHEMA = { type: 'object', properties: { harbour: { type: 'string' } }, required: ['harbour'] } as const;
const TOOLS = ['tide', 'wind'];
const MAIN = 'you are a pilot';

export interface Connection {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly isStreamed: boolean;
  readonly session?: string;
}

export interface Heard {
  readonly text: string;
  readonly calls: readonly { readonly id: string | undefined; readonly name: string; readonly args: unknown }[];
}

/** One conversation. A turn that failed may be asked for again. */
export interface Talk {
  /** Says something, or brings the results of the last calls, and hears the answer. */
  ask(said: string | readonly string[]): Promise<Heard>;
}

export interface Client {
  readonly name: string;
  /** The wire in which its errors come. */
  readonly isItsError: (error: unknown) => boolean;
  open(connection: Connection): Talk;
}

const headersOf = ({ session }: Connection): Record<string, string> =>
  session === undefined ? {} : { 'x-gateway-session': session };

const openai = (connection: Connection): OpenAI =>
  new OpenAI({
    baseURL: `${connection.url}/v1`,
    apiKey: connection.key,
    maxRetries: 0,
    defaultHeaders: headersOf(connection),
  });

const CHAT: Client = {
  name: 'openai, chat completions',
  isItsError: (error) => error instanceof APIError,
  open: (connection) => {
    const client = openai(connection);
    let messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: MAIN }];
    let last: Heard['calls'] = [];
    return {
      ask: async (said) => {
        const next: OpenAI.ChatCompletionMessageParam[] =
          typeof said === 'string'
            ? [...messages, { role: 'user', content: said }]
            : [
                ...messages,
                ...said.map((content, at) => ({
                  role: 'tool' as const,
                  tool_call_id: last[at]?.id ?? '',
                  content,
                })),
              ];
        const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
          model: connection.model,
          messages: next,
          tools: TOOLS.map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } })),
        };
        const { choices } = connection.isStreamed
          ? await client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
          : await client.chat.completions.create(body);
        const message = choices[0]?.message as OpenAI.ChatCompletionMessage;
        messages = [...next, message];
        last = (message.tool_calls ?? []).flatMap((call) =>
          call.type === 'function'
            ? [{ id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) as unknown }]
            : [],
        );
        return { text: message.content ?? '', calls: last };
      },
    };
  },
};

const RESPONSES: Client = {
  name: 'openai, responses',
  isItsError: (error) => error instanceof APIError,
  open: (connection) => {
    const client = openai(connection);
    let input: OpenAI.Responses.ResponseInputItem[] = [];
    let last: Heard['calls'] = [];
    return {
      ask: async (said) => {
        const next: OpenAI.Responses.ResponseInputItem[] =
          typeof said === 'string'
            ? [...input, { role: 'user', content: said }]
            : [
                ...input,
                ...said.map((output, at) => ({
                  type: 'function_call_output' as const,
                  call_id: last[at]?.id ?? '',
                  output,
                })),
              ];
        const body: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
          model: connection.model,
          instructions: MAIN,
          input: next,
          store: false,
          include: ['reasoning.encrypted_content'],
          tools: TOOLS.map((name) => ({ type: 'function', name, parameters: SCHEMA, strict: false })),
        };
        const {
          output,
          output_text: text,
          error,
        } = connection.isStreamed
          ? await client.responses.stream({ ...body, stream: true }).finalResponse()
          : await client.responses.create(body);
        if (error) throw new APIError(undefined, error, error.message, undefined);
        input = [...next, ...(output as OpenAI.Responses.ResponseInputItem[])];
        last = output.flatMap((item) =>
          item.type === 'function_call'
            ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) as unknown }]
            : [],
        );
        return { text, calls: last };
      },
    };
  },
};

const MESSAGES: Client = {
  name: '@anthropic-ai/sdk',
  isItsError: (error) => error instanceof AnthropicError,
  open: (connection) => {
    const client = new Anthropic({
      baseURL: connection.url,
      apiKey: connection.key,
      maxRetries: 0,
      defaultHeaders: headersOf(connection),
    });
    let messages: Anthropic.MessageParam[] = [];
    let last: Heard['calls'] = [];
    return {
      ask: async (said) => {
        const content: Anthropic.MessageParam['content'] =
          typeof said === 'string'
            ? said
            : said
                .map((text, at) => ({ type: 'tool_result' as const, tool_use_id: last[at]?.id ?? '', content: text }))
                .toReversed();
        const next: Anthropic.MessageParam[] = [...messages, { role: 'user', content }];
        const body: Anthropic.MessageCreateParamsNonStreaming = {
          model: connection.model,
          max_tokens: 4_000,
          system: MAIN,
          thinking: { type: 'adaptive' },
          messages: next,
          tools: TOOLS.map((name) => ({ name, input_schema: { ...SCHEMA, required: ['harbour'] } })),
        };
        const answer = connection.isStreamed
          ? await client.messages.stream(body).finalMessage()
          : await client.messages.create(body);
        messages = [...next, { role: 'assistant', content: answer.content }];
        last = answer.content.flatMap((block) =>
          block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input }] : [],
        );
        return { text: answer.content.map((block) => (block.type === 'text' ? block.text : '')).join(''), calls: last };
      },
    };
  },
};

const GEMINI: Client = {
  name: '@google/genai',
  isItsError: (error) =>
    error instanceof ApiError || (error instanceof Error && /^\{"error":|got status/.test(error.message)),
  open: (connection) => {
    const ai = new GoogleGenAI({
      apiKey: connection.key,
      httpOptions: { baseUrl: connection.url, headers: headersOf(connection) },
    });
    let contents: Content[] = [];
    let last: Heard['calls'] = [];
    return {
      ask: async (said) => {
        const parts: Part[] =
          typeof said === 'string'
            ? [{ text: said }]
            : said.map((output, at) => ({
                functionResponse: {
                  ...(last[at]?.id !== undefined && { id: last[at].id }),
                  name: last[at]?.name ?? '',
                  response: { output },
                },
              }));
        const next: Content[] = [...contents, { role: 'user', parts }];
        const ask = {
          model: connection.model,
          contents: next,
          config: {
            systemInstruction: MAIN,
            thinkingConfig: { includeThoughts: true },
            tools: [{ functionDeclarations: TOOLS.map((name) => ({ name, parametersJsonSchema: SCHEMA })) }],
          },
        };
        const heard: Part[] = [];
        const keep = (candidates: readonly { readonly content?: Content }[] | undefined): number =>
          heard.push(...(candidates?.[0]?.content?.parts ?? []));
        if (connection.isStreamed)
          for await (const piece of await ai.models.generateContentStream(ask)) keep(piece.candidates);
        else keep((await ai.models.generateContent(ask)).candidates);
        contents = [...next, { role: 'model', parts: heard }];
        last = heard.flatMap(({ functionCall: call }) =>
          call ? [{ id: call.id, name: call.name ?? '', args: call.args }] : [],
        );
        return { text: heard.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''), calls: last };
      },
    };
  },
};

export const CLIENTS: readonly Client[] = [CHAT, RESPONSES, MESSAGES, GEMINI];
