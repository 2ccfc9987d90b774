/** What binds on each route, as a gateway shows it when it is tried. */
import { definePlugin, reject, texts } from 'gw/contract';
import Joi from 'joi';
import { createRouter } from '../../host/http/router.ts';
import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import {
  eventually,
  openSse,
  replyJson,
  type SeenRequest,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';

/** Everything has a price: a tenth of a cent for a token, an image, a second or a character. */
const UNIT = 1000;

const CANARY = 'the canary sings';
const guard = definePlugin<object>({
  name: 'canary',
  type: 'guardrail',
  summary: 'For this test',
  stages: ['before_request', 'after_request'],
  settings: Joi.object({}),
  create: () => {
    const look = (exchange: Parameters<typeof texts>[0]): ReturnType<typeof reject> | undefined =>
      texts(exchange).some((text) => text.includes(CANARY)) ? reject('canary') : undefined;
    return { before_request: look, after_request: look };
  },
});

export interface Probe {
  /** As the documentation names it. */
  readonly name: string;
  readonly path: string;
  readonly body: (text: string, ceiling: number) => object | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream?: boolean;
}

const chat = (text: string, max_tokens: number, more: object = {}): object => ({
  model: 'm',
  max_tokens,
  messages: [{ role: 'user', content: text }],
  ...more,
});
const gemini = (text: string, maxOutputTokens: number): object => ({
  contents: [{ role: 'user', parts: [{ text }] }],
  generationConfig: { maxOutputTokens },
});
const response = (text: string, max_output_tokens: number, more: object = {}): object => ({
  model: 'm',
  input: text,
  max_output_tokens,
  ...more,
});
const recording = (text: string): FormData => {
  const form = new FormData();
  form.set('model', 'm');
  form.set('prompt', text);
  form.set('file', new Blob([Buffer.alloc(32_000)]), 'a.ogg');
  return form;
};
const edit = (text: string): FormData => {
  const form = new FormData();
  form.set('model', 'm');
  form.set('prompt', text);
  form.set('image', new Blob(['PNG']), 'a.png');
  return form;
};
const streamed = (form: FormData): FormData => {
  form.set('stream', 'true');
  return form;
};

/** Routes that call a model, with a request of each. */
export const PROBES: readonly Probe[] = [
  { name: '`POST /v1/chat/completions`', path: '/v1/chat/completions', body: chat },
  {
    name: '… streamed',
    path: '/v1/chat/completions',
    body: (text, ceiling) => chat(text, ceiling, { stream: true }),
    stream: true,
  },
  {
    name: '`POST /v1/completions`',
    path: '/v1/completions',
    body: (prompt, max_tokens) => ({ model: 'm', prompt, max_tokens }),
  },
  { name: '`POST /v1/messages`', path: '/v1/messages', body: chat },
  {
    name: '… streamed',
    path: '/v1/messages',
    body: (text, ceiling) => chat(text, ceiling, { stream: true }),
    stream: true,
  },
  {
    name: '`POST /v1/messages/count_tokens`',
    path: '/v1/messages/count_tokens',
    body: (text) => ({ model: 'm', messages: [{ role: 'user', content: text }] }),
  },
  ...['/v1', '/v1beta'].flatMap((root) => [
    { name: `\`POST ${root}/models/{model}:generateContent\``, path: `${root}/models/m:generateContent`, body: gemini },
    {
      name: '… `:streamGenerateContent`',
      path: `${root}/models/m:streamGenerateContent?alt=sse`,
      body: gemini,
      stream: true,
    },
    {
      name: '… `:countTokens`',
      path: `${root}/models/m:countTokens`,
      body: (text: string) => ({ contents: [{ parts: [{ text }] }] }),
    },
    {
      name: '… `:embedContent`',
      path: `${root}/models/m:embedContent`,
      body: (text: string) => ({ content: { parts: [{ text }] } }),
    },
    {
      name: '… `:batchEmbedContents`',
      path: `${root}/models/m:batchEmbedContents`,
      body: (text: string) => ({ requests: [{ model: 'models/m', content: { parts: [{ text }] } }] }),
    },
  ]),
  { name: '`POST /v1/responses`', path: '/v1/responses', body: response },
  {
    name: '… streamed',
    path: '/v1/responses',
    body: (text, ceiling) => response(text, ceiling, { stream: true }),
    stream: true,
  },
  {
    name: '… `background: true`',
    path: '/v1/responses',
    body: (text, ceiling) => response(text, ceiling, { background: true }),
  },
  { name: '`POST /v1/responses/compact`', path: '/v1/responses/compact', body: response },
  {
    name: '`POST /v1/responses/input_tokens`',
    path: '/v1/responses/input_tokens',
    body: (input) => ({ model: 'm', input }),
  },
  { name: '`POST /v1/embeddings`', path: '/v1/embeddings', body: (input) => ({ model: 'm', input }) },
  { name: '`POST /v1/images/generations`', path: '/v1/images/generations', body: (prompt) => ({ model: 'm', prompt }) },
  {
    name: '… streamed',
    path: '/v1/images/generations',
    body: (prompt) => ({ model: 'm', prompt, stream: true }),
    stream: true,
  },
  { name: '`POST /v1/images/edits`', path: '/v1/images/edits', body: edit },
  { name: '… streamed', path: '/v1/images/edits', body: (text) => streamed(edit(text)), stream: true },
  { name: '`POST /v1/rerank`', path: '/v1/rerank', body: (query) => ({ model: 'm', query, documents: ['a'] }) },
  { name: '`POST /v1/moderations`', path: '/v1/moderations', body: (input) => ({ model: 'm', input }) },
  { name: '`POST /v1/audio/speech`', path: '/v1/audio/speech', body: (input) => ({ model: 'm', input, voice: 'v' }) },
  {
    name: '… streamed',
    path: '/v1/audio/speech',
    body: (input) => ({ model: 'm', input, voice: 'v', stream_format: 'sse' }),
    stream: true,
  },
  { name: '`POST /v1/audio/transcriptions`', path: '/v1/audio/transcriptions', body: recording },
  {
    name: '… streamed',
    path: '/v1/audio/transcriptions',
    body: (text) => streamed(recording(text)),
    stream: true,
  },
  { name: '`POST /v1/audio/translations`', path: '/v1/audio/translations', body: recording },
  {
    name: 'any other `POST` of `/v1`',
    path: '/v1/vendor/thing',
    body: (text) => ({ model: 'm', text }),
    headers: { 'x-provider': 'a' },
  },
];

/** Routes that call no model, or that only read what a provider keeps. */
export const FREE: readonly RegExp[] = [
  /^\/(health|livez|readyz|metrics|openapi\.json)$/,
  /^\/(admin|debug)\//,
  /^\/identity(\/|$)/,
  /^\/mcp$/,
  /^\/v1\/(models|capabilities|key)(\/|$)/,
  /^\/v1beta\/models(\/\*(id|rest))?$/,
];

/** Routes that are passed through as any other path is. */
export const PASSED: readonly RegExp[] = [/^\/v1\/(images\/variations|ocr)$/];

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const reply = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
  usage,
};
const made = {
  id: 'resp_1',
  object: 'response',
  model: 'm',
  status: 'completed',
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'fine' }] }],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
};

/** Answers every surface of the common wire. */
const vendor: StubHandler = (seen, response) => {
  const last = lastEventOf(seen);
  if (last) {
    openSse(response);
    response.end(sseEvent(last));
  } else if (seen.url.endsWith('/audio/speech')) response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('sound');
  else if (!seen.text.includes('"stream":true')) replyJson(response, 200, answerOf(seen));
  else {
    openSse(response);
    response.end(
      seen.url.includes('/responses')
        ? sseEvent({ type: 'response.completed', response: made })
        : [
            { id: 'x', choices: [{ index: 0, delta: { content: 'fine' }, finish_reason: 'stop' }] },
            { id: 'x', choices: [], usage },
            '[DONE]',
          ]
            .map(sseEvent)
            .join(''),
    );
  }
};

/** What ends a stream beside chat, where one is asked for. */
function lastEventOf({ url, text }: SeenRequest): object | undefined {
  if (!/"stream":true|name="stream"|"sse"/.test(text)) return undefined;
  const used = { usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } };
  if (url.endsWith('/images/generations')) return { type: 'image_generation.completed', b64_json: 'AA==', ...used };
  if (url.endsWith('/images/edits')) return { type: 'image_edit.completed', b64_json: 'AA==', ...used };
  if (url.endsWith('/audio/speech')) return { type: 'speech.audio.done', ...used };
  if (url.endsWith('/audio/transcriptions')) return { type: 'transcript.text.done', text: 'fine', ...used };
  return undefined;
}

function answerOf({ url, text }: SeenRequest): object {
  if (url.includes('/input_tokens')) return { object: 'response.input_tokens', input_tokens: 3 };
  if (text.includes('"background":true')) return { ...made, status: 'queued', background: true, usage: null };
  if (url.includes('/responses')) return made;
  if (url.includes('/embeddings'))
    return { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'm', usage };
  if (url.includes('/images')) return { created: 1, data: [{ url: 'https://x.example/1' }] };
  if (url.includes('/rerank')) return { results: [{ index: 0, relevance_score: 1 }] };
  if (url.includes('/moderations'))
    return { id: 'x', model: 'm', results: [{ flagged: false, categories: {}, category_scores: {} }] };
  return url.includes('/audio/') ? { text: 'fine' } : reply;
}

export interface Gateway {
  readonly t: TestHost;
  readonly calls: () => number;
  /** Headers of what reached the vendor. */
  readonly seenHeaders: () => readonly object[];
  /** Bodies of what reached the vendor. */
  readonly seenTexts: () => readonly string[];
  /** A key with these limits: its bearer, and what it has spent, in micro-dollars. */
  readonly key: (
    limits: object,
  ) => Promise<{ readonly bearer: string; readonly id: string; readonly spent: () => Promise<number> }>;
  readonly send: (probe: Probe, bearer: string, text?: string, ceiling?: number) => Promise<number>;
  /** The answer to a probe, whole. */
  readonly ask: (
    probe: Probe,
    bearer: string,
  ) => Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }>;
}

export async function gateway(
  plugins: readonly object[] = [],
  more: object = {},
  variables: Readonly<Record<string, string>> = {},
  models: readonly string[] = ['m'],
): Promise<Gateway> {
  const upstream = await stubUpstream(vendor);
  const t = await startHost(
    {
      strategy: { mode: 'single' },
      targets: [upstream.target('a', { models }, { ...everySurface, passthrough: true, responses: true })],
      plugins,
      ...more,
    },
    { modules: [guard], variables },
  );
  const { services } = t.host;
  services.catalog = {
    ...services.catalog,
    cost: (_target, _model, { usage: tokens, images = 0, seconds = 0, characters = 0 }) => {
      const totalUsd = (((tokens?.total_tokens ?? 0) + images + seconds + characters) * UNIT) / 1e6;
      return {
        totalUsd,
        inputUsd: totalUsd,
        outputUsd: 0,
        cacheReadUsd: 0,
        cacheWriteUsd: 0,
        reasoningUsd: 0,
        modelFound: true,
        priced: totalUsd > 0,
        catalog: 'test',
      };
    },
  };
  return {
    t,
    calls: () => upstream.seen.length,
    seenHeaders: () => upstream.seen.map(({ headers }) => headers),
    seenTexts: () => upstream.seen.map(({ text }) => text),
    key: async (limits) => {
      const {
        key: bearer,
        record: { id },
      } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits });
      return {
        bearer,
        id,
        spent: async () => {
          await eventually(() => t.host.slot.leases === 0);
          const carryover = t.host.carryover.open();
          const ledger = carryover.lease<MemoryLedger>('ledger key budgets', () => {
            throw new Error('there is no ledger');
          });
          void carryover.release();
          return ledger.committed(id);
        },
      };
    },
    send: async (probe, bearer, text = 'hi', ceiling = 16) => (await sent(t, { probe, bearer, text, ceiling })).status,
    ask: (probe, bearer) => sent(t, { probe, bearer, text: 'hi', ceiling: 16 }),
  };
}

interface Sending {
  readonly probe: Probe;
  readonly bearer: string;
  readonly text: string;
  readonly ceiling: number;
}

async function sent(
  t: TestHost,
  { probe: { path, body, headers }, bearer, text, ceiling }: Sending,
): Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }> {
  const made = body(text, ceiling);
  const answer = await fetch(`${t.url}${path}`, {
    method: 'POST',
    headers: {
      ...(bearer !== '' && { authorization: `Bearer ${bearer}` }),
      ...headers,
      ...(!(made instanceof FormData) && { 'content-type': 'application/json' }),
    },
    body: made instanceof FormData ? made : JSON.stringify(made),
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

/** Paths of every route that builtins mount. */
export function routesOf({ host }: TestHost): string[] {
  const router = createRouter({ caseSensitive: true, strict: true });
  host.hooks.mount.call(router, host);
  return router.stack.flatMap(({ route }) => (route ? [route.path] : []));
}

const at = (name: string, stage: string, config: object = {}): object => ({ name, stage, enabled: true, config });

/** One row of the table: what binds on a route. */
export async function limitsOf(probe: Probe): Promise<readonly string[]> {
  const plain = await gateway();
  const free = await plain.key({ budget_usd: 1000 });
  await plain.send(probe, free.bearer);
  const isBooked = (await free.spent()) > 0;
  const poor = await plain.key({ budget_usd: 0.000001 });
  await plain.send(PROBES[0] as Probe, poor.bearer);
  await poor.spent();
  const before = plain.calls();
  const spent = [await plain.send(probe, poor.bearer), plain.calls() - before];
  const slow = await plain.key({ tpm: 1 });
  await plain.send(probe, slow.bearer, 'a long prompt '.repeat(20));
  await eventually(() => plain.t.host.slot.leases === 0);
  const second = await plain.send(probe, slow.bearer);
  const listed = await plain.key({ models: ['other'] });
  const unlisted = await plain.send(probe, listed.bearer);
  const capped = await gateway([at('max-token', 'before_request', { max_tokens: 10 })]);
  const guarded = await gateway([at('canary', 'before_request')]);
  const { bearer } = await guarded.key({});
  const read = await guarded.send(probe, bearer, CANARY);
  const ofSpent = spent[1] === 0 ? 'no call' : 'served';
  return [
    probe.name,
    spent[0] === 402 && spent[1] === 0 ? 'refused' : ofSpent,
    isBooked ? 'yes' : 'no',
    second === 429 ? 'yes' : 'no',
    unlisted === 404 ? 'yes' : 'no',
    (await capped.send(probe, (await capped.key({})).bearer, 'hi', 1000)) === 400 ? 'yes' : 'no',
    read === 400 ? 'yes' : 'no',
  ];
}

export const HEADINGS = [
  'Route',
  'A spent key',
  'Is booked',
  '`tpm`',
  'Lists of models',
  '`max-token`',
  'Guardrails before',
] as const;

export const tableOf = (rows: readonly (readonly string[])[]): string =>
  [HEADINGS, HEADINGS.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
