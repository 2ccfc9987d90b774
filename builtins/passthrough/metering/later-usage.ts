/** Responses that their provider goes on with by itself: what was booked for them is corrected once their usage is known. */
import type { Cost, LaterBooking, Ledger, Usage } from '../../../host/contract/index.ts';
import { costAt } from '../../../host/contract/money/pricing.ts';
import type { Generation } from '../../../host/generation/generation.ts';
import type { Host } from '../../../host/host.ts';
import { chargeOf } from '../../../host/answer/charged-usage.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { ResponseFacts } from './answer-facts.ts';

const MICRO = 1e6;

/** Remembers what was booked for a response by the end of the request that has made it. */
export function rememberRunning({ later, target, upstreamModel, id }: LiveExchange, { stores, log }: Host): void {
  if (!later || later.bookings.length === 0 || target === undefined) return;
  const { bookings } = later;
  stores.running.value
    .add(later.id, { target, model: upstreamModel ?? '', bookings })
    .catch((error: unknown) => log.error('a running response could not be remembered', { trace_id: id, error }));
}

/** Books the difference to what was booked, once, when an answer first tells the usage of such a response. */
export function correctRunning(
  { ids: [id], usage, doubts, answered, isRunning, model }: ResponseFacts,
  host: Host,
  { targets, services: { catalog } }: Generation,
): void {
  if (id === undefined || isRunning || !usage) return;
  const correct = async (): Promise<void> => {
    const running = await host.stores.running.value.take(id);
    if (!running) return;
    const { usage: charged } = chargeOf(
      'responses',
      { usage, doubts, answered },
      { prompt: () => 0, longestAnswer: () => Number.POSITIVE_INFINITY },
    );
    const catalogProvider = targets.get(running.target)?.catalogProvider ?? running.target;
    const cost =
      charged &&
      (catalog.cost(catalogProvider, running.model, { usage: charged }) ??
        catalog.cost(catalogProvider, model ?? '', { usage: charged }));
    for (const booking of running.bookings) {
      const amount = amountOf(booking, charged, cost);
      if (amount !== undefined) await addDifference(booking, amount, host);
    }
  };
  correct().catch((error: unknown) => host.log.error('what a response has cost could not be corrected', { error }));
}

/** In the unit of the booking; `undefined` where it is not known. */
function amountOf(
  { rates, unit }: LaterBooking,
  charged: Usage | undefined,
  cost: Cost | undefined,
): number | undefined {
  if (unit === 'tokens') return charged && charged.prompt_tokens + charged.completion_tokens;
  if (rates) return charged && costAt(rates, charged);
  return cost?.priced ? cost.totalUsd * MICRO : undefined;
}

async function addDifference(
  { ledger: name, key, amount: booked }: LaterBooking,
  amount: number,
  { carryover, stores }: Host,
): Promise<void> {
  const held = carryover.open();
  try {
    const ledger = held.lease<Ledger>(`ledger ${name}`, () => stores.ledgers.value.open(name, { maxKeys: 0 }));
    await ledger.correct?.(key, amount - booked);
  } finally {
    await held.release();
  }
}
