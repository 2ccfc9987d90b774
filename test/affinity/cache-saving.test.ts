import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { logger } from '../admin/logs-kit.ts';
import { replyJson, startHost, stubUpstream, temporaryFolder } from '../kit/index.ts';

const PRICES = { input_per_m_tokens: 3, output_per_m_tokens: 15 };
const READ = { cache_read_per_m_tokens: 0.3 };
const WRITE = { cache_write_per_m_tokens: 3.75 };

interface Case {
  readonly prices: object;
  readonly read: number;
  readonly written: number;
  /** US dollars, of the row; `null` where it says nothing. */
  readonly saved: number | null;
  /** US dollars that writing cost more, of the figure. */
  readonly extra: number;
}

const CASES: Readonly<Record<string, Case>> = {
  'reads alone': { prices: READ, read: 1000, written: 0, saved: (1000 * 2.7) / 1e6, extra: 0 },
  'writes alone': {
    prices: { ...READ, ...WRITE },
    read: 0,
    written: 1000,
    saved: (-1000 * 0.75) / 1e6,
    extra: (1000 * 0.75) / 1e6,
  },
  'reads and writes': {
    prices: { ...READ, ...WRITE },
    read: 1000,
    written: 400,
    saved: (1000 * 2.7 - 400 * 0.75) / 1e6,
    extra: (400 * 0.75) / 1e6,
  },
  'writes without a price': { prices: READ, read: 1000, written: 400, saved: null, extra: 0 },
  'reads without a price': { prices: WRITE, read: 1000, written: 400, saved: null, extra: 0 },
  neither: { prices: { ...READ, ...WRITE }, read: 0, written: 0, saved: null, extra: 0 },
};

describe("what a vendor's cache saved", () => {
  for (const [name, { prices, read, written, saved, extra }] of Object.entries(CASES))
    it(`is said where every price of it is known: ${name}`, async () => {
      const folder = await temporaryFolder();
      const overlay = join(folder, 'overlay.json');
      await writeFile(overlay, JSON.stringify({ 'anthropic/house-model': { pricing: { ...PRICES, ...prices } } }));
      const upstream = await stubUpstream((_request, response) =>
        replyJson(response, 200, {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'house-model',
          content: [{ type: 'text', text: 'hi' }],
          stop_reason: 'end_turn',
          usage: {
            input_tokens: 10,
            output_tokens: 1,
            cache_read_input_tokens: read,
            cache_creation_input_tokens: written,
          },
        }),
      );
      const t = await startHost(
        {
          strategy: { mode: 'fallback' },
          providers: { one: { kind: 'anthropic', base_url: upstream.url, api_key: '${ONE_KEY}' } },
          targets: [{ virtual_key: 'one', models: ['house-model'] }],
          plugins: logger(['after_request']),
        },
        {
          variables: {
            ONE_KEY: 'sk-of-one-0123456789',
            GW_MODEL_CATALOG_OVERLAY: overlay,
            REQUEST_LOG_STORE_BACKEND: 'sqlite',
            REQUEST_LOG_STORE_DSN: join(folder, 'requests.db'),
          },
        },
      );
      const body = { model: 'house-model', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
      expect((await t.post('/v1/messages', body)).status).to.equal(200);
      const { data } = (await t.get('/admin/logs?limit=1')).json() as { data: Record<string, unknown>[] };
      const said = data[0]?.['cache_saved_usd'] ?? null;
      if (saved === null) expect(said).to.equal(null);
      else expect(said).to.be.closeTo(saved, 1e-12);
      const sum = (figure: string): number =>
        t.samples.filter((sample) => sample.name === figure).reduce((total, { value }) => total + value, 0);
      expect(sum('gateway_cache_extra_usd_total')).to.be.closeTo(extra, 1e-12);
      expect(sum('gateway_cache_saved_usd_total')).to.be.closeTo((saved ?? 0) + extra, 1e-12);
    });
});
