import { type Billed, BILLED, type ReportUse } from '../contract/index.ts';
import { choicesOf, estimateOf, rerankUnits } from '../contract/money/pricing.ts';
import { questionOf } from '../generation/call-prices.ts';
import { catalogEntryOf } from '../pipeline/billing/catalog-entry.ts';
import { reportUse } from '../pipeline/billing/reported-cost.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { Target } from '../pipeline/target.ts';

/** What the first target would cost, before anything is sent. */
export interface ExplainedPrice {
  readonly target: string;
  /** The line of the model's prices; `null` where nothing prices it. */
  readonly line: string | null;
  /** By the estimated prompt and the longest answer that is asked for; `null` where nothing prices it. */
  readonly expected_usd: number | null;
  /** What becomes of a cost that the vendor reports: booked in place of that of the line (`prefer`), compared with it, or nothing. */
  readonly reported: ReportUse;
}

export function explainedPrice(
  target: Target,
  exchange: LiveExchange,
  { catalog, clock }: Pick<PipelineServices, 'catalog' | 'clock'>,
): ExplainedPrice {
  const model = target.upstreamModel(exchange.model);
  const longest = catalogEntryOf(target, model, catalog)?.max_output_tokens || undefined;
  const { prompt, completion } = estimateOf(exchange, { undeclared: undefined, longest });
  const now = clock.now();
  const asked = questionOf(exchange, prompt, now);
  const { tier, speed, region, size, quality, searchSize } = asked;
  const { input, documents } = exchange.request;
  const billed: Billed = {
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      [BILLED]: { tier, speed, region },
    },
    images: choicesOf(exchange.request),
    ...(typeof input === 'string' && { characters: input.length }),
    ...(Array.isArray(documents) && { searchUnits: rerankUnits(documents) }),
    size,
    quality,
    searchSize,
  };
  const cost = catalog.cost(target.catalogProvider, model, billed, now);
  return {
    target: target.virtualKey,
    line: cost?.priced ? (cost.line ?? null) : null,
    expected_usd: cost?.priced ? cost.totalUsd : null,
    reported: reportUse(target, model, catalog),
  };
}
