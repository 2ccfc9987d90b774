import type { Payer } from '../../contract/index.ts';
import { countingTags } from '../../common/accounts/account-path.ts';
import type { KeyLimits } from '../../common/host-principal.ts';

/** Who pays for a request of these limits. Texts of a key that are not names of tags are for show, and do not count. */
export function payerOf(limits: KeyLimits | undefined, overFrom: string | undefined): Payer | undefined {
  const account = limits?.account;
  const counting = limits?.tags ? countingTags(limits.tags) : [];
  const tags = counting.length === 0 ? undefined : counting;
  if (account === undefined && tags === undefined && overFrom === undefined) return undefined;
  return { account, tags, overFrom };
}
