/** Requests of every wire against a fleet of two instances whose vendor ends calls in every way, with everything around them switched on and off. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatChunks, chatReply, type Dice, openSse, replyJson, sseEvent, stubUpstream } from '../kit/index.ts';
import { variablesOf, type VendorAnswer } from './vendor.ts';

const saying = (content: string): object[] => [{ role: 'user', content }];

/** Path and body by the wire of the client, whole and streamed. */
export const WIRES: Readonly<
  Record<string, (model: string, stream: boolean, text: string) => readonly [string, object]>
> = {
  chat: (model, stream, text) => ['/v1/chat/completions', { model, messages: saying(text), stream }],
  completions: (model, stream, text) => ['/v1/completions', { model, prompt: text, stream }],
  messages: (model, stream, text) => ['/v1/messages', { model, max_tokens: 5, messages: saying(text), stream }],
  gemini: (model, stream, text) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text }] }] },
  ],
  ollama: (model, stream, text) => ['/api/chat', { model, messages: saying(text), stream }],
  responses: (model, stream, text) => ['/v1/responses', { model, input: text, store: false, stream }],
  embeddings: (model, _stream, text) => ['/v1/embeddings', { model, input: text }],
};

const said = (status: number, code: string, message = 'no'): VendorAnswer => ({
  status,
  body: { error: { message, code } },
});

/** Without an answer, or with a part of one. */
type Broken = 'cut' | 'cut late' | 'hang';

/** How the vendor ends a call; `undefined` is an answer. */
export const ENDS: Readonly<Record<string, VendorAnswer | Broken | undefined>> = {
  served: undefined,
  400: said(400, 'bad'),
  401: said(401, 'invalid_api_key'),
  402: said(402, 'x', 'Insufficient Balance'),
  403: said(403, 'x'),
  404: said(404, 'model_not_found'),
  429: said(429, 'rate_limit_exceeded'),
  'hinted 429': { ...said(429, 'rate_limit_exceeded'), headers: { 'retry-after-ms': '20' } },
  'spent 429': said(429, 'insufficient_quota'),
  500: said(500, 'x'),
  cut: 'cut',
  'cut late': 'cut late',
  hang: 'hang',
};

export interface Vendor {
  readonly url: string;
  /** Bodies of the calls. */
  readonly texts: string[];
  /** By key. */
  readonly ends: Map<string, string>;
}

export async function endingVendor(): Promise<Vendor> {
  const [texts, ends] = [[] as string[], new Map<string, string>()];
  const { url } = await stubUpstream(async (request, response) => {
    const key = /sk-of-(\w+)-/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    texts.push(request.text);
    const end = ENDS[ends.get(key) ?? 'served'];
    const isStream = request.json().stream === true;
    if (end === undefined) answer(response, request.url, isStream);
    else if (typeof end === 'string') await breakOff(response, end, isStream);
    else {
      for (const [name, value] of Object.entries(end.headers ?? {})) response.setHeader(name, value);
      replyJson(response, end.status ?? 500, end.body);
    }
  });
  return { url, texts, ends };
}

async function breakOff(response: ServerResponse, end: Broken, isStream: boolean): Promise<void> {
  if (end === 'hang') await sleep(400, undefined, { ref: false });
  if (end === 'cut late' && isStream) {
    openSse(response);
    response.write(sseEvent(chatChunks(['hi', 'ho'])[0]));
    await sleep(10);
  } else if (end === 'cut late') {
    response.writeHead(200, { 'content-length': '900' }).write('{"id":');
    await sleep(10);
  }
  response.destroy();
}

const VECTORS = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [1] }],
  model: 'm',
  usage: { prompt_tokens: 1, total_tokens: 1 },
};
const RESPONSE = { id: 'resp_1', object: 'response', status: 'completed', output: [], model: 'm' };

function answer(response: ServerResponse, url: string, isStream: boolean): void {
  if (url.endsWith('/embeddings')) replyJson(response, 200, VECTORS);
  else if (url.endsWith('/responses')) replyJson(response, 200, RESPONSE);
  else if (!isStream) replyJson(response, 200, chatReply('hi'));
  else {
    openSse(response);
    for (const chunk of chatChunks(['hi', 'ho'])) response.write(sseEvent(chunk));
    response.end(sseEvent('[DONE]'));
  }
}

export const NAMES = ['secretly-a', 'secretly-b', 'secretly-c'];
export const VARIABLES = variablesOf(['xa', 'xb', 'xc', 'ya']);

export interface World {
  readonly pool: number;
  readonly isGroup: boolean;
  readonly affinity: 'off' | 'session';
  readonly mode: 'fallback' | 'loadbalance' | 'single';
  readonly retries: number;
}

export const worldOf = (dice: Dice): World => ({
  pool: dice.pick([1, 3]),
  isGroup: dice.below(2) === 0,
  affinity: dice.pick(['off', 'session']),
  mode: dice.pick(['fallback', 'loadbalance', 'single']),
  retries: dice.pick([1, 2]),
});

export function configOf(
  { url }: Vendor,
  { pool, isGroup, affinity, mode, retries }: World,
  plugins: readonly object[],
): object {
  const instance = (prefix: string, count: number): object => ({
    kind: 'openai',
    base_url: `${url}/v1`,
    credentials: NAMES.slice(0, count).map((name, at) => ({ name, api_key: `\${KEY_${prefix}${'ABC'[at]}}` })),
  });
  const strategy = { mode, affinity };
  const target = {
    models: ['m'],
    request_timeout: '150ms',
    retry: { attempts: retries, initial_backoff_ms: 1 },
    concurrency: { max_concurrency: 4, queue_size: 4 },
  };
  return {
    strategy,
    plugins,
    providers: { x: instance('X', pool), y: instance('Y', 1) },
    targets: ['x', 'y'].map((virtual_key) => ({ virtual_key, weight: 1, ...target })),
    ...(isGroup && {
      models: [
        { name: 'g', routes: [{ target: 'x', model: 'm', weight: 1 }], strategy, fallbacks: ['h'] },
        { name: 'h', routes: [{ target: 'y', model: 'm' }] },
      ],
    }),
  };
}
