import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin } from 'gw/contract';
import type { GatewayModule } from '../../host/registry/registry.ts';
import {
  chatChunks,
  eventually,
  fakeClock,
  type FakeClock,
  MASTER_KEY,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import { eventText, VENDOR_EVENTS } from '../wires/messages-kit.ts';

export const PIECES = ['first ', 'second'] as const;
export const COMMENT = ': keep-alive\n\n';

/** A wire as clients stream it, and what says there that an answer goes on. */
export interface StreamedWire {
  readonly name: string;
  readonly path: (model: string) => string;
  readonly body: (model: string) => object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The vendor whose own wire it is. */
  readonly vendor: 'openai-like' | 'anthropic' | 'gemini';
  /** Keep-alives before the first event and after it; what follows a whole minute where that differs. */
  readonly early: string;
  readonly late: string;
  readonly minute?: (text: string) => string;
  readonly hasComments: boolean;
  /** How an answer of which nothing has left fails: the error itself, of the failure's real code. */
  readonly failure: (text: string) => { readonly code: string; readonly message: string };
}

const user = [{ role: 'user', content: 'hi' }];
const geminiBody = (): object => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
const lastData = (text: string): any => JSON.parse(/data: (.*)\s*$/.exec(text.trimEnd())?.[1] ?? 'null');

export const WIRES: readonly StreamedWire[] = [
  {
    name: 'chat',
    path: () => '/v1/chat/completions',
    body: (model) => ({ model, stream: true, messages: user }),
    vendor: 'openai-like',
    early: COMMENT,
    late: COMMENT,
    hasComments: true,
    failure: (text) => lastData(text).error,
  },
  {
    name: 'Messages',
    path: () => '/v1/messages',
    body: (model) => ({ model, stream: true, max_tokens: 64, messages: user }),
    vendor: 'anthropic',
    early: COMMENT,
    late: 'event: ping\ndata: {"type":"ping"}\n\n',
    hasComments: true,
    failure: (text) => {
      expect(text).to.match(/event: error\ndata: .*\n\n$/);
      const { type, message } = lastData(text).error;
      return { code: type, message };
    },
  },
  {
    name: 'Gemini, events',
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: geminiBody,
    vendor: 'gemini',
    early: '\r\n\r\n',
    late: '\r\n\r\n',
    hasComments: false,
    failure: (text) => {
      const { status, message } = lastData(text).error;
      return { code: status, message };
    },
  },
  {
    name: 'Gemini, list',
    path: (model) => `/v1beta/models/${model}:streamGenerateContent`,
    body: geminiBody,
    vendor: 'gemini',
    early: '\n',
    late: '\n',
    hasComments: false,
    failure: (text) => {
      const { status, message } = JSON.parse(text).at(-1).error;
      return { code: status, message };
    },
  },
  {
    name: 'Responses, translated',
    path: () => '/v1/responses',
    body: (model) => ({ model, stream: true, input: 'hi' }),
    vendor: 'openai-like',
    early: COMMENT,
    late: COMMENT,
    minute: (text) => {
      const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
      const next = (numbers.at(-1) ?? -1) + 1;
      return `event: keepalive\ndata: {"type":"keepalive","sequence_number":${next}}\n\n`;
    },
    hasComments: true,
    failure: (text) => {
      const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
      expect(types).to.deep.equal(['response.created', 'response.in_progress', 'response.failed']);
      return lastData(text).response.error;
    },
  },
];

/** What no encoder of the gateway writes: its bytes are those of the vendor. */
export const FORWARDED: StreamedWire = {
  ...(WIRES[0] as StreamedWire),
  name: 'passed through',
  path: () => '/v1/fine_tuning/x',
  headers: { 'x-provider': 'a' },
};

/** What a stream has become after so many quarters of a minute without an event. */
export function silence(wire: StreamedWire, before: string, quarters: number): string {
  let text = before;
  for (let quarter = 1; quarter <= quarters; quarter += 1) {
    const minute = before !== '' && quarter % 4 === 0 ? wire.minute?.(text) : undefined;
    text += minute ?? (before === '' ? wire.early : wire.late);
  }
  return text;
}

/** A call that an upstream has got, and not answered. */
export interface Call {
  readonly target: string;
  /** Sends the answer, or what of it comes before and after a pause. */
  readonly answer: () => void;
  readonly begin: () => void;
  readonly finish: () => void;
  readonly fail: (status: number) => void;
  /** Those two halves. */
  readonly halves: readonly [string, string];
  readonly response: ServerResponse;
}

interface Setup {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly calls: Call[];
  /** The call with this number, once it has come. */
  readonly call: (number: number) => Promise<Call>;
  /** Opens a stream and reads it. */
  readonly stream: (wire: StreamedWire, model: string) => OpenStream;
  /** Waits until the gateway has a first chunk, and counts the silence from there. */
  readonly untilStarted: () => Promise<void>;
  /** Chunks that the guard `verdict` has seen. */
  readonly judged: () => number;
}

/** A whole answer in the wire that is spoken at the address, in two halves. */
function halvesFor(url: string): readonly [string, string] {
  if (url.includes('/messages')) {
    const events = VENDOR_EVENTS.map(eventText);
    return [events.slice(0, 8).join(''), events.slice(8).join('')];
  }
  if (url.includes('GenerateContent')) {
    const frame = (text: string, more: object = {}): string =>
      sseEvent({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }], responseId: 'g' });
    return [frame(PIECES[0]), frame(PIECES[1], { finishReason: 'STOP' })];
  }
  const chunks = chatChunks(PIECES).map(sseEvent);
  return [chunks.slice(0, 2).join(''), `${chunks.slice(2).join('')}data: [DONE]\n\n`];
}

/** Holds an answer until a verdict on the whole of it; hears of every chunk. */
const judging = (onChunk: () => void): GatewayModule =>
  definePlugin({
    name: 'judge',
    type: 'guardrail',
    summary: 'Holds a stream until its end',
    stages: ['after_request'],
    settings: Joi.object({}),
    create: () => ({
      after_request: () => undefined,
      stream: () => ({
        push: (chunk) => {
          onChunk();
          return [chunk];
        },
        end: () => [],
        awaitsVerdict: true,
      }),
    }),
  });

const wordFilter = (stream: string): object => ({
  name: 'word-filter',
  stage: 'after_request',
  enabled: true,
  config: { blocked_words: ['forbidden'], stream },
});

export const GUARDS = {
  none: [],
  end: [wordFilter('end')],
  window: [wordFilter('window')],
  verdict: [{ name: 'judge', stage: 'after_request', enabled: true }],
} as const satisfies Readonly<Record<string, readonly object[]>>;

const MODELS = {
  a: ['plain', 'fails-over', 'to-anthropic', 'to-gemini'],
  b: ['fails-over'],
  anthropic: ['anthropic-own', 'to-anthropic'],
  gemini: ['gemini-own', 'to-gemini'],
} as const;

/** A gateway on a clock that stands still, before upstreams that answer when the test says so. */
export async function silentGateway(
  {
    guards = 'none',
    target = {},
    ...config
  }: { guards?: keyof typeof GUARDS; target?: object; [key: string]: unknown } = {},
  options: TestHostOptions = {},
): Promise<Setup> {
  const calls: Call[] = [];
  const clock = fakeClock();
  let judged = 0;
  const upstreams = await Promise.all(
    Object.keys(MODELS).map((target) =>
      stubUpstream((request, response) => {
        const [first, second] = halvesFor(request.url);
        const begin = (): void => {
          openSse(response);
          response.write(first);
        };
        calls.push({
          target,
          response,
          halves: [first, second],
          begin,
          finish: () => response.end(second),
          answer: () => {
            begin();
            response.end(second);
          },
          fail: (status) => replyJson(response, status, { error: { message: `${target} is down` } }),
        });
      }),
    ),
  );
  const [a, b, anthropic, gemini] = upstreams as [StubUpstream, StubUpstream, StubUpstream, StubUpstream];
  const host = await startHost(
    {
      strategy: { mode: 'fallback' },
      targets: [
        a.target('a', { models: MODELS.a, ...target }, { passthrough: true }),
        b.target('b', { models: MODELS.b }),
        { virtual_key: 'anthropic', models: MODELS.anthropic },
        { virtual_key: 'gemini', models: MODELS.gemini },
      ],
      responses: { translate: 'auto' },
      plugins: GUARDS[guards],
      ...config,
    },
    {
      clock,
      modules: [judging(() => (judged += 1))],
      ...options,
      variables: {
        ANTHROPIC_API_KEY: 'vendor-key-0123456789',
        ANTHROPIC_BASE_URL: `${anthropic.url}/v1`,
        GEMINI_API_KEY: 'vendor-key-9876543210',
        GEMINI_BASE_URL: `${gemini.url}/v1beta`,
        ...options.variables,
      },
    },
  );
  const call = async (number: number): Promise<Call> => {
    await eventually(() => calls.length > number);
    return calls[number] ?? expect.fail(`call ${number} has not come`);
  };
  const every = Number.parseInt(String((config['streaming'] as any)?.keepalive ?? '15s'), 10) * 1000;
  return {
    host,
    clock,
    calls,
    call,
    stream: (wire, model) => new OpenStream(host, wire, model),
    untilStarted: () => eventually(() => clock.next === every),
    judged: () => judged,
  };
}

/** A stream as it arrives. */
export class OpenStream {
  /** What has come of the body. */
  text = '';
  isOpen = false;
  isOver = false;
  readonly opened: Promise<Response>;
  readonly over: Promise<void>;

  constructor({ url }: Pick<TestHost, 'url'>, wire: StreamedWire, model: string, signal?: AbortSignal) {
    this.opened = fetch(url + wire.path(model), {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json', ...wire.headers },
      body: JSON.stringify(wire.body(model)),
      ...(signal && { signal }),
    });
    this.over = this.opened.then((response) => this.#read(response));
  }

  /** Waits until so much has come that it fits. */
  async until(isEnough: (text: string) => boolean): Promise<void> {
    await eventually(() => isEnough(this.text) || this.isOver);
    expect(isEnough(this.text), `not yet: ${JSON.stringify(this.text.slice(-500))}`).to.equal(true);
  }

  async #read(response: Response): Promise<void> {
    this.isOpen = true;
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) this.text += decoder.decode(piece as Uint8Array, { stream: true });
    this.isOver = true;
  }
}

/** A body without what only says that it goes on, and without the id of its request. */
export function saidOf(text: string, requestId: string): string {
  return text
    .replaceAll(requestId, '<id>')
    .replace(/^: .*\n\n/gm, '')
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0');
}
