import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { logger } from '../admin/logs-kit.ts';
import {
  ask,
  chatReply,
  eventually,
  replyJson,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';

const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
/** What the line of the overlay makes of it. */
const LINE_USD = 0.0028;
const PRICING = { input_per_m_tokens: 2, output_per_m_tokens: 8 };

interface Scene {
  readonly provider?: string;
  readonly reported: object;
  readonly model?: string;
  readonly pricing?: object | undefined;
  readonly money?: object;
}

/** The row of one answer, and the host that wrote it. */
async function answered(
  { provider = 'openrouter', reported, model = 'house/m', pricing = PRICING, money }: Scene,
  times = 1,
): Promise<{ t: TestHost; row: Record<string, unknown>; text: string }> {
  const upstream = await stubUpstream((_seen, response) =>
    replyJson(response, 200, chatReply('x', { usage: { ...USAGE, ...reported } })),
  );
  const folder = await temporaryFolder();
  const overlay = join(folder, 'overlay.json');
  await writeFile(overlay, JSON.stringify({ [`${provider}/house/m`]: { pricing } }));
  const name = provider.toUpperCase();
  const t = await startHost(
    {
      targets: [{ virtual_key: provider, models: [model] }],
      plugins: logger(['after_request']),
      ...(money && { money }),
    },
    {
      variables: {
        [`${name}_API_KEY`]: 'k-0123456789',
        [`${name}_BASE_URL`]: `${upstream.url}/v1`,
        GW_MODEL_CATALOG_OVERLAY: overlay,
        REQUEST_LOG_STORE_BACKEND: 'sqlite',
        REQUEST_LOG_STORE_DSN: join(folder, 'requests.db'),
      },
    },
  );
  let text = '';
  for (let time = 0; time < times; time += 1)
    ({ text } = await t.post('/v1/chat/completions', { ...ask('hi'), model }));
  let rows: Record<string, unknown>[] = [];
  await eventually(async () => {
    rows = ((await t.get('/admin/logs?limit=100')).json() as { data: Record<string, unknown>[] }).data;
    return rows.length === times;
  });
  return { t, row: rows[0] ?? {}, text };
}

const facts = ({
  row: { cost_usd, cost_source, price_line },
}: {
  readonly row: Record<string, unknown>;
}): unknown[] => [cost_usd, cost_source, price_line];

describe('the cost that a vendor reports', () => {
  for (const [what, scene, expected] of [
    ['of OpenRouter is booked', { reported: { cost: 0.003 } }, [0.003, 'reported', 'standard']],
    [
      'of a key of its own holds what is paid elsewhere',
      { reported: { cost: 0.0001, is_byok: true, cost_details: { upstream_inference_cost: 0.0029 } } },
      [0.003, 'reported', 'standard'],
    ],
    [
      'of a key of its own, where that is not said, is not booked',
      { reported: { cost: 0, is_byok: true } },
      [LINE_USD, 'usage', 'standard'],
    ],
    [
      'of xAI is counted in ticks',
      { provider: 'xai', reported: { cost_in_usd_ticks: 30_000_000 } },
      [0.003, 'reported', 'standard'],
    ],
    [
      'of Perplexity is its total',
      { provider: 'perplexity', reported: { cost: { total_cost: 0.003 } } },
      [0.003, 'reported', 'standard'],
    ],
    [
      'of DeepInfra is compared alone',
      { provider: 'deepinfra', reported: { estimated_cost: 0.003 } },
      [LINE_USD, 'usage', 'standard'],
    ],
    [
      'of DeepInfra stays so where the document prefers reports',
      { provider: 'deepinfra', reported: { estimated_cost: 0.003 }, money: { price_reports: 'prefer' } },
      [LINE_USD, 'usage', 'standard'],
    ],
    [
      'of DeepInfra is booked where the entry says so',
      { provider: 'deepinfra', reported: { estimated_cost: 0.003 }, pricing: { ...PRICING, reported: 'prefer' } },
      [0.003, 'reported', 'standard'],
    ],
    [
      'of another provider is nothing',
      { provider: 'groq', reported: { cost: 0.003 } },
      [LINE_USD, 'usage', 'standard'],
    ],
    [
      'is compared where the document says so',
      { reported: { cost: 0.003 }, money: { price_reports: 'compare' } },
      [LINE_USD, 'usage', 'standard'],
    ],
    [
      'is nothing where the entry says so',
      { reported: { cost: 0.003 }, pricing: { ...PRICING, reported: 'ignore' } },
      [LINE_USD, 'usage', 'standard'],
    ],
    [
      'is booked where nothing prices the model',
      { reported: { cost: 0.003 }, model: 'house/unknown' },
      [0.003, 'reported', undefined],
    ],
    [
      'is believed to be nothing where the model is free',
      { reported: { cost: 0 }, pricing: { input_per_m_tokens: 0, output_per_m_tokens: 0 } },
      [0, 'reported', 'standard'],
    ],
    ['is not believed to be nothing where it is not', { reported: { cost: 0 } }, [LINE_USD, 'usage', 'standard']],
    ['is not believed below nothing', { reported: { cost: -1 } }, [LINE_USD, 'usage', 'standard']],
    ['is not believed above 1,000 US dollars', { reported: { cost: 2000 } }, [LINE_USD, 'usage', 'standard']],
    ['is not believed as text', { reported: { cost: '0.003' } }, [LINE_USD, 'usage', 'standard']],
  ] as const satisfies readonly (readonly [string, Scene, readonly unknown[]])[])
    it(what, async () => {
      expect(facts(await answered(scene))).to.deep.equal(expected);
    });

  it('reaches the client as it came', async () => {
    const { text } = await answered({ reported: { cost: 0.003 } });
    expect(JSON.parse(text).usage).to.include({ cost: 0.003 });
  });

  it('is counted where it differs, and logged once for a target, its model and day', async () => {
    const { t } = await answered({ reported: { cost: 0.01 } }, 3);
    const logged = t.lines.filter(({ msg }) => msg === 'reported cost differs');
    expect(logged).to.have.lengthOf(1);
    expect(logged[0]).to.include({
      level: 'WARN',
      target: 'openrouter',
      model: 'house/m',
      line: 'standard',
      computed_usd: LINE_USD,
      reported_usd: 0.01,
    });
    const counted = t.samples.filter(({ name }) => name === 'gateway_price_differences_total');
    expect(counted.map(({ labels }) => labels)).to.deep.equal(
      Array.from({ length: 3 }, () => ({ provider: 'openrouter', model: 'house/m' })),
    );
  });

  for (const [what, cost, times] of [
    ['of a tenth', LINE_USD * 1.1, 0],
    ['of less than a twentieth of a cent', LINE_USD + 0.0004, 0],
    ['below the computed cost', LINE_USD / 2, 1],
  ] as const)
    it(`that has a difference ${what} is counted ${times} times`, async () => {
      const { t } = await answered({ reported: { cost } });
      expect(t.samples.filter(({ name }) => name === 'gateway_price_differences_total')).to.have.lengthOf(times);
    });

  it('is a price for a key that refuses what it cannot price', async () => {
    const { t } = await answered({ reported: { cost: 0.003 }, model: 'house/unknown', money: { unpriced: 'refuse' } });
    const { key } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { budget_usd: 1 } });
    const answer = await t.post(
      '/v1/chat/completions',
      { ...ask('hi'), model: 'house/unknown' },
      { authorization: `Bearer ${key}` },
    );
    expect(answer.status).to.equal(200);
  });
});
