import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { logger } from '../admin/logs-kit.ts';
import {
  ask,
  eventually,
  startHost,
  type StubHandler,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';

const LINES = [
  { when: { input_above: 1000 }, set: { input_per_m_tokens: 4, output_per_m_tokens: 12 } },
  { when: { service_tier: 'priority' }, set: { input_per_m_tokens: 3.5, output_per_m_tokens: 14 } },
  { when: { speed: 'fast' }, times: 6 },
  { when: { region: 'us' }, times: 1.1 },
];
const PRICING = {
  input_per_m_tokens: 2,
  output_per_m_tokens: 8,
  cache_read_per_m_tokens: 0.2,
  cache_write_per_m_tokens: 2.5,
  audio_input_per_m_tokens: 10,
  lines: LINES,
};

/** A kind of provider that says what its answers are billed by, each in words of its own. */
interface Vendor {
  readonly provider: string;
  readonly variables: (url: string) => Record<string, string>;
  readonly whole: object;
  /** The events of the same answer, as they are sent. */
  readonly stream: readonly object[];
  readonly line: string;
  readonly usd: number;
}

const OPENAI_USAGE = {
  prompt_tokens: 1001,
  completion_tokens: 100,
  total_tokens: 1101,
  prompt_tokens_details: { cached_tokens: 500, audio_tokens: 100 },
};
const GEMINI = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP' }],
  usageMetadata: {
    promptTokenCount: 900,
    candidatesTokenCount: 50,
    totalTokenCount: 950,
    cachedContentTokenCount: 200,
    trafficType: 'ON_DEMAND_PRIORITY',
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 600 },
      { modality: 'AUDIO', tokenCount: 300 },
    ],
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 200 }],
  },
};
const CLAUDE_USAGE = {
  input_tokens: 10,
  output_tokens: 20,
  cache_read_input_tokens: 30,
  cache_creation_input_tokens: 100,
  cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
  service_tier: 'priority',
  inference_geo: 'us',
};

const VENDORS: readonly Vendor[] = [
  {
    provider: 'openai',
    variables: (url) => ({ OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${url}/v1` }),
    whole: {
      id: 'c',
      object: 'chat.completion',
      service_tier: 'priority',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
      usage: OPENAI_USAGE,
    },
    stream: [
      { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'hello' }, finish_reason: null }] },
      { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], service_tier: 'priority' },
      { id: 'c', choices: [], service_tier: 'priority', usage: OPENAI_USAGE },
    ],
    line: 'above1000+priority',
    usd: (401 * 7 + 100 * 10 + 500 * 0.2 + 100 * 21) / 1e6,
  },
  {
    provider: 'gemini',
    variables: (url) => ({ GEMINI_API_KEY: 'k-0123456789', GEMINI_BASE_URL: url }),
    whole: GEMINI,
    stream: [GEMINI],
    line: 'priority',
    usd: (600 * 3.5 + 100 * 10 + 200 * 10 + 50 * 14) / 1e6,
  },
  {
    provider: 'anthropic',
    variables: (url) => ({ ANTHROPIC_API_KEY: 'k-0123456789', ANTHROPIC_BASE_URL: url }),
    whole: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      usage: CLAUDE_USAGE,
    },
    stream: [
      {
        type: 'message_start',
        message: { id: 'm', role: 'assistant', content: [], usage: { ...CLAUDE_USAGE, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } },
      { type: 'message_stop' },
    ],
    line: 'priority*us',
    usd: ((10 * 3.5 + 20 * 14 + 30 * 0.2 + 60 * 2.5 + 40 * 7) * 1.1) / 1e6,
  },
];

async function hostOf({ provider, variables }: Vendor, handler: StubHandler): Promise<TestHost> {
  const upstream = await stubUpstream(handler);
  const folder = await temporaryFolder();
  const path = join(folder, 'overlay.json');
  await writeFile(path, JSON.stringify({ [`${provider}/claude-m`]: { pricing: PRICING } }));
  return startHost(
    {
      targets: [{ virtual_key: provider, models: ['claude-m'] }],
      plugins: logger(['after_request']),
    },
    {
      variables: {
        ...variables(upstream.url),
        GW_MODEL_CATALOG_OVERLAY: path,
        REQUEST_LOG_STORE_BACKEND: 'sqlite',
        REQUEST_LOG_STORE_DSN: join(folder, 'requests.db'),
      },
    },
  );
}

async function rowOf(t: TestHost): Promise<Record<string, unknown>> {
  let rows: Record<string, unknown>[] = [];
  await eventually(async () => {
    rows = ((await t.get('/admin/logs?limit=1')).json() as { data: Record<string, unknown>[] }).data;
    return rows.length > 0;
  });
  return rows[0] ?? {};
}

const framesOf = ({ stream, provider }: Vendor): string =>
  stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') +
  (provider === 'openai' ? 'data: [DONE]\n\n' : '');

describe('the tier that an answer was made in', () => {
  for (const vendor of VENDORS)
    for (const stream of [false, true])
      it(`of ${vendor.provider}, ${stream ? 'streamed' : 'whole'}, decides the price, and stands in the row`, async () => {
        const t = await hostOf(vendor, (_request, response) => {
          response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
          response.end(stream ? framesOf(vendor) : JSON.stringify(vendor.whole));
        });
        const answer = await t.post('/v1/chat/completions', { ...ask('hi'), model: 'claude-m', stream });
        expect(answer.status).to.equal(200);
        const { text } = answer;
        expect(text).to.include('hello');
        if (vendor.provider !== 'openai') expect(text).to.not.match(/priority|audioInput|writtenLong/);
        const row = await rowOf(t);
        expect(row['price_line']).to.equal(vendor.line);
        expect(row['cost_usd']).to.be.closeTo(vendor.usd, 1e-10);
      });
});
