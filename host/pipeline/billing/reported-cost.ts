/** What a vendor says that an answer has cost, beside what the catalog makes of it. See docs/catalog.md#the-vendors-own-cost. */
import type { Cost, ReportUse, Usage } from '../../contract/index.ts';
import { MOST_BOOKING } from '../../common/bounded-sum.ts';
import type { Catalog } from '../../common/catalog.ts';
import type { Target } from '../target.ts';

/** A cost that was reported, and differs from the computed one by more than rounding and small fees make. */
export interface CostDifference {
  readonly line: string | undefined;
  readonly computedUsd: number;
  readonly reportedUsd: number;
}

export interface Reported {
  /** What is booked; `undefined` where that is the computed cost. */
  readonly cost: Cost | undefined;
  readonly difference: CostDifference | undefined;
}

const MOST_USD = MOST_BOOKING / 1e6;
/** Shares and US dollars within which both costs count as equal. */
const SHARE = 0.1;
const SMALL_USD = 0.0005;

type Asked = Pick<Target, 'provider' | 'catalogProvider' | 'priceReports'>;

/** What becomes of the cost that the provider of a target reports for a model: by the catalog's entry, else by the configuration, else by the provider. */
export function reportUse(
  { provider, catalogProvider, priceReports }: Asked,
  model: string,
  catalog: Catalog,
): ReportUse {
  const report = provider?.module.costReport;
  if (!report) return 'ignore';
  const own = catalog.entry(catalogProvider, model)?.pricing.reported;
  if (own !== undefined) return own;
  return priceReports === undefined || (priceReports === 'prefer' && report.use === 'compare')
    ? report.use
    : priceReports;
}

/** Nothing where the vendor reports no cost, or one that is not believed. */
export function reportedCost(
  target: Asked,
  { model, usage, computed }: { readonly model: string; readonly usage: Usage; readonly computed: Cost | undefined },
  catalog: Catalog,
): Reported | undefined {
  const usd = target.provider?.module.costReport?.usd(usage);
  if (usd === undefined || !Number.isFinite(usd) || usd < 0 || usd > MOST_USD) return undefined;
  const use = reportUse(target, model, catalog);
  if (use === 'ignore') return undefined;
  const line = computed?.priced ? computed : undefined;
  const isBelieved = usd > 0 || (line?.totalUsd ?? 0) === 0;
  return {
    cost: use === 'prefer' && isBelieved ? paid(usd, computed, catalog) : undefined,
    difference:
      line && isBelieved && differ(line.totalUsd, usd)
        ? { line: line.line, computedUsd: line.totalUsd, reportedUsd: usd }
        : undefined,
  };
}

const differ = (one: number, other: number): boolean => {
  const gap = Math.abs(one - other);
  return gap > SHARE * Math.max(one, other) && gap > SMALL_USD;
};

/** The parts of a cost are those of the catalog: no vendor reports any. */
function paid(totalUsd: number, computed: Cost | undefined, { version }: Catalog): Cost {
  return { ...NO_PARTS, modelFound: false, catalog: version, ...computed, totalUsd, priced: true };
}

const NO_PARTS = { inputUsd: 0, outputUsd: 0, cacheReadUsd: 0, cacheWriteUsd: 0, reasoningUsd: 0 } as const;
