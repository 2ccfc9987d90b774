import { expect } from 'chai';
import { joined, ordersUpTo, streamOf, type StretchKind } from '../../host/testing/stretches.ts';
import {
  type Answer,
  forSuite,
  openSse,
  some,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';
import { eventText, vendorMessage } from './messages-kit.ts';

/**
 * Streams of every order of up to three stretches, to clients of every wire, from upstreams of three: with guards that find nothing their
 * events say what they say without a guard, in the same order.
 */
type Json = Record<string, any>;

const GUARDS: Readonly<Record<string, readonly object[]>> = {
  'pii-redact that masks': [{ name: 'pii-redact', stage: 'after_request', enabled: true }],
  'word-filter in a window': [
    {
      name: 'word-filter',
      stage: 'after_request',
      enabled: true,
      config: { blocked_words: ['forbidden'], stream: 'window' },
    },
  ],
  'regex-guard and secret-scan': [
    {
      name: 'regex-guard',
      stage: 'after_request',
      enabled: true,
      config: { patterns: ['fo+bidden$'], stream: 'window' },
    },
    { name: 'secret-scan', stage: 'after_request', enabled: true, config: { action: 'mask' } },
  ],
};

const TEXTS: Readonly<Record<StretchKind, string>> = {
  thought: 'a thought, and a beginning: jane.doe@',
  content: 'the tide at 4111 11',
  refusal: 'no, forbid',
  'call 0': '{"place":"Kiel","word":"forbi"}',
  'call 1': '{"place":"sk-"}',
  sealed: '',
};

let order: readonly StretchKind[] = [];
const cut = (text: string): string[] => text.match(/[^]{1,7}/g) ?? [];

const common = (): string =>
  [
    ...streamOf(order, { textOf: (kind) => TEXTS[kind], cut }),
    { id: 'c', choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
  ]
    .map(sseEvent)
    .join('') + sseEvent('[DONE]').replaceAll('"', '');

/** Blocks of the Messages API for the same stretches. */
function messages(): string {
  const events: { type: string; [name: string]: unknown }[] = [
    { type: 'message_start', message: vendorMessage([], { stop_reason: null }) },
  ];
  for (const [index, kind] of order.entries()) {
    const open = (block: object): number => events.push({ type: 'content_block_start', index, content_block: block });
    const deltas = (type: string, name: string): void => {
      for (const piece of cut(TEXTS[kind]))
        events.push({ type: 'content_block_delta', index, delta: { type, [name]: piece } });
    };
    if (kind === 'thought') {
      open({ type: 'thinking', thinking: '', signature: '' });
      deltas('thinking_delta', 'thinking');
      events.push({
        type: 'content_block_delta',
        index,
        delta: { type: 'signature_delta', signature: `c2ln${index}` },
      });
    } else if (kind === 'sealed') open({ type: 'redacted_thinking', data: `sealed${index}` });
    else if (kind.startsWith('call')) {
      open({ type: 'tool_use', id: `toolu_${index}`, name: 'tide', input: {} });
      deltas('input_json_delta', 'partial_json');
    } else {
      open({ type: 'text', text: '' });
      deltas('text_delta', 'text');
    }
    events.push({ type: 'content_block_stop', index });
  }
  events.push({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 9 },
  });
  events.push({ type: 'message_stop' });
  return events.map(eventText).join('');
}

/** Frames of the Gemini API for the same stretches. */
function gemini(): string {
  const frames: object[] = [];
  const frame = (part: object, more: object = {}): number =>
    frames.push({ candidates: [{ index: 0, content: { role: 'model', parts: [part] }, ...more }], responseId: 'g' });
  for (const [index, kind] of order.entries()) {
    if (kind === 'sealed') continue;
    if (kind.startsWith('call'))
      frame({
        functionCall: { name: 'tide', args: JSON.parse(TEXTS[kind]) as object },
        thoughtSignature: `c2ln${index}`,
      });
    else for (const text of cut(TEXTS[kind])) frame({ text, ...(kind === 'thought' && { thought: true }) });
  }
  frame({ text: '' }, { finishReason: 'STOP' });
  return frames.map(sseEvent).join('');
}

const upstreams: StubHandler = ({ url }, response) => {
  openSse(response);
  response.end(url.includes('/messages') ? messages() : url.includes('/v1beta/') ? gemini() : common());
};

async function gateways(): Promise<ReadonlyMap<string, TestHost>> {
  const hosts = new Map<string, TestHost>();
  for (const [name, plugins] of [['no guard', []], ...Object.entries(GUARDS)] as const) {
    const upstream = await stubUpstream(upstreams);
    const targets = [
      { virtual_key: 'anthropic', models: ['claude'] },
      { virtual_key: 'gemini', models: ['gemini'] },
      upstream.target('a', {}, everySurface),
    ];
    hosts.set(
      name,
      await startHost(
        { strategy: { mode: 'fallback' }, targets, plugins, responses: { translate: 'auto' } },
        {
          variables: {
            ANTHROPIC_API_KEY: 'vendor-key-0123456789',
            ANTHROPIC_BASE_URL: `${upstream.url}/v1`,
            GEMINI_API_KEY: 'vendor-key',
            GEMINI_BASE_URL: `${upstream.url}/v1beta`,
          },
          isLenient: true,
        },
      ),
    );
  }
  return hosts;
}

const tools = { type: 'object', properties: {} };
const CLIENTS: Readonly<
  Record<
    string,
    { readonly ask: (host: TestHost, model: string) => Promise<Answer>; readonly says: (events: Json[]) => unknown }
  >
> = {
  chat: {
    ask: (host, model) =>
      host.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }], stream: true }, SAME),
    says: (events) => joined(events.filter((event) => typeof event !== 'string') as never),
  },
  Messages: {
    ask: (host, model) =>
      host.post(
        '/v1/messages',
        {
          model,
          max_tokens: 64,
          messages: [{ role: 'user', content: 'hi' }],
          stream: true,
          thinking: { type: 'adaptive' },
          tools: [{ name: 'tide', input_schema: tools }],
        },
        SAME,
      ),
    says: (events) =>
      merged(
        events.filter(({ type }) => type !== 'ping'),
        ({ type, index, delta }) =>
          type === 'content_block_delta' && delta.type !== 'signature_delta' && `${index} ${delta.type}`,
        (one, two) => {
          for (const name of ['text', 'thinking', 'partial_json'])
            if (name in two.delta) one.delta[name] += two.delta[name];
        },
      ),
  },
  Responses: {
    ask: (host, model) =>
      host.post(
        '/v1/responses',
        { model, input: 'hi', stream: true, reasoning: { summary: 'auto' }, include: ['reasoning.encrypted_content'] },
        SAME,
      ),
    says: (events) => {
      expect(events.map((event) => event['sequence_number'])).to.deep.equal(events.map((_event, at) => at));
      return merged(
        events.map(({ sequence_number: _number, obfuscation: _noise, ...event }) => event),
        ({ type, item_id, content_index, summary_index }) =>
          String(type).endsWith('.delta') && `${type} ${item_id} ${content_index} ${summary_index}`,
        (one, two) => {
          one['delta'] += two['delta'];
        },
      );
    },
  },
  Gemini: {
    ask: (host, model) =>
      host.post(
        `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
        {
          contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
          generationConfig: { thinkingConfig: { includeThoughts: true } },
        },
        SAME,
      ),
    says: (events) => [
      merged(
        events
          .flatMap(({ candidates: [{ content }] = [{}] }) => content?.parts ?? [])
          .filter((part: Json) => part['text'] !== ''),
        ({ text, thought, thoughtSignature }) =>
          typeof text === 'string' && thoughtSignature === undefined && `text ${thought}`,
        (one, two) => {
          one['text'] += two['text'];
        },
      ),
      events.at(-1)?.['candidates']?.[0]?.finishReason,
      events.at(-1)?.['usageMetadata'],
    ],
  },
};
const SAME = { 'x-request-id': 'the-same-request' };

/** The events, those that go on with one text joined. */
function merged(
  events: readonly Json[],
  keyOf: (event: Json) => string | false,
  join: (one: Json, two: Json) => void,
): Json[] {
  const out: Json[] = [];
  let last: string | false = false;
  for (const event of events) {
    const key = keyOf(event);
    if (key !== false && key === last) join(out.at(-1) as Json, event);
    else out.push(structuredClone(event));
    last = key;
  }
  return out;
}

/** The data of the events of any wire. */
const eventsOf = (text: string): Json[] =>
  [...text.matchAll(/^data: (.*?)\r?$/gm)]
    .filter(([, data]) => data !== '[DONE]')
    .map(([, data = '']) => JSON.parse(data) as Json);

/** Without dates, and with ids that the gateway makes numbered in their order. */
function pinned(value: unknown): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(value)
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replaceAll(/(?<=[a-z]_|")[0-9a-f]{20,}\w*/g, (id) => {
      if (!ids.has(id)) ids.set(id, `id ${ids.size}`);
      return ids.get(id) ?? '';
    });
  return JSON.parse(text) as unknown;
}

describe('streams under a guard that finds nothing', () => {
  const setup = forSuite(gateways);
  const ORDERS = ordersUpTo(3);

  for (const [client, { ask, says }] of Object.entries(CLIENTS))
    for (const model of ['m', 'claude', 'gemini'])
      for (const guard of Object.keys(GUARDS)) {
        it(`say the same, in the same order: a client of ${client}, ${model}, ${guard}`, async () => {
          const hosts = setup();
          for (const each of some(ORDERS, { every: 29, from: (guard.length + model.length) % 29 })) {
            order = each;
            const [bare, guarded] = await Promise.all([
              ask(hosts.get('no guard') as TestHost, model),
              ask(hosts.get(guard) as TestHost, model),
            ]);
            expect(guarded.status, each.join()).to.equal(bare.status);
            expect(pinned(says(eventsOf(guarded.text))), each.join()).to.deep.equal(pinned(says(eventsOf(bare.text))));
            if (model === 'claude' && client === 'Messages') expect(guarded.text, each.join()).to.equal(bare.text);
          }
        });
      }
});

/** The kind of block that stands last in a stream of the Messages wire. */
const lastBlock = (text: string): unknown =>
  eventsOf(text).findLast(({ type }) => type === 'content_block_start')?.['content_block'].type;

describe('the last block for a client of Messages', () => {
  const setup = forSuite(gateways);
  const BLOCKS: Readonly<Record<StretchKind, string>> = {
    thought: 'thinking',
    content: 'text',
    refusal: 'text',
    'call 0': 'tool_use',
    'call 1': 'tool_use',
    sealed: 'thinking',
  };

  for (const model of ['m', 'gemini'])
    it(`is what the model ended with, and nothing that only its vendor reads: ${model}`, async () => {
      const host = setup().get('no guard') as TestHost;
      for (const each of some(ordersUpTo(3), { every: 15 })) {
        order = each;
        const said = each.findLast((kind) => kind !== 'sealed');
        if (said === undefined) continue;
        const { status, text } = await (CLIENTS['Messages'] as (typeof CLIENTS)[string]).ask(host, model);
        expect(status, each.join()).to.equal(200);
        expect(lastBlock(text), each.join()).to.equal(BLOCKS[said]);
      }
    });
});
