import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { type Answer, openSse, startHost, stubUpstream } from '../kit/index.ts';
import { type Promised, PROMISED } from '../upstream/fault-promises.ts';
import { bodyText, FAULT_VECTORS, type FaultVector, titleOf } from '../upstream/fault-vectors.ts';
import { eventText, VENDOR_EVENTS } from './messages-kit.ts';

/** A client's wire whose own vendor answers. */
interface Vendor {
  readonly module: string;
  readonly variables: (url: string) => Readonly<Record<string, string>>;
  readonly path: (isStream: boolean) => string;
  readonly body: (isStream: boolean) => object;
  /** What a stream that had begun has sent. */
  readonly begun: string;
  readonly frame: (text: string) => string;
  readonly read: (error: any) => { readonly code: string; readonly type?: string };
}

const messages = [{ role: 'user', content: 'hi' }];
const VENDORS: readonly Vendor[] = [
  {
    module: 'anthropic',
    variables: (url) => ({ ANTHROPIC_API_KEY: 'vendor-key-0123456789', ANTHROPIC_BASE_URL: `${url}/v1` }),
    path: () => '/v1/messages',
    body: (stream) => ({ model: 'm', max_tokens: 9, messages, stream }),
    begun: VENDOR_EVENTS.slice(0, 8).map(eventText).join(''),
    frame: (text) => `event: error\ndata: ${text}\n\n`,
    read: (error) => ({ code: error.details.error_code, type: error.type }),
  },
  {
    module: 'gemini',
    variables: (url) => ({ GEMINI_API_KEY: 'vendor-key-0123456789', GEMINI_BASE_URL: `${url}/v1beta` }),
    path: (isStream) => `/v1beta/models/m:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
    begun: `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'so' }] }, index: 0 }] })}\r\n\r\n`,
    frame: (text) => `data: ${text}\r\n\r\n`,
    read: (error) => ({ code: error.details[0].reason.toLowerCase() }),
  },
];

const WAYS = ['whole', 'stream', 'first', 'late'] as const;
type Way = (typeof WAYS)[number];

function answer(way: Way, { status }: FaultVector, text: string, vendor: Vendor, response: ServerResponse): void {
  if (way === 'whole' || way === 'stream') {
    response.writeHead(status, { 'content-type': text.startsWith('<') ? 'text/html' : 'application/json' }).end(text);
    return;
  }
  openSse(response);
  response.end((way === 'late' ? vendor.begun : '') + vendor.frame(text));
}

async function askedOf(vendor: Vendor, way: Way, vector: FaultVector): Promise<Answer> {
  const upstream = await stubUpstream((_request, response) => answer(way, vector, bodyText(vector), vendor, response));
  const host = await startHost(
    { strategy: { mode: 'single' }, targets: [{ virtual_key: vendor.module, models: ['m'] }] },
    { variables: vendor.variables(upstream.url) },
  );
  const isStream = way !== 'whole';
  const reply = await host.post(vendor.path(isStream), vendor.body(isStream));
  expect(upstream.seen).to.have.length(1);
  await host.close();
  return reply;
}

const lastError = ({ text }: Answer): any => {
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data: {'));
  return JSON.parse(lines.at(-1)?.slice(6) ?? '{}').error;
};

const wordsIn = ({ body }: FaultVector): string => (body as { error?: { message?: string } }).error?.message ?? '';

function expectSaid(way: Way, vector: FaultVector, vendor: Vendor, reply: Answer): void {
  const reason = way === 'whole' || way === 'stream' || vector.inside === undefined ? vector.reason : undefined;
  const promised: Promised = reason ? PROMISED[reason] : {};
  const error = way === 'late' ? lastError(reply) : reply.json().error;
  expect(error).to.be.an('object');
  const { code, type } = vendor.read(error);
  const client = promised.client?.(way === 'whole' || way === 'stream' ? vector.status : error.code);
  if (client && way !== 'late' && !vector.id.startsWith('K')) expect([reply.status, code]).to.deep.equal(client);
  if (promised.isPrivate) {
    expect(error.message).to.equal(promised.says);
    expect(reply.text).to.not.include(JSON.stringify(wordsIn(vector)).slice(1, -1));
  } else if (reason === 'context_length' || reason === 'content_policy')
    expect(error.message).to.equal(wordsIn(vector)); // the vendor's, unchanged
  if (type === undefined) return;
  if (reason === 'billing') expect(type).to.equal('api_error');
  if (reason === 'overload') expect(type).to.equal('overloaded_error');
}

describe("failures of the client's own vendor", () => {
  for (const vendor of VENDORS)
    for (const way of WAYS)
      it(`are said by class, with what is about the request unchanged: ${vendor.module}, ${way}`, async () => {
        for (const vector of FAULT_VECTORS.filter(({ module }) => module === vendor.module)) {
          if (typeof vector.body === 'string' && (way === 'first' || way === 'late')) continue;
          const reply = await askedOf(vendor, way, vector);
          try {
            expectSaid(way, vector, vendor, reply);
          } catch (cause) {
            throw new Error(`${titleOf(vector)}: ${reply.status} ${reply.text}`, { cause });
          }
        }
      });
});
