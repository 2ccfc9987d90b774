import { createHash } from 'node:crypto';

/** What a vendor asks of the ids of tool calls. */
export interface CallIdRule {
  isFit(id: string): boolean;
  /** A fit id of some digest: 64 hex digits. */
  make(digest: string): string;
}

type Id = string | null | undefined;

/** The calls that share an id of the client's. */
interface Calls {
  /** Their fit ids, oldest first. */
  readonly fits: string[];
  /** How many of them have a result. */
  answered: number;
}

/**
 * The ids of tool calls of one conversation, made fit for a vendor that restricts them. Clients bring ids of whichever
 * vendor answered before. A fit id stays as it is; any other becomes a digest of itself, the same in every request that
 * holds the conversation. Ids that differ stay apart, and calls that share an id, as some vendors number them anew in
 * each turn, become different ones: give calls and results in their order.
 */
export class CallIds {
  readonly #rule: CallIdRule;
  readonly #taken = new Set<string>();
  readonly #calls = new Map<string, Calls>();

  constructor(rule: CallIdRule) {
    this.#rule = rule;
  }

  /** The id of the next call. */
  ofCall(id: Id): string {
    const given = id ?? '';
    let known = this.#calls.get(given);
    if (!known) this.#calls.set(given, (known = { fits: [], answered: 0 }));
    const fit = this.#free(given, known.fits.length);
    this.#taken.add(fit);
    known.fits.push(fit);
    return fit;
  }

  /** The id of the call that the next result belongs to; of the last one where all have theirs. */
  ofResult(id: Id): string {
    const known = this.#calls.get(id ?? '');
    if (!known) return this.#fit(id ?? '', 0);
    const next = known.fits[known.answered];
    if (next === undefined) return known.fits.at(-1) ?? '';
    known.answered += 1;
    return next;
  }

  #free(given: string, from: number): string {
    for (let attempt = from; ; attempt += 1) {
      const fit = this.#fit(given, attempt);
      if (!this.#taken.has(fit)) return fit;
    }
  }

  #fit(given: string, attempt: number): string {
    if (attempt === 0 && this.#rule.isFit(given)) return given;
    return this.#rule.make(
      createHash('sha256')
        .update(attempt === 0 ? given : `${given}\0${attempt}`)
        .digest('hex'),
    );
  }
}

/** What Mistral checks by, wherever its models run. Source: mistralai/mistral-common, protocol/instruct/validator.py, 2026-11-22. */
export const NINE_CHARACTERS: CallIdRule = {
  isFit: (id) => /^[a-zA-Z0-9]{9}$/.test(id),
  make: (digest) => digest.slice(0, 9),
};

/** Letters, digits, `_` and `-`, up to so many. */
export function wordIds(longest: number): CallIdRule {
  return {
    isFit: (id) => id.length <= longest && /^[\w-]+$/.test(id),
    make: (digest) => `call_${digest.slice(0, 32)}`,
  };
}
