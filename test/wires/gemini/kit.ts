import {
  openSse,
  replyJson,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../../kit/index.ts';
import { everySurface } from '../../surfaces/kit.ts';

type Json = Record<string, any>;

export interface GeminiGateway {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  /** The body that the upstream saw last. */
  readonly sent: () => Json;
  readonly generate: (body: object, headers?: Record<string, string>) => ReturnType<TestHost['post']>;
}

export const TEXT: Json = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
export const PATH = '/v1beta/models/m:generateContent';
export const STREAM = '/v1beta/models/m:streamGenerateContent';

/** A gateway whose one target speaks the common wire and serves model `m`. */
export async function commonGateway(
  handler: StubHandler,
  config: object = {},
  options: TestHostOptions = {},
  module: object = {},
): Promise<GeminiGateway> {
  const upstream = await stubUpstream(handler);
  const host = await startHost(
    { strategy: { mode: 'single' }, targets: [upstream.target('a', {}, { ...everySurface, ...module })], ...config },
    options,
  );
  return gatewayOf(host, upstream);
}

/** A gateway whose target is the wire's own vendor. */
export async function ownGateway(
  handler: StubHandler,
  config: object = {},
  options: TestHostOptions = {},
): Promise<GeminiGateway> {
  const upstream = await stubUpstream(handler);
  const variables = { GEMINI_API_KEY: 'vendor-key', GEMINI_BASE_URL: `${upstream.url}/v1beta`, ...options.variables };
  const host = await startHost(
    { strategy: { mode: 'single' }, targets: [{ virtual_key: 'gemini', models: ['m'] }], ...config },
    { ...options, variables },
  );
  return gatewayOf(host, upstream);
}

function gatewayOf(host: TestHost, upstream: StubUpstream): GeminiGateway {
  return {
    host,
    upstream,
    sent: () => upstream.seen.at(-1)?.json() ?? {},
    generate: (body, headers) => host.post(PATH, body, headers),
  };
}

/** An upstream of the common wire that answers with this message. */
export const says =
  (message: object, more: object = {}): StubHandler =>
  (_seen, response) =>
    replyJson(response, 200, {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'upstream',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      ...more,
    });

/** A stub that streams these chunks. */
export const streams =
  (...deltas: readonly object[]): StubHandler =>
  (_seen, response) => {
    openSse(response);
    const chunks = deltas.map((delta) =>
      'choices' in delta ? delta : { id: 'x', choices: [{ index: 0, delta, finish_reason: null }] },
    );
    response.end(
      [
        ...chunks,
        { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        { id: 'x', choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
        '[DONE]',
      ]
        .map(sseEvent)
        .join(''),
    );
  };

/** Frames of a stream of events, parsed. */
export function framesOf(text: string): Json[] {
  return text
    .split('\r\n\r\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.replace(/^data: /, '')) as Json);
}
