import type {
  LanguageModelV4,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type OpenAI from 'openai';
import { parsed } from '../meaning/meaning.ts';

/** What a client hears of an answer, by whichever toolkit. */
export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly finish: string;
  readonly usage: {
    readonly input: number;
    readonly output: number;
    readonly cached: number;
    readonly reasoning: number;
  };
  readonly failure?: string;
}

const NOTHING: Heard = {
  text: '',
  reasoning: '',
  calls: [],
  finish: '',
  usage: { input: 0, output: 0, cached: 0, reasoning: 0 },
};

type Fields = Record<string, any>;
type Completion = OpenAI.ChatCompletion;

function usageOf(usage: Fields | null | undefined): Heard['usage'] {
  const {
    prompt_tokens: input = 0,
    completion_tokens: output = 0,
    prompt_tokens_details: read = {},
    completion_tokens_details: written = {},
  } = usage ?? {};
  return { input, output, cached: read?.cached_tokens ?? 0, reasoning: written?.reasoning_tokens ?? 0 };
}

function heardOf({ choices: [choice], usage }: Completion, reasoning: string): Heard {
  const { content, refusal, tool_calls: calls = [] } = choice!.message;
  return {
    text: (content ?? '') + (refusal ?? ''),
    reasoning,
    calls: calls.map((call) => ({
      name: (call as Fields)['function'].name,
      input: parsed((call as Fields)['function'].arguments),
    })),
    finish: choice!.finish_reason,
    usage: usageOf(usage),
  };
}

const failed = (error: unknown): Heard => ({ ...NOTHING, failure: (error as Error).message });

/** By the `openai` client, whole. */
export async function heardWhole(client: OpenAI, model: string): Promise<Heard> {
  try {
    const reply = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'hi' }] });
    return heardOf(reply, (reply.choices[0]!.message as Fields)['reasoning_content'] ?? '');
  } catch (error) {
    return failed(error);
  }
}

/** By the `openai` client's own assembly of a stream, which throws at what is out of order. */
export async function heardStreamed(client: OpenAI, model: string): Promise<Heard> {
  try {
    const stream = client.chat.completions.stream({
      model,
      messages: [{ role: 'user', content: 'hi' }],
      stream_options: { include_usage: true },
    });
    let reasoning = '';
    for await (const {
      choices: [choice],
    } of stream)
      reasoning += (choice?.delta as Fields | undefined)?.['reasoning_content'] ?? '';
    return heardOf(await stream.finalChatCompletion(), reasoning);
  } catch (error) {
    return failed(error);
  }
}

const FINISHES: Readonly<Record<string, string>> = { 'tool-calls': 'tool_calls', 'content-filter': 'content_filter' };
const counted = ({ inputTokens, outputTokens }: LanguageModelV4Usage): Heard['usage'] => ({
  input: inputTokens.total ?? 0,
  output: outputTokens.total ?? 0,
  cached: inputTokens.cacheRead ?? 0,
  reasoning: outputTokens.reasoning ?? 0,
});
const callIn = ({
  toolName,
  input,
}: {
  readonly toolName: string;
  readonly input: string;
}): Heard['calls'][number] => ({ name: toolName, input: parsed(input) });
const PROMPT = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }] };

/** By the other toolkit's package, whole. */
export async function heardWholeByThem(model: LanguageModelV4): Promise<Heard> {
  try {
    const { content, finishReason, usage } = await model.doGenerate(PROMPT);
    const texts = (kind: 'text' | 'reasoning'): string =>
      content.map((part: LanguageModelV4Content) => (part.type === kind ? part.text : '')).join('');
    return {
      text: texts('text'),
      reasoning: texts('reasoning'),
      calls: content.flatMap((part) => (part.type === 'tool-call' ? [callIn(part)] : [])),
      finish: FINISHES[finishReason.unified] ?? finishReason.unified,
      usage: counted(usage),
    };
  } catch (error) {
    return failed(error);
  }
}

/** By the same, streamed. */
export async function heardStreamedByThem(model: LanguageModelV4): Promise<Heard> {
  try {
    const { stream } = await model.doStream(PROMPT);
    let heard = NOTHING;
    for await (const part of stream) heard = after(heard, part);
    return heard;
  } catch (error) {
    return failed(error);
  }
}

function after(heard: Heard, part: LanguageModelV4StreamPart): Heard {
  switch (part.type) {
    case 'text-delta':
      return { ...heard, text: heard.text + part.delta };
    case 'reasoning-delta':
      return { ...heard, reasoning: heard.reasoning + part.delta };
    case 'tool-call':
      return { ...heard, calls: [...heard.calls, callIn(part)] };
    case 'finish':
      return {
        ...heard,
        finish: FINISHES[part.finishReason.unified] ?? part.finishReason.unified,
        usage: counted(part.usage),
      };
    case 'error':
      return { ...heard, failure: String(part.error) };
    default:
      return heard;
  }
}
