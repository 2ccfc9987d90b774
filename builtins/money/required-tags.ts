import { GatewayError } from '../../host/contract/index.ts';
import type { Account } from '../../host/common/accounts/account.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';

/** Why a request that lacks a tag is refused: `project` is met by the tag `project`, and by any `project=…`. */
export function missingTag({ tags = [] }: KeyLimits, levels: readonly Account[]): GatewayError | undefined {
  for (const { path, requiredTags } of levels) {
    const missing = requiredTags.find((name) => !tags.some((tag) => tag === name || tag.startsWith(`${name}=`)));
    if (missing !== undefined)
      return new GatewayError('invalid_request', `the account ${path} needs the tag ${missing}`);
  }
  return undefined;
}
