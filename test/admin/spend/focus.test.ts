import { expect } from 'chai';
import { csvOf, hourAt, naiveReader, randomRows, type SpendRow } from './kit.ts';

const RANGE = { from: hourAt('2026-11-01T00:00:00Z'), to: hourAt('2026-11-02T00:00:00Z') };
const [FIRST] = randomRows(1, 1, RANGE);

const rowOf = (texts: Partial<SpendRow['texts']>, figures: Partial<SpendRow['figures']> = {}): SpendRow => ({
  hour: RANGE.from + 5,
  span: 1,
  texts: {
    ...FIRST!.texts,
    account: '/acme/search',
    key_id: 'key_1',
    tags: '',
    model: 'gpt-5.4',
    provider: 'openai',
    target: 'eu',
    line: 'standard',
    catalog: '2026-11-26',
    source: 'usage',
    ...texts,
  },
  figures: {
    ...FIRST!.figures,
    requests: 2,
    prompt_tokens: 10,
    completion_tokens: 5,
    micro_usd: 1_250_000,
    ...figures,
  },
});

/** Lines of texts without commas. */
async function focusOf(...rows: readonly SpendRow[]): Promise<Record<string, string>[]> {
  const text = await csvOf(naiveReader(rows), 'format=focus&from=2026-11-01T00:00:00Z');
  const [header = '', ...lines] = text.trimEnd().split('\r\n');
  const cells = (line: string): string[] =>
    Array.from(line.matchAll(/(?:"((?:[^"]|"")*)"|([^",]*))(?:,|$)/g), ([, quoted, plain = '']) =>
      quoted === undefined ? plain : quoted.replaceAll('""', '"'),
    );
  return lines.map((line) => Object.fromEntries(header.split(',').map((name, at) => [name, cells(line)[at] ?? ''])));
}

describe('spend as FOCUS', () => {
  it('is one row of a day, with costs, quantities, periods and names', async () => {
    const [row] = await focusOf(rowOf({}), rowOf({}, { requests: 1, micro_usd: 1 }));
    expect(row).to.include({
      BilledCost: '1.250001',
      EffectiveCost: '1.250001',
      ListCost: '1.250001',
      ContractedCost: '1.250001',
      BillingAccountId: '/acme',
      BillingAccountName: 'acme',
      SubAccountId: '/acme/search',
      SubAccountName: '/acme/search',
      BillingCurrency: 'USD',
      BillingPeriodStart: '2026-11-01T00:00:00Z',
      BillingPeriodEnd: '2026-12-01T00:00:00Z',
      ChargePeriodStart: '2026-11-01T00:00:00Z',
      ChargePeriodEnd: '2026-11-02T00:00:00Z',
      ChargeCategory: 'Usage',
      ChargeClass: '',
      ChargeDescription: '3 requests to gpt-5.4 by eu',
      ChargeFrequency: 'Usage-Based',
      ConsumedQuantity: '30.0',
      ConsumedUnit: 'Tokens',
      PricingQuantity: '30.0',
      PricingUnit: 'Tokens',
      ProviderName: 'openai',
      PublisherName: 'openai',
      InvoiceIssuerName: 'openai',
      ServiceCategory: 'AI and Machine Learning',
      ServiceSubcategory: 'Generative AI',
      ServiceName: 'openai',
      ResourceId: 'key_1',
      ResourceName: 'ci',
      ResourceType: 'API key',
      SkuId: 'gpt-5.4',
      SkuPriceId: 'standard',
      Tags: '{}',
      x_CostSource: 'usage',
      x_CatalogVersion: '2026-11-26',
    });
  });

  it('has a row for each day, account, key, model, target, line and source', async () => {
    const rows = [
      rowOf({}),
      { ...rowOf({}), hour: RANGE.from + 30 },
      ...(['account', 'key_id', 'model', 'target', 'line', 'source', 'tags'] as const).map((name) =>
        rowOf({ [name]: 'estimated' }),
      ),
      ...(['surface', 'credential'] as const).map((name) => rowOf({ [name]: 'other' })),
    ];
    expect(await focusOf(...rows)).to.have.length(9);
  });

  it('names the title of an account, and has no sub account where a key has none', async () => {
    const [titled, none] = await focusOf(rowOf({ account: '/acme' }), rowOf({ account: '', model: 'other' }));
    expect(titled).to.include({ SubAccountId: '/acme', SubAccountName: 'Acme, Inc.' });
    expect(none).to.include({ BillingAccountId: '/', BillingAccountName: '/', SubAccountId: '', SubAccountName: '' });
  });

  it('marks corrections, and has no resource without a key', async () => {
    const [row] = await focusOf(rowOf({ source: 'correction', key_id: '' }, { micro_usd: -5 }));
    expect(row).to.include({ ChargeClass: 'Correction', BilledCost: '-0.000005', ResourceId: '', ResourceType: '' });
  });

  it('keeps every tag: values by their names, true without one', async () => {
    const [row] = await focusOf(rowOf({ tags: 'nightly,project=blue,project=red' }));
    expect(JSON.parse(row!['Tags']!)).to.deep.equal({ nightly: true, project: 'blue', 'project=red': true });
  });
});
