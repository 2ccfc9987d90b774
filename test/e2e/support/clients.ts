import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import type { LanguageModel } from 'ai';
import OpenAI from 'openai';
import { MODEL, type Setup } from './gateway.ts';

export interface ClientOptions {
  readonly key?: string;
  readonly model?: string;
}

/** The vendor's own client; it never retries by itself here. */
export function openaiClient(
  { baseURL, gateway }: Pick<Setup, 'baseURL' | 'gateway'>,
  { key = gateway.key }: ClientOptions = {},
): OpenAI {
  return new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
}

/** A model of the AI SDK's provider for common-wire services, named `gw`. Retries are an option of each call: pass `maxRetries: 0`. */
export function aiSdkModel(
  { baseURL, gateway }: Setup,
  { key = gateway.key, model = MODEL }: ClientOptions = {},
): LanguageModel {
  return createOpenAICompatible({
    name: 'gw',
    baseURL,
    apiKey: key,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(model);
}

/** LangChain's chat model. */
export function langchainModel(
  { baseURL, gateway }: Setup,
  { key = gateway.key, model = MODEL }: ClientOptions = {},
  more: ChatOpenAIFields = {},
): ChatOpenAI {
  return new ChatOpenAI({ model, apiKey: key, maxRetries: 0, configuration: { baseURL }, ...more });
}

/** The JSON schema that the structured fixtures answer to. */
export const HARBOUR_SCHEMA = {
  type: 'object',
  properties: {
    harbour: { type: 'string' },
    berths: { type: 'integer' },
    lights: { type: 'array', items: { type: 'string' } },
  },
  required: ['harbour', 'berths', 'lights'],
  additionalProperties: false,
} as const;

export const HARBOUR = { harbour: 'Brest', berths: 42, lights: ['north', 'south'] };

const harbourCall = (more: object): Readonly<Record<string, unknown>> => ({
  type: 'object',
  properties: { harbour: { type: 'string' }, ...more },
  required: ['harbour'],
  additionalProperties: false,
});

/** Parameters of the two tools that the tool fixtures call. */
export const TOOL_PARAMETERS = {
  tide: harbourCall({ hours: { type: 'integer' } }),
  wind: harbourCall({ unit: { type: 'string' } }),
};

/** Both in the wire's shape. */
export const WIRE_TOOLS = Object.entries(TOOL_PARAMETERS).map(([name, parameters]) => ({
  type: 'function' as const,
  function: { name, description: `the ${name} at a harbour`, parameters },
}));

/** The calls of the tool fixtures. */
export const TOOL_CALLS = [
  { id: 'call_Tq81', name: 'tide', input: { harbour: 'Brest', hours: 12 } },
  { id: 'call_Mw27', name: 'wind', input: { harbour: 'Brest', unit: 'kn' } },
];

/** Text of the `stream` fixture. */
export const STREAMED_TEXT = 'The harbour opens at six, “é 港\nand closes\tat nine.';

/** Text of the `reply` fixture. */
export const REPLY_TEXT = 'The harbour opens at six, and closes at nine.';

/** One transparent pixel. */
export const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
