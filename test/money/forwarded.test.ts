import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { eventually, startHost, type StubHandler, stubUpstream, type TestHost } from '../kit/index.ts';

const VALUES = ['refuse', 'warn', 'allow'] as const;

/** An answer that is forwarded: its bytes, and what it costs in micro-dollars. */
interface Forwarded {
  readonly what: string;
  readonly provider: 'openai' | 'mistral';
  readonly path: string;
  readonly body: object;
  readonly type?: string;
  readonly coding?: string;
  readonly answer: string | Buffer;
  /** The size of the pieces that it is sent in. */
  readonly pieces?: number;
  readonly due: number | readonly [number, number];
  /** Refused where what has no price is. */
  readonly isRefused?: boolean;
}

const event = (data: object): string => `event: x\ndata: ${JSON.stringify(data)}\n\n`;
const usage = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 };
const response = { id: 'resp_1', object: 'response', model: 'gpt-4o', status: 'completed', output: [], usage };
const ofGpt4o = 1000 * 2.5 + 100 * 10;
const asks = { model: 'gpt-4o', input: 'hi', max_output_tokens: 10 };
const pages = { model: 'mistral-ocr-2512', pages: [{ index: 0, markdown: 'x' }], usage_info: { pages_processed: 12 } };
const toOcr = { provider: 'mistral', path: '/v1/ocr', body: { model: 'mistral-ocr-2512', document: {} } } as const;
const toOpenai = { provider: 'openai', body: asks } as const;

const ANSWERS: readonly Forwarded[] = [
  { ...toOpenai, what: 'a response', path: '/v1/responses', answer: JSON.stringify(response), due: ofGpt4o },
  {
    ...toOpenai,
    what: 'a streamed response, in pieces of seven bytes',
    path: '/v1/responses',
    type: 'text/event-stream',
    answer:
      event({ type: 'response.created', response: { ...response, usage: null } }) +
      event({ type: 'response.completed', response }),
    pieces: 7,
    due: ofGpt4o,
  },
  {
    ...toOpenai,
    what: 'a response with searches',
    path: '/v1/responses',
    answer: JSON.stringify({
      ...response,
      output: [1, 2].map((id) => ({ type: 'web_search_call', id: `${id}`, action: { type: 'search' } })),
    }),
    due: ofGpt4o + 2 * 25_000,
  },
  {
    ...toOpenai,
    what: 'a compressed response, by its bytes',
    path: '/v1/responses',
    coding: 'gzip',
    answer: gzipSync(JSON.stringify(response)),
    due: [1, 2000],
  },
  {
    ...toOpenai,
    what: 'a response of nine million bytes, by its bytes',
    path: '/v1/responses',
    answer: JSON.stringify({ ...response, padding: 'x'.repeat(9_000_000) }),
    due: [100_000, 30_000_000],
  },
  { ...toOcr, what: 'pages', answer: JSON.stringify(pages), due: 24_000 },
  { ...toOcr, what: 'annotated pages', answer: JSON.stringify({ ...pages, document_annotation: '{}' }), due: 36_000 },
  {
    ...toOpenai,
    what: 'the usage of a path without a price',
    path: '/v1/house/made',
    answer: JSON.stringify({
      model: 'gpt-4o',
      usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
    }),
    due: ofGpt4o,
    isRefused: true,
  },
  { ...toOpenai, what: 'nothing that is known', path: '/v1/house/made', answer: '{"a": 1}', due: 0, isRefused: true },
];

function sending({ answer, type = 'application/json', coding, pieces }: Forwarded): StubHandler {
  return async (_seen, reply) => {
    reply.writeHead(200, { 'content-type': type, ...(coding !== undefined && { 'content-encoding': coding }) });
    const bytes = Buffer.from(answer as string);
    const size = pieces ?? bytes.length;
    for (let from = 0; from < bytes.length; from += size) {
      reply.write(bytes.subarray(from, from + size));
      if (pieces !== undefined) await new Promise(setImmediate);
    }
    reply.end();
  };
}

async function bookedBy(t: TestHost, id: string): Promise<number> {
  await eventually(() => t.host.slot.leases === 0);
  const carryover = t.host.carryover.open();
  const ledger = carryover.lease<MemoryLedger>('ledger key budgets', () => {
    throw new Error('there is no ledger');
  });
  void carryover.release();
  return ledger.committed(id);
}

describe('what is forwarded under a budget of dollars', () => {
  for (const forwarded of ANSWERS)
    for (const unpriced of VALUES)
      it(`books ${forwarded.what}, and changes no byte (${unpriced})`, async () => {
        const { provider, path, body, answer, coding, due, isRefused = false } = forwarded;
        const upstream = await stubUpstream(sending(forwarded));
        const name = provider.toUpperCase();
        const t = await startHost(
          {
            targets: [{ virtual_key: provider, models: ['gpt-4o', 'mistral-ocr-2512'] }],
            responses_target: provider,
            money: { unpriced },
          },
          { variables: { [`${name}_API_KEY`]: 'k-0123456789', [`${name}_BASE_URL`]: `${upstream.url}/v1` } },
        );
        const { key, record } = await t.host.stores.keys.create({
          name: 'k',
          scopes: ['read_only'],
          limits: { budget_usd: 1000 },
        });
        const got = await fetch(`${t.url}${path}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            ...(path !== '/v1/responses' && { 'x-provider': provider }),
          },
          body: JSON.stringify(body),
        });
        const bytes = Buffer.from(await got.arrayBuffer());
        if (isRefused && unpriced === 'refuse') {
          expect(got.status).to.equal(400);
          expect(upstream.seen).to.have.length(0);
          return;
        }
        expect(got.status, bytes.toString().slice(0, 300)).to.equal(200);
        const sent = Buffer.from(answer as string);
        const plain = coding === undefined ? sent : Buffer.from(JSON.stringify(response)); // fetch unpacks
        expect(bytes.equals(plain), 'bytes').to.equal(true);
        const booked = await bookedBy(t, record.id);
        if (typeof due === 'number') expect(booked).to.equal(due);
        else expect(booked).to.be.within(...due);
      });
});
