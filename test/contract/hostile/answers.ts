import { ERRORS, type TranslatedSurface } from '../../../host/contract/index.ts';
import type { Answer } from '../../kit/index.ts';

/** Codes that mean that the gateway itself has failed. */
const OWN_FAULTS = new Set(['internal_error', 'routing_error', 'plugin_error']);

const isObject = (value: any): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isIndex = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** What is wrong with an answer to a request that was in order, whatever its upstream sent; `undefined` when nothing is. */
export function answerProblem(
  answer: Answer,
  surface: TranslatedSurface | 'completions',
  stream: boolean,
): string | undefined {
  if (answer.status !== 200) return errorProblem(answer);
  if (stream && surface !== 'chat') return eventsProblem(answer);
  if (stream) return streamProblem(answer);
  if (surface.startsWith('audio.')) return undefined;
  const body = parsed(answer.text);
  return body === undefined ? `200 without JSON: ${answer.text.slice(0, 100)}` : bodyProblem(surface, body);
}

/** A documented failure, and none of the gateway's own. */
function errorProblem({ status, text }: Answer): string | undefined {
  const { error } = parsed(text) ?? {};
  if (!isObject(error) || !isText(error.message) || !Object.hasOwn(ERRORS, error.code))
    return `${status} without an envelope: ${text.slice(0, 200)}`;
  return status === 500 || OWN_FAULTS.has(error.code) ? `${status} ${error.code}: ${error.message}` : undefined;
}

function streamProblem({ text }: Answer): string | undefined {
  if (!text.endsWith('\n\n')) return `the last event is not complete: ${text.slice(-100)}`;
  const events = text.slice(0, -2).split('\n\n');
  for (const [at, event] of events.entries()) {
    const isLast = at === events.length - 1;
    if (!event.startsWith('data: ') || event.includes('\n'))
      return `event ${at} is not one line of data: ${event.slice(0, 100)}`;
    if (event === 'data: [DONE]') {
      if (!isLast) return 'something follows the end';
      continue;
    }
    const chunk = parsed(event.slice(6));
    if (!isObject(chunk)) return `event ${at} is not an object: ${event.slice(0, 100)}`;
    if (isLast)
      return isObject(chunk.error) && /^stream_(error|timeout)$/.test(chunk.error.code)
        ? undefined
        : `the stream ends with ${event.slice(0, 100)}`;
    const problem = chunkProblem(chunk);
    if (problem !== undefined) return `event ${at}: ${problem}: ${event.slice(0, 200)}`;
  }
  return undefined;
}

/** Events beside chat go on as they came: they are whole, whatever they hold. */
const eventsProblem = ({ text }: Answer): string | undefined =>
  text.endsWith('\n\n') ? undefined : `the last event is not complete: ${text.slice(-100)}`;

function chunkProblem(chunk: any): string | undefined {
  if (
    chunk.object === undefined ||
    !isText(chunk.object) ||
    !isText(chunk.id) ||
    !isText(chunk.model) ||
    !isTime(chunk.created)
  )
    return 'object, id, model and created';
  if (!Array.isArray(chunk.choices)) return 'choices';
  for (const { index, delta, finish_reason: finish } of chunk.choices) {
    if (!isIndex(index)) return 'an index';
    if (!isObject(delta) || (delta.content !== undefined && delta.content !== null && !isText(delta.content)))
      return 'a delta';
    if (finish !== null && !isText(finish)) return 'a finish reason';
    const problem = callsProblem(delta.tool_calls);
    if (problem !== undefined) return problem;
  }
  return usageProblem(chunk.usage);
}

function callsProblem(calls: any): string | undefined {
  if (calls === undefined || calls === null) return undefined;
  const isFine =
    Array.isArray(calls) &&
    calls.every(
      (call) =>
        isObject(call) &&
        (call.function === undefined || isObject(call.function)) &&
        ['undefined', 'string'].includes(typeof call.function?.arguments),
    );
  return isFine ? undefined : 'tool calls';
}

function usageProblem(usage: any): string | undefined {
  if (usage === undefined || usage === null) return undefined;
  return isObject(usage) && ['prompt_tokens', 'completion_tokens', 'total_tokens'].every((name) => isCount(usage[name]))
    ? undefined
    : `usage ${JSON.stringify(usage).slice(0, 100)}`;
}

const isTime = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);

type Check = (body: any) => string | undefined;

const BODIES: Readonly<Partial<Record<TranslatedSurface | 'completions', Check>>> = {
  chat: (body) => {
    if (!isText(body.object) || !isText(body.model) || !isText(body.provider) || !isTime(body.created))
      return 'object, model, provider and created';
    if (!Array.isArray(body.choices)) return 'choices';
    for (const { index, message, finish_reason: finish } of body.choices) {
      if (!isIndex(index)) return 'an index';
      if (!isObject(message) || !isText(message.role) || (message.content !== null && !isText(message.content)))
        return 'a message';
      if (finish !== null && !isText(finish)) return 'a finish reason';
      const problem = callsProblem(message.tool_calls);
      if (problem !== undefined) return problem;
    }
    return usageProblem(body.usage);
  },
  completions: (body) =>
    body.object === 'text_completion' &&
    Array.isArray(body.choices) &&
    body.choices.every((choice: any) => isText(choice.text) && isIndex(choice.index))
      ? usageProblem(body.usage)
      : 'a completion',
  embeddings: ({ data, usage }) => {
    const isFine =
      Array.isArray(data) &&
      data.every(
        ({ embedding, index }: any) =>
          isIndex(index) && Array.isArray(embedding) && embedding.every((value: unknown) => typeof value === 'number'),
      );
    return isFine && isCount(usage?.prompt_tokens) && isCount(usage?.total_tokens) ? undefined : 'embeddings';
  },
  images: imagesProblem,
  'images.edits': imagesProblem,
  rerank: ({ results }) =>
    Array.isArray(results) &&
    results.every(({ index, relevance_score: score }: any) => isIndex(index) && typeof score === 'number')
      ? undefined
      : 'results',
  moderations: ({ id, results }) =>
    isText(id) &&
    Array.isArray(results) &&
    results.every(
      (result: any) => isObject(result) && typeof result.flagged === 'boolean' && isObject(result.categories),
    )
      ? undefined
      : 'results',
};

function imagesProblem({ created, data }: any): string | undefined {
  return isTime(created) && Array.isArray(data) && data.length > 0 && data.every(isObject) ? undefined : 'images';
}

function bodyProblem(surface: TranslatedSurface | 'completions', body: any): string | undefined {
  if (!isObject(body)) return 'the body is not an object';
  const problem = BODIES[surface]?.(body);
  return problem === undefined ? undefined : `${problem} of 200: ${JSON.stringify(body).slice(0, 300)}`;
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
