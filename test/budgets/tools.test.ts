import { expect } from 'chai';
import { toolAmount, toolUses } from '../../builtins/money/tool-bound.ts';
import type { CatalogPricing } from '../../host/common/prices/catalog-pricing.ts';
import { ask, chatReply, eventually, replyJson, startHost, stubUpstream } from '../kit/index.ts';

describe('tools of a vendor in a budget that nothing may cross', () => {
  it('are found in bodies of every wire, with their uses', () => {
    for (const [body, expected] of [
      [{}, []],
      [undefined, []],
      [{ tools: 'x' }, []],
      [{ tools: [null, { type: 'function', function: { name: 'web_search' } }] }, []],
      [{ tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] }, [['web_search_per_k', 3]]],
      [
        { tools: [{ type: 'web_search' }, { type: 'file_search' }] },
        [
          ['web_search_per_k', 10],
          ['file_search_per_k', 10],
        ],
      ],
      [{ tools: [{ type: 'web_fetch_20250910', max_uses: 0 }] }, [['web_fetch_per_k', 0]]],
      [{ tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, [['code_session', 10]]],
      [
        { tools: [{ googleSearch: {} }, { google_maps: {} }] },
        [
          ['web_search_per_k', 10],
          ['maps_per_k', 10],
        ],
      ],
      [{ tools: [{ type: 'web_search', max_uses: -5 }] }, [['web_search_per_k', 10]]],
      [{ web_search_options: {} }, [['web_search_per_k', 10]]],
    ] as const)
      expect(
        toolUses(body).map(({ price, uses }) => [price, uses]),
        JSON.stringify(body),
      ).to.deep.equal(expected);
  });

  it('cost their uses, by the thousand, and containers each', () => {
    const pricing = { web_search_per_k: 10, code_session: 0.03 } as unknown as CatalogPricing;
    const uses = toolUses({
      tools: [{ type: 'web_search', max_uses: 3 }, { type: 'code_interpreter' }, { type: 'file_search' }],
    });
    expect(toolAmount(uses, pricing)).to.equal(3 * 10_000 + 10 * 30_000);
  });

  it('are held before the call: one that does not fit with them is refused', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const upstream = await stubUpstream((_seen, response) => replyJson(response, 200, chatReply('hello', { usage })));
    const t = await startHost(
      { targets: [{ virtual_key: 'openai', models: ['gpt-4o'] }] },
      { variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` }, isLenient: true },
    );
    const limits = { budgets: [{ usd: 0.05, overrun: 'none' }] } as object;
    const { key } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits });
    const send = async (more: object): Promise<number> => {
      const body = { ...ask('hi'), model: 'gpt-4o', max_tokens: 10, ...more };
      const { status } = await t.post('/v1/chat/completions', body, { authorization: `Bearer ${key}` });
      await eventually(() => t.host.slot.leases === 0);
      return status;
    };
    expect(await send({})).to.equal(200);
    expect(await send({ web_search_options: {} })).to.equal(402);
    expect(upstream.seen).to.have.lengthOf(1);
  });
});
