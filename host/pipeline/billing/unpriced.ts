import { type Billed, GatewayError } from '../../contract/index.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { PipelineServices } from '../pipeline-services.ts';
import type { Target } from '../target.ts';
import { reportUse } from './reported-cost.ts';

/** A little of everything that is paid for: what has a price for any of it has a price. */
const SAMPLE: Billed = {
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  images: 1,
  seconds: 1,
  characters: 1,
};

/** Whether the catalog has a price for what the target calls the model, or its vendor says what an answer has cost. */
export function isPriced(target: Target, model: string, { catalog }: Pick<PipelineServices, 'catalog'>): boolean {
  const upstream = target.upstreamModel(model);
  return (
    catalog.cost(target.catalogProvider, upstream, SAMPLE)?.priced === true ||
    reportUse(target, upstream, catalog) === 'prefer'
  );
}

/** Refuses a request that is paid for in dollars and has no price; `what` names what has none. */
export function refuseUnpriced({ plugins, routing: { unpriced } }: LiveExchange, what: string): GatewayError {
  plugins.rejectedBy = 'gateway';
  return new GatewayError(
    'request_rejected',
    `request rejected by budget (before_request): ${what} has no price, and ${unpriced?.who ?? 'a budget'} refuses what it cannot price`,
  );
}
