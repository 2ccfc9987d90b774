import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { logger } from '../admin/logs-kit.ts';
import { numbered, numberedRows } from './rows.ts';
import { ask, startHost, stubUpstream, temporaryFolder, type TestHost } from '../kit/index.ts';

/** Where an answer says the tier that it was made in: in its head, in its body, or nowhere. */
interface Say {
  readonly what: string;
  readonly provider: string;
  readonly model: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly whole: object;
  readonly events: readonly object[];
  /** What the request asks for. */
  readonly asked?: string;
  readonly line: string;
}

const PRICING = {
  input_per_m_tokens: 2,
  output_per_m_tokens: 8,
  lines: ['flex', 'priority', 'offpeak', 'provisioned', 'reserved', 'scale', 'batch'].map((service_tier, at) => ({
    when: { service_tier },
    times: (at + 1) / 4,
  })),
};

const gemini = (traffic?: string): Pick<Say, 'whole' | 'events'> => {
  const whole = {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: 1000,
      candidatesTokenCount: 100,
      totalTokenCount: 1100,
      ...(traffic !== undefined && { trafficType: traffic }),
    },
  };
  return { whole, events: [whole] };
};

const common = (tier?: string): Pick<Say, 'whole' | 'events'> => {
  const said = {
    id: 'c',
    ...(tier !== undefined && { service_tier: tier }),
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
  };
  return {
    whole: {
      ...said,
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    },
    events: [
      { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'hello' }, finish_reason: null }] },
      { ...said, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ],
  };
};

const claude = (usage: object): Pick<Say, 'whole' | 'events'> => {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-m', stop_sequence: null };
  const counts = { input_tokens: 1000, output_tokens: 100, ...usage };
  return {
    whole: { ...message, content: [{ type: 'text', text: 'hello' }], stop_reason: 'end_turn', usage: counts },
    events: [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: counts } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 100 } },
      { type: 'message_stop' },
    ],
  };
};

const ofGemini = { provider: 'gemini', model: 'gemini-m' };
const HEAD = 'x-gemini-service-tier';
const ofBedrock = { provider: 'bedrock', model: 'anthropic.claude-m' };
const BEDROCK_HEAD = 'X-Amzn-Bedrock-Service-Tier';

const SAYS: readonly Say[] = [
  ...['flex', 'priority', 'standard'].flatMap((tier): Say[] => [
    { ...ofGemini, ...gemini(), what: `names ${tier} in its head`, headers: { [HEAD]: tier }, line: tier },
    {
      ...ofGemini,
      ...gemini(),
      what: `names ${tier} in its head where priority was asked for`,
      headers: { [HEAD]: tier },
      asked: 'priority',
      line: tier,
    },
  ]),
  ...['flex', 'priority'].map((tier): Say => ({
    ...ofGemini,
    ...gemini(),
    what: `names none where ${tier} was asked for`,
    asked: tier,
    line: tier,
  })),
  { ...ofGemini, ...gemini(), what: 'names none', line: 'standard' },
  ...Object.entries({
    ON_DEMAND: 'standard',
    ON_DEMAND_PRIORITY: 'priority',
    ON_DEMAND_FLEX: 'flex',
    ON_DEMAND_OFFPEAK: 'offpeak',
    PROVISIONED_THROUGHPUT: 'provisioned',
    TRAFFIC_TYPE_UNSPECIFIED: 'standard',
  }).map(([word, line]): Say => ({ ...ofGemini, ...gemini(word), what: `has traffic of type ${word}`, line })),
  {
    ...ofGemini,
    ...gemini('ON_DEMAND'),
    what: 'has usual traffic where flex was asked for',
    asked: 'flex',
    line: 'standard',
  },
  ...['openai', 'groq', 'openrouter'].flatMap((provider) =>
    ['flex', 'priority', 'scale', 'default', undefined, 'unheard-of'].map((tier): Say => ({
      provider,
      model: 'm',
      ...common(tier),
      what: `names ${tier ?? 'none'}`,
      line: tier === undefined || tier === 'default' || tier === 'unheard-of' ? 'standard' : tier,
    })),
  ),
  ...['standard', 'priority', 'batch'].map((tier): Say => ({
    provider: 'anthropic',
    model: 'claude-m',
    ...claude({ service_tier: tier }),
    what: `names ${tier}`,
    line: tier,
  })),
  ...['priority', 'flex', 'reserved', 'default'].map((tier): Say => ({
    ...ofBedrock,
    ...claude({}),
    what: `names ${tier} in its head`,
    headers: { [BEDROCK_HEAD]: tier },
    line: tier === 'default' ? 'standard' : tier,
  })),
];

const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(bytes),
  (text) => new TextEncoder().encode(text),
);

/** The events of a stream, as the provider frames them. */
function framed({ provider, events }: Say): string | Uint8Array {
  if (provider !== 'bedrock')
    return (
      events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') +
      (provider === 'gemini' || provider === 'anthropic' ? '' : 'data: [DONE]\n\n')
    );
  return Buffer.concat(
    events.map((event) =>
      codec.encode({
        headers: {
          ':message-type': { type: 'string', value: 'event' },
          ':event-type': { type: 'string', value: 'chunk' },
          ':content-type': { type: 'string', value: 'application/json' },
        },
        body: Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64') })),
      }),
    ),
  );
}

async function hostOf({ provider, model }: Say, url: string): Promise<TestHost> {
  const folder = await temporaryFolder();
  const path = join(folder, 'overlay.json');
  await writeFile(path, JSON.stringify({ [`${provider}/${model}`]: { pricing: { ...PRICING, reported: 'ignore' } } }));
  const name = provider.toUpperCase();
  const bare = ['gemini', 'anthropic', 'bedrock'].includes(provider);
  return startHost(
    { targets: [{ virtual_key: provider, models: [model] }], plugins: logger(['after_request']) },
    {
      variables: {
        ...(provider === 'bedrock'
          ? { AWS_REGION: 'eu-west-1', AWS_BEARER_TOKEN_BEDROCK: 'k-0123456789', AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url }
          : { [`${name}_API_KEY`]: 'k-0123456789', [`${name}_BASE_URL`]: bare ? url : `${url}/v1` }),
        GW_MODEL_CATALOG_OVERLAY: path,
        REQUEST_LOG_STORE_BACKEND: 'sqlite',
        REQUEST_LOG_STORE_DSN: join(folder, 'requests.db'),
      },
    },
  );
}

describe('the words for a tier of service', () => {
  for (const provider of new Set(SAYS.map((say) => say.provider)))
    for (const stream of [false, true])
      it(`of ${provider} choose the line of prices, wherever the answer says them${stream ? ', streamed' : ''}`, async () => {
        const says = SAYS.filter((say) => say.provider === provider);
        let turn = 0;
        const upstream = await stubUpstream((_seen, response) => {
          const say = says[turn] as Say;
          const type = provider === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
          response.writeHead(200, { ...say.headers, 'content-type': stream ? type : 'application/json' });
          response.end(stream ? framed(say) : JSON.stringify(say.whole));
        });
        const t = await hostOf(says[0] as Say, upstream.url);
        for (; turn < says.length; turn += 1) {
          const { model, asked } = says[turn] as Say;
          const body = { ...ask('hi'), model, stream, ...(asked !== undefined && { service_tier: asked }) };
          const answer = await t.post('/v1/chat/completions', body, numbered(turn));
          expect(answer.status, answer.text).to.equal(200);
          expect(answer.text).to.include('hello');
        }
        const rows = await numberedRows(t, says.length);
        for (const [index, { what, line }] of says.entries())
          expect(rows[index]?.price_line, `an answer that ${what}`).to.equal(line);
      });
});
