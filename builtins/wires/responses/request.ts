import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { type ChatRequest, type Fields, quoted } from '../../../host/contract/index.ts';
import { HistoryNotes, type NotedHistory } from '../history-notes.ts';
import {
  isGiven,
  listAt,
  notCarried,
  objectAt,
  optionalFlag,
  optionalNumber,
  optionalObject,
  optionalString,
  stringAt,
  textAt,
} from './checks.ts';
import { knownWord, WORDS } from '../words.ts';
import { echoOf, type Echo } from './echo.ts';
import { readInput } from './input.ts';
import { chooseTools, ToolBook } from './tools.ts';

/** A request of this wire, read. */
export interface ReadResponses {
  readonly request: ChatRequest;
  readonly streaming: boolean;
  readonly asked: Asked;
  /** Paths of what no other vendor could be given. */
  readonly lost: readonly string[];
  readonly history: NotedHistory;
}

/** What the answer depends on. */
export interface Asked {
  readonly echo: Echo;
  readonly tools: ToolBook;
  /** The text of reasoning is shown. */
  readonly showsReasoning: boolean;
  readonly showsLogprobs: boolean;
}

/** Members that need what only the vendor of this API keeps, and what to do instead. */
const STATEFUL: Readonly<Record<string, string>> = {
  previous_response_id: 'names a response that is not kept: send the whole input',
  conversation: 'names a conversation that is not kept: send the whole input',
  prompt: 'names a template that only the vendor of this API keeps: send its text',
  background: 'needs a response that is kept, which the provider of this model does not do',
  context_management: 'needs the vendor of this API',
  moderation: 'needs the vendor of this API',
};

/** Members that are read below, and those that change nothing in the answer. */
const READ = new Set([
  ...Object.keys(STATEFUL),
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'parallel_tool_calls',
  'user',
  'service_tier',
  'safety_identifier',
  'stream',
  'reasoning',
  'text',
  'tools',
  'tool_choice',
  'include',
  'store',
  'metadata',
  'truncation',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'client_metadata',
  'max_tool_calls',
  'stream_options',
]);

/** Reads a body of `POST /v1/responses` into a chat. Throws for the first fault, naming its path. See docs/responses.md#what-is-carried. */
export function readResponses(body: Fields): ReadResponses {
  const model = textAt(body['model'], 'model');
  refuseStateful(body);
  const lost: string[] = [];
  const streaming = optionalFlag(body['stream'], 'stream') === true;
  const sampling = readSampling(body);
  const reasoning = readReasoningWish(body['reasoning'], lost);
  const text = readText(body['text'], lost);
  const includesLogprobs = readInclude(body['include'], lost);
  const tools = new ToolBook();
  const history = new HistoryNotes();
  if (isGiven(body['tools'])) tools.declare(body['tools'], 'tools');
  const messages = readInput(body['input'], optionalString(body['instructions'], 'instructions'), {
    tools,
    lost,
    history,
  });
  const chosen = chooseTools(tools, body['tool_choice']);
  const parallel = optionalFlag(body['parallel_tool_calls'], 'parallel_tool_calls');
  readRest(body, lost);
  const logprobs = includesLogprobs || sampling.top_logprobs !== undefined;
  const request = {
    model,
    messages,
    ...sampling,
    ...toolMembers(chosen, parallel),
    ...(reasoning.effort !== undefined && { reasoning_effort: reasoning.effort }),
    ...text,
    ...(logprobs && { logprobs: true }),
    ...(streaming && { stream: true }),
  } as ChatRequest;
  return {
    request,
    streaming,
    lost: [...lost, ...tools.lost],
    history,
    asked: {
      echo: echoOf(body),
      tools,
      showsReasoning: reasoning.isShown,
      showsLogprobs: includesLogprobs,
    },
  };
}

function toolMembers({ tools, choice }: ReturnType<typeof chooseTools>, parallel: boolean | undefined): object {
  if (tools.length === 0) return {};
  return {
    tools,
    ...(choice !== undefined && { tool_choice: choice }),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
  };
}

function refuseStateful(body: Fields): void {
  for (const [name, why] of Object.entries(STATEFUL)) {
    const value = body[name];
    if (isGiven(value) && value !== false) throw notCarried(name, why);
  }
}

interface Sampling {
  readonly top_logprobs?: number;
  readonly [field: string]: unknown;
}

function readSampling(body: Fields): Sampling {
  const user = optionalString(body['user'], 'user') ?? optionalString(body['safety_identifier'], 'safety_identifier');
  const found = {
    max_completion_tokens: optionalNumber(body['max_output_tokens'], 'max_output_tokens', { low: 1, isWhole: true }),
    temperature: optionalNumber(body['temperature'], 'temperature', { low: 0, high: 2 }),
    top_p: optionalNumber(body['top_p'], 'top_p', { low: 0, high: 1 }),
    top_logprobs: optionalNumber(body['top_logprobs'], 'top_logprobs', { low: 0, high: 20, isWhole: true }),
    service_tier: optionalString(body['service_tier'], 'service_tier'),
    user,
    prompt_cache_key: optionalString(body['prompt_cache_key'], 'prompt_cache_key'),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function readReasoningWish(
  value: unknown,
  lost: string[],
): { readonly effort: string | undefined; readonly isShown: boolean } {
  const { effort, summary, generate_summary: earlier, ...others } = optionalObject(value, 'reasoning') ?? {};
  for (const [name, member] of Object.entries(others)) if (isGiven(member)) lost.push(`reasoning.${name}`);
  const wish = optionalString(summary, 'reasoning.summary') ?? optionalString(earlier, 'reasoning.generate_summary'); // every word asks for one
  return { effort: optionalString(effort, 'reasoning.effort'), isShown: wish !== undefined };
}

/** The word of a list that the vendor adds to: one that the list does not have is lost. */
function optionalWord(value: unknown, path: 'text.verbosity' | 'truncation', lost: string[]): string | undefined {
  const given = optionalString(value, path);
  return given === undefined ? undefined : knownWord<string>(WORDS.responses[path], given, () => lost.push(path));
}

function readText(value: unknown, lost: string[]): Fields {
  const { format, verbosity, ...others } = optionalObject(value, 'text') ?? {};
  for (const [name, member] of Object.entries(others)) if (isGiven(member)) lost.push(`text.${name}`);
  const wanted = optionalWord(verbosity, 'text.verbosity', lost);
  return { ...formatOf(optionalObject(format, 'text.format')), ...(wanted !== undefined && { verbosity: wanted }) };
}

function formatOf(format: Fields | undefined): Fields {
  if (!format || format['type'] === 'text') return {};
  if (format['type'] === 'json_object') return { response_format: { type: 'json_object' } };
  if (format['type'] !== 'json_schema')
    throw invalidRequest(
      `text.format.type must be text, json_object or json_schema, not ${quoted(format['type'] ?? null)}`,
    );
  const name = textAt(format['name'], 'text.format.name');
  const schema = objectAt(format['schema'], 'text.format.schema');
  const strict = optionalFlag(format['strict'], 'text.format.strict');
  const description = optionalString(format['description'], 'text.format.description');
  return {
    response_format: {
      type: 'json_schema',
      json_schema: {
        name,
        schema,
        ...(strict !== undefined && { strict }),
        ...(description !== undefined && { description }),
      },
    },
  };
}

/** Whether probabilities of tokens are to be given. What comes back with the next turn is given unasked. */
function readInclude(value: unknown, lost: string[]): boolean {
  if (!isGiven(value)) return false;
  const words = listAt(value, 'include').map((word, at) => stringAt(word, `include[${at}]`));
  words.forEach((word, at) => {
    if (word !== SEALED_WORD && word !== LOGPROBS_WORD) lost.push(`include[${at}]`);
  });
  return words.includes(LOGPROBS_WORD);
}

const [SEALED_WORD, LOGPROBS_WORD] = ['reasoning.encrypted_content', 'message.output_text.logprobs'];

/** What has no place elsewhere: nothing is stored, and nothing is cut from an input that is too long. */
function readRest(body: Fields, lost: string[]): void {
  optionalObject(body['metadata'], 'metadata');
  if (optionalFlag(body['store'], 'store') === true) lost.push('store');
  if (optionalWord(body['truncation'], 'truncation', lost) === 'auto') lost.push('truncation');
  const options = optionalObject(body['stream_options'], 'stream_options') ?? {};
  for (const [name, member] of Object.entries(options))
    if (name !== 'include_obfuscation' && isGiven(member)) lost.push(`stream_options.${name}`);
  for (const [name, value] of Object.entries(body)) if (!READ.has(name) && isGiven(value)) lost.push(name);
}
