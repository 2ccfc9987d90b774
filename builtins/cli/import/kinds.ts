import { memberOf } from '../../../host/contract/json/members.ts';
import type { ProviderModule } from '../../../host/contract/index.ts';
import type { Plan } from './plan/plan.ts';
import type { Placed } from './plan/planned.ts';

/** The kind of a place: of one whose address is that of another service, the kind that stands for any such service. */
export function kindOf(
  provider: string,
  address: Placed | undefined,
  { known, format, referenceIn }: Plan,
): ProviderModule {
  const module = known.get(provider);
  if (!module) throw new Error(`${provider} is not a provider of gw`);
  const isElsewhere =
    address !== undefined && (referenceIn(address.entry.value) !== undefined || isForeign(module, address));
  if (!isElsewhere) return module;
  const instead = [...known.values()].find(
    ({ elsewhere }) => elsewhere && memberOf(elsewhere, format)?.insteadOf === provider,
  );
  return instead ?? module;
}

function isForeign({ connection: { baseUrl } }: ProviderModule, { entry: { text = '' } }: Placed): boolean {
  if (typeof baseUrl !== 'string' || !URL.canParse(text)) return false;
  return !ownedBy(new URL(baseUrl).hostname, new URL(text).hostname);
}

/** A host of the same service: `eu.api.acme.example` beside `api.acme.example`. */
const ownedBy = (own: string, host: string): boolean => host === own || host.endsWith(`.${own}`);
