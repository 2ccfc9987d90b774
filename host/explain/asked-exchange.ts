import { GatewayError } from '../contract/index.ts';
import { Bindings } from '../common/accounts/bindings.ts';
import { TagBindings } from '../common/accounts/tagged-limits.ts';
import { HostPrincipal, type KeyLimits } from '../common/host-principal.ts';
import type { Generation } from '../generation/generation.ts';
import { HeardNotes } from '../pipeline/heard-notes.ts';
import { LiveExchange } from '../pipeline/live-exchange.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { RouteQuestion } from './question.ts';

/** An exchange that is only explained, bound by what would bind it. */
export interface AskedExchange {
  readonly exchange: LiveExchange;
  /** Why it would be refused as it arrives. */
  readonly atDoor: GatewayError | undefined;
  /** Why its tags would have it refused where it is charged. */
  readonly byTags: GatewayError | undefined;
}

const NO_KEY = '';

export function openExchange(
  question: RouteQuestion,
  { accounts }: Pick<Generation, 'accounts'>,
  { clock }: PipelineServices,
): AskedExchange {
  const { session, keyId, limits, tags = [], ...asked } = question;
  const principal = principalOf(keyId, limits);
  const tree = accounts.tree();
  const binding = new Bindings().of(principal, tree);
  const exchange = new LiveExchange({
    ...asked,
    id: '',
    clock,
    principal,
    limits: binding ? binding.limits : limits,
    arrivedAt: clock.monotonic(),
    ...(session !== undefined && { clientHeaders: { 'x-gateway-session': session } }),
  });
  exchange.routing.explaining = new HeardNotes();
  const atDoor = binding?.refusal === undefined ? undefined : new GatewayError('access_blocked', binding.refusal);
  if (tags.length === 0) return { exchange, atDoor, byTags: undefined };
  const brought = new TagBindings().of(exchange, tree, [...new Set(tags)].toSorted());
  exchange.limits = brought.limits;
  exchange.broughtLevels = brought.added;
  return { exchange, atDoor, byTags: brought.refusal };
}

/** The key that asks; one that is only thought of has limits and no id. */
function principalOf(keyId: string | undefined, limits: KeyLimits | undefined): HostPrincipal | undefined {
  if (keyId === undefined && !limits) return undefined;
  return new HostPrincipal({ id: keyId ?? NO_KEY, name: '', scopes: [], limits });
}
