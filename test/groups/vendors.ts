import type { ServerResponse } from 'node:http';
import {
  fakeClock,
  openSse,
  replyJson,
  type SeenRequest,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import { goodAnswer } from '../kit/faults/answers.ts';
import { eventText, VENDOR_EVENTS, vendorMessage } from '../wires/messages-kit.ts';

/** Models of the vendors that the tests speak of. */
export const OPENAI_MODEL = 'gpt-4o';
export const CLAUDE = 'claude-sonnet-4-5';
export const GEMINI_MODEL = 'gemini-2.5-flash';
export const RERANKER = 'Salesforce/Llama-Rank-V1';

const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19 };
const gemini = (text: string, more: object = {}): object => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }],
  usageMetadata,
  modelVersion: 'gemini-vendor',
});

const PICTURE = {
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
      finishReason: 'STOP',
    },
  ],
  usageMetadata,
};

const response = (more: object): object => ({
  id: 'resp_vendor',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'gpt-vendor',
  output: [
    {
      type: 'message',
      id: 'msg_vendor',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'hello', annotations: [] }],
    },
  ],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  ...more,
});

/** Plays OpenAI, Anthropic, Gemini and Together, each in its own format, whole and streamed. */
export function vendorAnswer(request: SeenRequest, out: ServerResponse): void {
  const path = request.url.replace(/\?.*$/, '');
  const isStream = /"stream":\s*true/.test(request.text) || path.endsWith(':streamGenerateContent');
  if (path.endsWith('/count_tokens')) return replyJson(out, 200, { input_tokens: 41 });
  if (path.endsWith(':countTokens')) return replyJson(out, 200, { totalTokens: 42 });
  if (/:(?:batchE|e)mbedContents?$/.test(path)) return replyJson(out, 200, { embeddings: [{ values: [0.5, 1] }] });
  if (path.endsWith('/responses/input_tokens'))
    return replyJson(out, 200, { object: 'response.input_tokens', input_tokens: 43 });
  if (path.endsWith('/messages'))
    return isStream
      ? events(out, VENDOR_EVENTS.map(eventText))
      : replyJson(out, 200, vendorMessage([{ type: 'text', text: 'Grüße zurück' }]));
  if (request.text.includes('responseModalities')) return replyJson(out, 200, PICTURE);
  if (path.endsWith(':predict')) return replyJson(out, 200, { predictions: [{ bytesBase64Encoded: 'aGk=' }] });
  if (path.endsWith(':generateContent')) return replyJson(out, 200, gemini('Grüße', { finishReason: 'STOP' }));
  if (path.endsWith(':streamGenerateContent'))
    return events(
      out,
      [gemini('Grü'), gemini('ße', { finishReason: 'STOP' })].map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`),
    );
  if (path.endsWith('/responses'))
    return isStream
      ? events(
          out,
          ['response.created', 'response.completed'].map(
            (type) => `event: ${type}\ndata: ${JSON.stringify({ type, response: response({}) })}\n\n`,
          ),
        )
      : replyJson(out, 200, response({}));
  const answer = goodAnswer({ path, text: request.text } as Parameters<typeof goodAnswer>[0]);
  if (!answer) return replyJson(out, 200, { path });
  out.writeHead(200, { 'content-type': answer.contentType });
  for (const piece of answer.pieces) out.write(piece);
  out.end();
}

function events(out: ServerResponse, texts: readonly string[]): void {
  openSse(out);
  for (const text of texts) out.write(text);
  out.end();
}

export interface Vendors {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  /** What the vendors saw since the last call. */
  readonly takeSeen: () => readonly SeenRequest[];
}

export type VendorPlay = (request: SeenRequest, out: ServerResponse) => void;

/** A gateway in front of them, each under its own name; `play` may answer in their place. */
export async function withVendors(
  config: object,
  options: TestHostOptions & { readonly play?: VendorPlay } = {},
): Promise<Vendors> {
  const { play = vendorAnswer, ...rest } = options;
  const upstream = await stubUpstream(play);
  const key = 'vendor-key-0123456789';
  const host = await startHost(
    {
      strategy: { mode: 'fallback' },
      targets: [
        { virtual_key: 'openai' },
        { virtual_key: 'anthropic' },
        { virtual_key: 'gemini' },
        { virtual_key: 'together', models: [RERANKER] },
      ],
      ...config,
    },
    {
      isLenient: true,
      clock: fakeClock(),
      random: () => 0.5,
      ...rest,
      variables: {
        OPENAI_API_KEY: key,
        OPENAI_BASE_URL: `${upstream.url}/v1`,
        ANTHROPIC_API_KEY: key,
        ANTHROPIC_BASE_URL: `${upstream.url}/v1`,
        TOGETHER_API_KEY: key,
        TOGETHER_BASE_URL: `${upstream.url}/v1`,
        GEMINI_API_KEY: key,
        GEMINI_BASE_URL: `${upstream.url}/v1beta`,
        ...rest.variables,
      },
    },
  );
  let taken = 0;
  const takeSeen = (): readonly SeenRequest[] => {
    const seen = upstream.seen.slice(taken);
    taken = upstream.seen.length;
    return seen;
  };
  return { host, upstream, takeSeen };
}
