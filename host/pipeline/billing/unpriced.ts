import { type Billed, GatewayError } from '../../contract/index.ts';
import { isFields } from '../../contract/json/fields.ts';
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
  pages: 1,
  searchUnits: 1,
};

type Priced = Pick<PipelineServices, 'catalog'>;

/**
 * Whether the catalog has a price for what the target calls the model, and for the images that a tool of the request may make; or its
 * vendor says what an answer has cost.
 */
export function isPriced(target: Target, model: string, { catalog }: Priced, body?: unknown): boolean {
  const upstream = target.upstreamModel(model);
  if (reportUse(target, upstream, catalog) === 'prefer') return true;
  return (
    catalog.cost(target.catalogProvider, upstream, SAMPLE)?.priced === true &&
    imagesArePriced(target, upstream, catalog, body)
  );
}

/** Images of the tool are those of a model that the request names, or of the one that the vendor takes. */
function imagesArePriced(
  { catalogProvider }: Target,
  model: string,
  catalog: Priced['catalog'],
  body: unknown,
): boolean {
  const { tools } = isFields(body) ? body : NO_BODY;
  if (!Array.isArray(tools)) return true;
  return tools.every((tool: unknown) => {
    if (!isFields(tool) || tool['type'] !== 'image_generation') return true;
    const named = tool['model'] ?? catalog.entry(catalogProvider, model)?.pricing.image_tool_model;
    const prices = typeof named === 'string' ? catalog.entry(catalogProvider, named)?.pricing : undefined;
    return prices?.images !== undefined || prices?.image_per_tile != null;
  });
}

const NO_BODY: { readonly tools?: undefined } = Object.freeze({});

/** What a client has sent, where it names tools: the body of its own wire, or the one that is forwarded. */
export const sentBody = ({ request, clientRequest }: LiveExchange): unknown =>
  (request as { readonly json?: unknown }).json ?? clientRequest?.value ?? request;

/** Refuses a request that is paid for in dollars and has no price; `what` names what has none. */
export function refuseUnpriced({ plugins, routing }: LiveExchange, what: string): GatewayError {
  const { unpriced } = routing;
  plugins.rejectedBy = 'gateway';
  routing.isRefusedUnpriced = true;
  return new GatewayError(
    'request_rejected',
    `request rejected by budget (before_request): ${what} has no price, and ${unpriced?.who ?? 'a budget'} refuses what it cannot price`,
  );
}
