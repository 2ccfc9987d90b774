import { SURFACES } from '../../host/contract/index.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import { HOUR_MS } from '../../host/common/once-per.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { foldedSpend } from '../../host/stores/spend/folded-spend.ts';
import { MemorySpend } from '../../host/stores/spend/memory-spend.ts';
import type { SpendRow } from '../../host/stores/spend/spend-row.ts';
import { MicroRests } from './micro-rests.ts';

/** Names that a tag may have, of the tags of a key: the others are for show. */
const TAG = /^[A-Za-z0-9][A-Za-z0-9._:=/-]{0,63}$/;

/**
 * Keeps what every request has cost, by hour: one row for what is alike. An exchange counts as one request, where a target was tried or
 * a plugin answered. See docs/stores.md#spend.
 */
export default defineBuiltin({
  name: 'spend',
  apply: ({ hooks }) => {
    const rests = new MicroRests();
    hooks.open.tapPromise('spend', async ({ stores, settings, services: { clock, counters } }) => {
      if (!settings.spend.isKept || settings.keyStore.backend !== 'memory') return;
      stores.spend.supply('memory', new MemorySpend(clock.now, foldedSpend(counters), () => stores.ledgers.value));
    });
    hooks.assemble.tapPromise('spend', async ({ hooks: pipeline }, host) => {
      const spend = host?.stores.spend.value;
      if (!spend) return;
      pipeline.finished.tap('spend', (exchange) => {
        if (exchange.attempts > 0 || exchange.answeredBy !== undefined) spend.add(rowOf(exchange, rests));
      });
    });
  },
});

function rowOf(exchange: LiveExchange, rests: MicroRests): SpendRow {
  const { principal, routing, measured, answeredBy, lastTarget, surface, api, model, startedAt } = exchange;
  const { charged, cost, costUsd, images, seconds, characters, searches, costSource = '' } = measured;
  const id = principal?.id ?? '';
  const isTried = answeredBy === undefined;
  return {
    hour: Math.floor(startedAt / HOUR_MS),
    span: 1,
    account: principal?.limits?.account ?? '',
    key_id: id,
    tags: tagsOf(principal?.limits?.tags),
    model: (isTried ? routing.upstreamModel : undefined) ?? model,
    provider: isTried ? (lastTarget?.instance?.kind ?? lastTarget?.provider?.module.name ?? '') : '',
    target: exchange.target ?? '',
    credential: (isTried && routing.credential) || '',
    surface: SURFACES[api?.surface ?? surface].tag,
    line: cost?.priced ? (cost.line ?? '') : '',
    catalog: cost?.priced ? cost.catalog : '',
    source: costSource,
    requests: 1,
    unpriced: isTried && charged !== undefined && costUsd === undefined ? 1 : 0,
    prompt_tokens: counted(charged?.prompt_tokens),
    completion_tokens: counted(charged?.completion_tokens),
    cache_read_tokens: counted(charged?.cache_read_tokens),
    cache_write_tokens: counted(charged?.cache_write_tokens),
    reasoning_tokens: counted(charged?.reasoning_tokens),
    images: counted(images),
    milliseconds: counted(seconds * 1000),
    characters: counted(characters),
    searches: counted(searches),
    micro_usd: rests.whole(id, costUsd ?? 0),
  };
}

/** More of anything in one answer is not believed. */
const MOST = 1e9;

/** A whole number of what an upstream counted, whatever it says. */
const counted = (count = 0): number => (count > 0 ? Math.round(Math.min(count, MOST)) : 0);

/** Sorted and once each, so that the order in which they were written makes no difference. */
function tagsOf(tags: readonly string[] | undefined): string {
  if (!tags || tags.length === 0) return '';
  const named = tags.filter((tag) => TAG.test(tag));
  return [...new Set(named)].toSorted().join(',');
}
