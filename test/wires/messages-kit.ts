import type { Answer, StubUpstream, TestHost, TestHostOptions } from '../kit/index.ts';
import { replyJson, startHost, stubUpstream } from '../kit/index.ts';
import type { StubHandler } from '../kit/index.ts';

export const PATH = '/v1/messages';
export const VERSION = '2023-06-01';

export const hello = { model: 'claude-x', max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] };

export const vendorMessage = (content: readonly object[], more: object = {}): object => ({
  id: 'msg_vendor',
  type: 'message',
  role: 'assistant',
  model: 'claude-vendor',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
  ...more,
});

export interface VendorEvent {
  readonly type: string;
  readonly [name: string]: unknown;
}

export const eventText = (event: VendorEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

export const VENDOR_EVENTS: readonly VendorEvent[] = [
  {
    type: 'message_start',
    message: vendorMessage([], {
      stop_reason: null,
      usage: { input_tokens: 12, output_tokens: 1, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
    }),
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Grüße ' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'zurück' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];

export interface Gateway {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  readonly post: (body: unknown, headers?: Record<string, string>) => Promise<Answer>;
}

/** A gateway whose one target is the vendor itself, played by a stub. */
export async function sameWire(
  handler: StubHandler,
  config: object = {},
  options: TestHostOptions = {},
): Promise<Gateway> {
  const upstream = await stubUpstream(handler);
  const host = await startHost(
    {
      strategy: { mode: 'single' },
      targets: [{ virtual_key: 'anthropic', models: ['claude-x', 'claude-y'] }],
      ...config,
    },
    {
      ...options,
      variables: {
        ANTHROPIC_API_KEY: 'vendor-key-0123456789',
        ANTHROPIC_BASE_URL: `${upstream.url}/v1`,
        ...options.variables,
      },
    },
  );
  return { host, upstream, post: (body, headers) => host.post(PATH, body, headers) };
}

/** Facts of a model that takes the text of thoughts in earlier turns. */
const TAKES_THOUGHTS = [{ models: ['*'], set: { thoughts_back: 'none', thoughts_field: 'reasoning_content' } }];

/** A gateway whose one target speaks the common wire, and takes the text of thoughts. */
export async function crossWire(
  handler: StubHandler,
  config: object = {},
  options: TestHostOptions = {},
): Promise<Gateway> {
  const upstream = await stubUpstream(handler);
  const target = { models: ['claude-x'], model_facts: TAKES_THOUGHTS };
  const host = await startHost(
    { strategy: { mode: 'single' }, targets: [upstream.target('a', target)], ...config },
    options,
  );
  return { host, upstream, post: (body, headers) => host.post(PATH, body, headers) };
}

export const saying =
  (message: object, more: object = {}): StubHandler =>
  (_request, response) =>
    replyJson(response, 200, {
      id: 'x',
      object: 'chat.completion',
      model: 'up',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
      ...more,
    });

/** The events of an answer in this wire: each with its name checked against its data. */
export function eventsOf(text: string): any[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [, type, data = ''] = /^event: (.*)\ndata: (.*)$/s.exec(frame) ?? [];
      const event = JSON.parse(data);
      if (event.type !== type) throw new Error(`${frame} names another type`);
      return event;
    });
}
