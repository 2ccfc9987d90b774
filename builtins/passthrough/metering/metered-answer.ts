import type { Generation } from '../../../host/generation/generation.ts';
import type { Host } from '../../../host/host.ts';
import { billTurn } from '../../../host/pipeline/billing/billing.ts';
import type { ForwardedReply } from '../../../host/pipeline/attempts/forward-attempt.ts';
import { Later } from '../../../host/pipeline/billing/later.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import { ceilingOf, tokenCharacters } from '../../../host/contract/money/pricing.ts';
import type { ResponseFacts } from './answer-facts.ts';
import { correctRunning } from './later-usage.ts';
import type { Metering } from './metering.ts';
import { isEventStream, type UsageReader } from './usage-reader.ts';

interface Ends {
  readonly exchange: LiveExchange;
  readonly generation: Generation;
  readonly host: Host;
}

/** The bytes as they pass, seen by a reader. */
export async function* watched(body: AsyncIterable<Uint8Array>, usage: UsageReader): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    usage.see(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    yield piece;
  }
}

/** The bytes of an answer as they came. What they tell of usage is billed when there are no more, also of an answer that breaks off or is left. */
export async function* metered(
  { body, headers }: ForwardedReply,
  usage: UsageReader,
  metering: Metering,
  { exchange, generation, host }: Ends,
): AsyncGenerator<Uint8Array> {
  const { clock } = generation.services;
  const isStream = exchange.streaming && isEventStream(headers);
  let isWhole = false;
  try {
    for await (const piece of watched(body, usage)) {
      if (isStream) exchange.measured.ttftMs ??= clock.monotonic() - exchange.arrivedAt;
      yield piece;
    }
    isWhole = true;
  } finally {
    const facts = usage.end();
    if (metering === 'billed') bill(facts, isWhole, exchange, generation);
    else correctRunning(facts, host, generation);
  }
}

/**
 * The usage of an answer comes with its last event: what was reported is all of it. A response that the provider goes on with by itself
 * is billed at once as what it may cost, until its usage is known.
 */
function bill(
  { model, isRunning, ids, ...told }: ResponseFacts,
  isWhole: boolean,
  exchange: LiveExchange,
  { services }: Generation,
): void {
  const [id] = ids;
  exchange.routing.reportedModel = model;
  if (!isRunning || id === undefined) {
    billTurn(exchange, { ...told, isBroken: !isWhole && !told.usage }, services);
    return;
  }
  exchange.later = new Later(id);
  const longest = services.catalog.entry(
    exchange.lastTarget?.catalogProvider ?? '',
    exchange.upstreamModel ?? '',
  )?.max_output_tokens;
  billTurn(
    exchange,
    { answered: tokenCharacters(ceilingOf(exchange, { undeclared: undefined, longest: longest || undefined })) },
    services,
  );
}
