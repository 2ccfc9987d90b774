import { ApiError } from '../../../api/api-error.ts';
import type { ApiClient } from '../../../api/client.ts';
import { isFields, textAt } from '../../../lib/fields.ts';
import { readJson } from '../../../lib/json.ts';
import { EventReader } from '../../../lib/sse.ts';
import { type Attribution, attributionOf, type Usage } from '../attribution.ts';

export interface ChatSettings {
  readonly isStreaming: boolean;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly system: string;
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** What has come of an answer so far; each call of the listener gets all of it. */
export interface Progress {
  readonly text: string;
  readonly attribution: Attribution;
  readonly usage: Usage | undefined;
}

export interface ChatCall {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly settings: ChatSettings;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

const PATH = '/v1/chat/completions';

/** Sends a chat and reports its answer as it comes. Resolves with the whole; throws what went wrong, a broken stream included. */
export async function chat(
  api: ApiClient,
  { model, messages, settings, signal, onProgress }: ChatCall,
): Promise<Progress> {
  const { isStreaming, temperature, maxTokens, system } = settings;
  const body = {
    model,
    temperature,
    max_tokens: maxTokens,
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    ...(isStreaming && { stream: true, stream_options: { include_usage: true } }),
  };
  const response = await api.open(PATH, { method: 'POST', body, signal, hasNoDeadline: !isStreaming });
  const attribution = attributionOf(response.headers);
  const isEvents = response.headers.get('Content-Type')?.startsWith('text/event-stream') ?? false;
  if (isEvents && response.body) return readStream(response.body, attribution, onProgress);
  const answer = replyOf(readJson(await response.text()), attribution);
  onProgress(answer);
  return answer;
}

function replyOf(reply: unknown, attribution: Attribution): Progress {
  const message = choiceOf(reply)?.['message'];
  if (!isFields(reply) || !isFields(message)) throw new ApiError(200, 'The answer is not a chat completion.');
  const provider = attribution.provider ?? textAt(reply, 'provider');
  return {
    text: textAt(message, 'content') ?? callsText(message['tool_calls']),
    usage: usageOf(reply),
    attribution: { ...attribution, provider },
  };
}

async function readStream(
  body: ReadableStream<Uint8Array>,
  attribution: Attribution,
  onProgress: (progress: Progress) => void,
): Promise<Progress> {
  const reader = new EventReader();
  let progress: Progress = { text: '', attribution, usage: undefined };
  onProgress(progress);
  for await (const text of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    for (const data of reader.push(text)) {
      if (data === '[DONE]') return progress;
      progress = withChunk(progress, readJson(data));
    }
    onProgress(progress);
  }
  throw new ApiError(200, 'The stream ended before the answer was complete.');
}

function withChunk(progress: Progress, chunk: unknown): Progress {
  if (!isFields(chunk)) return progress;
  const { error } = chunk;
  if (isFields(error)) throw new ApiError(200, textAt(error, 'message') ?? 'The stream failed.', textAt(error, 'code'));
  const delta = choiceOf(chunk)?.['delta'];
  const added = isFields(delta) ? (textAt(delta, 'content') ?? callsText(delta['tool_calls'])) : '';
  return { ...progress, text: progress.text + added, usage: usageOf(chunk) ?? progress.usage };
}

function choiceOf(reply: unknown): Readonly<Record<string, unknown>> | undefined {
  const choices = isFields(reply) && Array.isArray(reply['choices']) ? (reply['choices'] as readonly unknown[]) : [];
  const [first] = choices;
  return isFields(first) ? first : undefined;
}

function usageOf({ usage }: Readonly<Record<string, unknown>>): Usage | undefined {
  return isFields(usage) ? usage : undefined;
}

/** Calls of tools, which no one here runs, as text. */
function callsText(calls: unknown): string {
  if (!Array.isArray(calls)) return '';
  return calls
    .map((call: unknown) => {
      const named = isFields(call) && isFields(call['function']) ? call['function'] : {};
      return `${textAt(named, 'name') ?? ''}${textAt(named, 'arguments') ?? ''}`;
    })
    .join('\n');
}
