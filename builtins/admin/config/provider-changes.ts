import { canonicalJson } from '../../../host/config/canonical.ts';
import type { GatewayConfig, ProviderConfig } from '../../../host/config/document.ts';

type Instances = GatewayConfig['providers'];

/** An instance that a write touched, and where it sends what it is asked: the kind's own address without a `base_url`. */
interface Touched {
  readonly name: string;
  readonly host: string | null;
}

export interface ProviderChanges {
  readonly added: readonly Touched[];
  readonly changed: readonly Touched[];
  readonly removed: readonly Touched[];
}

/** What a write did to `providers`, for its row; `undefined` where neither document has any. A changed address is what sends credentials elsewhere. */
export function providerChanges(before: Instances, after: Instances): ProviderChanges | undefined {
  if (!before && !after) return undefined;
  const [old, now] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))];
  const isChanged = (name: string, block: ProviderConfig): boolean =>
    old.has(name) && canonicalJson(old.get(name)) !== canonicalJson(block);
  return {
    added: [...now].filter(([name]) => !old.has(name)).map(touched),
    changed: [...now].filter(([name, block]) => isChanged(name, block)).map(touched),
    removed: [...old].filter(([name]) => !now.has(name)).map(touched),
  };
}

function touched([name, { base_url: address = '' }]: readonly [string, ProviderConfig]): Touched {
  return { name, host: URL.canParse(address) ? new URL(address).host : null };
}
