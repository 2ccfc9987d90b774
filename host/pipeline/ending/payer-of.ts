import type { Payer } from '../../contract/index.ts';
import { isTagName } from '../../common/accounts/account-path.ts';
import type { KeyLimits } from '../../common/host-principal.ts';

/** Who pays for a request of these limits. Texts of a key that are not names of tags are for show, and do not count. */
export function payerOf(limits: KeyLimits | undefined, overFrom: string | undefined): Payer | undefined {
  const account = limits?.account;
  const tags = limits?.tags && countingTags(limits.tags);
  if (account === undefined && tags === undefined && overFrom === undefined) return undefined;
  return { account, tags, overFrom };
}

function countingTags(tags: readonly string[]): readonly string[] | undefined {
  const counting = [...new Set(tags.filter(isTagName))].toSorted();
  return counting.length === 0 ? undefined : counting;
}
