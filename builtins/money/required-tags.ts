import { GatewayError } from '../../host/contract/index.ts';
import type { Level } from '../../host/common/accounts/level.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';

/** Why a request that lacks a tag is refused: `project` is met by the tag `project`, and by any `project=…`. */
export function missingTag({ tags = [] }: KeyLimits, levels: readonly Level[]): GatewayError | undefined {
  for (const { path, requiredTags } of levels) {
    const missing = requiredTags.find((name) => !tags.some((tag) => tag === name || tag.startsWith(`${name}=`)));
    if (missing !== undefined)
      return new GatewayError('invalid_request', `the account ${path} needs the tag ${missing}`);
  }
  return undefined;
}
