/** Three vendors of one group: a pool of keys in the common format, Claude, and Gemini, each in its own format and as strict as its own service. */
import type { ServerResponse } from 'node:http';
import { speakCommon } from '../agents/speakers/common.ts';
import { speakGemini } from '../agents/speakers/gemini.ts';
import { speakMessages } from '../agents/speakers/messages.ts';
import { callsOf, type Turn } from '../agents/script.ts';
import { openSse, replyJson, type SeenRequest, stubUpstream } from '../kit/index.ts';
import { commonRules } from '../kit/strict/common.ts';
import { ownFaults, refusalsOf } from '../kit/strict/index.ts';
import { isPending } from '../kit/strict/check.ts';
import type { Fault } from './faults.ts';

export const VENDORS = ['pool', 'claude', 'gemini'] as const;
export type VendorName = (typeof VENDORS)[number];

/** What each bills for one answer. */
export const BILLED = { prompt: 100, completion: 9 };

interface Vendor {
  readonly model: string;
  /** By which rules its requests are judged. */
  readonly rules: string;
  /** How ids of its calls begin. */
  readonly id: string;
  /** What its signatures hold, and those of the other vendors do not. */
  readonly mark: string;
  readonly whole: (turn: Turn, number: number, model: string) => object;
  readonly stream: (turn: Turn, number: number, model: string) => string;
}

export const PLAYED: Readonly<Record<VendorName, Vendor>> = {
  pool: {
    model: 'gpt-4.1',
    rules: 'openai-compatible',
    id: 'call_step_',
    mark: 'nothing signed',
    whole: wholeChat,
    stream: speakCommon,
  },
  claude: {
    model: 'claude-sonnet-4-6',
    rules: 'anthropic',
    id: 'toolu_step_',
    mark: 'Y2xhdWRlLXNhaWQt',
    whole: wholeMessage,
    stream: speakMessages,
  },
  gemini: {
    model: 'gemini-3.1-pro-preview',
    rules: 'gemini',
    id: 'fc_step_',
    mark: 'Z2VtaW5pLXNhaWQt',
    whole: wholeContent,
    stream: speakGemini,
  },
};

/** What the speakers of the agents' scenes write for every vendor. */
const COMMON_ID = 'call_step_';
const COMMON_MARK = 'c2lnbmF0dXJl';

function wholeChat(turn: Turn, number: number, model: string): object {
  const calls = callsOf(turn, number).map(({ id, tool, args }) => ({
    id,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
  const message = {
    role: 'assistant',
    content: turn.say ?? null,
    ...(turn.thought !== undefined && { reasoning_content: turn.thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: 1_790_000_000,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: turn.calls ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 9, total_tokens: 109 },
  };
}

function wholeMessage(turn: Turn, number: number, model: string): object {
  return {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(turn.thought === undefined
        ? []
        : [{ type: 'thinking', thinking: turn.thought, signature: `${COMMON_MARK}${number}A==` }]),
      ...(turn.say === undefined ? [] : [{ type: 'text', text: turn.say }]),
      ...callsOf(turn, number).map(({ id, tool, args }) => ({ type: 'tool_use', id, name: tool, input: args })),
    ],
    stop_reason: turn.calls ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 9 },
  };
}

function wholeContent(turn: Turn, number: number, model: string): object {
  const parts = [
    ...(turn.thought === undefined ? [] : [{ text: turn.thought, thought: true }]),
    ...(turn.say === undefined ? [] : [{ text: turn.say }]),
    ...callsOf(turn, number).map(({ id, tool, args }, at) => ({
      functionCall: { id, name: tool, args },
      ...(at === 0 && { thoughtSignature: `${COMMON_MARK}${number}A==` }),
    })),
  ];
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 9, totalTokenCount: 109 },
    modelVersion: model,
    responseId: `r${number}`,
  };
}

const takesCommon = commonRules();

/** One call that a vendor got. */
export interface Asked {
  readonly vendor: VendorName;
  readonly key: string;
  readonly body: Readonly<Record<string, any>>;
  readonly text: string;
}

export interface Played {
  readonly url: string;
  /** Calls that were answered with a whole turn, oldest first. */
  readonly answered: Asked[];
  readonly asked: Asked[];
  /** What a vendor would have refused. */
  readonly refusals: string[];
  /** Vendors that answer; the others are down. */
  serving: ReadonlySet<VendorName>;
  /** What the next calls get in place of an answer, one each, whichever vendor they are for. */
  readonly faults: Fault[];
  /** Sees each call before it is answered, with the number of the turn that it asks for. */
  before?: (asked: Asked, number: number) => void;
}

export const nameIn = (url: string): VendorName => VENDORS.find((name) => url.startsWith(`/${name}/`)) ?? 'pool';

export const keyIn = ({ headers }: SeenRequest): string =>
  String(headers['x-goog-api-key'] ?? headers['x-api-key'] ?? headers.authorization).replace('Bearer ', '');

const isStreamed = ({ url, text }: SeenRequest): boolean =>
  url.includes(':streamGenerateContent') || /"stream":\s*true/.test(text);

/** Plays all three. `turnOf` says what the model answers to a request with so many turns of calls behind it. */
export async function playVendors(turnOf: (number: number, text: string) => Turn): Promise<Played> {
  const played: Played = {
    url: '',
    answered: [],
    asked: [],
    refusals: [],
    serving: new Set(VENDORS),
    faults: [],
  };
  const upstream = await stubUpstream(async (request, response) => {
    const vendor = nameIn(request.url);
    const asked: Asked = { vendor, key: keyIn(request), body: request.json(), text: request.text };
    played.asked.push(asked);
    const refusals = refusalsFor(vendor, request);
    if (refusals.length > 0) {
      played.refusals.push(...refusals.map((refusal) => `${vendor}: ${refusal}: ${request.text}`));
      return replyJson(response, 400, { error: { message: refusals.join('; '), type: 'invalid_request_error' } });
    }
    const number = turnsBehind(request.text) + 1;
    played.before?.(asked, number);
    if (!played.serving.has(vendor)) return replyJson(response, 500, { error: { message: 'down', type: 'api_error' } });
    const fault = played.faults.shift();
    const answer = answerOf(vendor, request, { turn: turnOf(number, request.text), number });
    if (fault && (await fault.play({ vendor, isStreamed: isStreamed(request), answer, response }))) return;
    played.answered.push(asked);
    give(response, answer);
  });
  return Object.assign(played, { url: upstream.url });
}

/** Turns of calls in a request, whichever vendors made them. */
export const turnsBehind = (text: string): number =>
  new Set(Array.from(text.matchAll(/_step_(\d)/g), ([, number]) => number)).size;

/** An answer before it is sent: JSON, or the text of a stream. */
export type VendorReply = object | string;

function answerOf(
  name: VendorName,
  request: SeenRequest,
  { turn, number }: { readonly turn: Turn; readonly number: number },
): VendorReply {
  const { whole, stream, model, id, mark } = PLAYED[name];
  const own = (text: string): string => text.replaceAll(COMMON_ID, id).replaceAll(COMMON_MARK, mark);
  return isStreamed(request)
    ? own(stream(turn, number, model))
    : (JSON.parse(own(JSON.stringify(whole(turn, number, model)))) as object);
}

export function give(response: ServerResponse, answer: VendorReply): void {
  if (typeof answer !== 'string')
    return response.headersSent ? void response.end(JSON.stringify(answer)) : replyJson(response, 200, answer);
  if (!response.headersSent) openSse(response);
  response.end(answer);
}

function refusalsFor(vendor: VendorName, request: SeenRequest): string[] {
  const { rules, model } = PLAYED[vendor];
  const [path = ''] = request.url.split('?');
  const body = request.json();
  const own = vendor === 'pool' ? [...ownFaults(body), ...takesCommon(body)] : [];
  const fields = foreignIn(vendor, request.text);
  return [...own, ...fields, ...refusalsOf({ provider: rules, model, path, body })].filter(
    (problem) => !isPending(rules, problem),
  );
}

/** Signatures of another vendor, and what only the gateway knows. */
function foreignIn(vendor: VendorName, text: string): string[] {
  const others = VENDORS.filter((name) => name !== vendor && vendor !== 'pool').map((name) => PLAYED[name].mark);
  return [...others, 'gw1:', '[REDACTED]', 'jane.doe@example.com']
    .filter((mark) => text.includes(mark))
    .map((mark) => `"${mark}" is not for this vendor`);
}
