import { type Billed, memberOf, setMember, type Usage } from '../contract/index.ts';
import { type Fields, isFields } from '../contract/fields.ts';
import type { LiveExchange } from './live-exchange.ts';
import type { PipelineServices } from './pipeline-services.ts';

/**
 * Adds what a turn used and what that costs. The price is that of the model asked for, else of the model the upstream says it
 * is: a deployment may have any name. Unpriced stays unknown, which is not 0; of several turns, what is known counts.
 */
export function billTurn(exchange: LiveExchange, billed: Billed, { catalog }: Pick<PipelineServices, 'catalog'>): void {
  const { measured, turn, target, routing: { upstreamModel, reportedModel: reported } } = exchange;
  measured.usage = usageSum(turn?.usageBefore, billed.usage);
  if (target === undefined || upstreamModel === undefined || (!billed.usage && !billed.images)) return;
  const isOther = reported !== undefined && reported !== upstreamModel;
  const cost = catalog.cost(target, upstreamModel, billed) ?? (isOther ? catalog.cost(target, reported, billed) : undefined);
  const before = turn?.costUsdBefore;
  if (cost) measured.cost = turn?.costBefore ? { ...cost, ...sumOf(turn.costBefore as unknown as Fields, cost as unknown as Fields) } : cost;
  measured.costUsd = cost?.priced ? cost.totalUsd + (before ?? 0) : before;
}

/** Counts and costs add up, in details too; of what else vendors say, the later one stands. */
export function usageSum(before: Usage | undefined, more: Usage | undefined): Usage | undefined {
  if (!before || !more) return more ?? before;
  return sumOf(before, more) as unknown as Usage;
}

function sumOf(before: Readonly<Fields>, more: Readonly<Fields>): Fields {
  const sum: Fields = { ...before };
  for (const name of Object.keys(more)) {
    const had = memberOf(before, name);
    const has = more[name];
    if (typeof had === 'number' && typeof has === 'number') setMember(sum, name, had + has);
    else setMember(sum, name, isFields(had) && isFields(has) ? sumOf(had, has) : has);
  }
  return sum;
}
