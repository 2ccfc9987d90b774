import { type Buckets, createBuckets } from './buckets.ts';
import { Recent } from './recent.ts';

const MAX_KEYS = 100_000;
/** Configurations come and go, and nothing shows which groups no plugin uses any more. */
const MAX_GROUPS = 64;

/** Buckets in memory by group: those of one group make room for each other only. */
export class GroupedBuckets {
  readonly #groups = new Recent<Buckets>({ maxKeys: MAX_GROUPS });

  of(group = ''): Buckets {
    const known = this.#groups.get(group, 0);
    if (known) return known;
    const made = createBuckets(MAX_KEYS);
    this.#groups.set(group, made, 0, Number.POSITIVE_INFINITY);
    return made;
  }
}
