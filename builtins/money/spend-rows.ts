import { SURFACES } from '../../host/contract/index.ts';
import { countingTags } from '../../host/common/accounts/account-path.ts';
import { HOUR_MS } from '../../host/common/once-per.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { SpendRow } from '../../host/stores/spend/spend-row.ts';
import { MicroRests } from './micro-rests.ts';

/** What one exchange adds to the ledger of spend. */
export class SpendRows {
  readonly #rests = new MicroRests();
  /** By the tags of a key, which stay the same from request to request. */
  readonly #tags = new WeakMap<readonly string[], string>();

  of({
    principal,
    limits,
    routing,
    measured,
    answeredBy,
    lastTarget,
    surface,
    api,
    model,
    startedAt,
    target = '',
  }: LiveExchange): SpendRow {
    const { charged, cost, costUsd, images, seconds, characters, searches, costSource = '' } = measured;
    const id = principal?.id ?? '';
    const isTried = answeredBy === undefined;
    return {
      hour: Math.floor(startedAt / HOUR_MS),
      span: 1,
      account: limits?.account ?? '',
      key_id: id,
      tags: limits?.tags ? this.#tagsOf(limits.tags) : '',
      model: (isTried ? routing.upstreamModel : undefined) ?? model,
      provider: isTried ? (lastTarget?.instance?.kind ?? lastTarget?.provider?.module.name ?? '') : '',
      target,
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
      micro_usd: this.#rests.whole(id, costUsd ?? 0),
    };
  }

  /** As one text: the order in which they were written makes no difference. */
  #tagsOf(tags: readonly string[]): string {
    const known = this.#tags.get(tags);
    if (known !== undefined) return known;
    const text = countingTags(tags).join(',');
    this.#tags.set(tags, text);
    return text;
  }
}

/** More of anything in one answer is not believed. */
const MOST = 1e9;

/** A whole number of what an upstream counted, whatever it says. */
const counted = (count = 0): number => (count > 0 ? Math.round(Math.min(count, MOST)) : 0);
