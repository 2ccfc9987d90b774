import type { GatewayError } from '../../contract/index.ts';
import { attemptCorrected } from '../attempts/correct.ts';
import type { GenerationHooks } from '../hooks.ts';
import { boundAccount, hasSeveralAccounts } from './bound-account.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { RunningGeneration } from '../running-generation.ts';
import type { Target } from '../target.ts';
import type { Turn } from '../turns/turn.ts';
import type { Answer } from '../turns/turns.ts';
import { type Tells, Visit } from './visit.ts';

/** One try of the retry policy at a target, whose `provider` is there. */
export interface Visiting {
  readonly exchange: LiveExchange;
  readonly turn: Turn;
  readonly target: Target;
  readonly provider: NonNullable<Target['provider']>;
  /** `undefined` where nothing is chosen: the target calls with what the environment gives it. */
  readonly visit: Visit | undefined;
  /** Number of the try, from 1. */
  readonly tries: number;
}

/** What a request keeps of a target from one try to the next. */
export const visitOf = ({ instance }: Target): Visit | undefined => (instance ? new Visit() : undefined);

/** The one call of a request that is forwarded. What is kept at the vendor belongs to the first credential's vendor account. */
export function forwardedVisit(
  target: Target,
  exchange: LiveExchange,
  { tells = 'nothing', hooks }: { readonly tells: Tells | undefined; readonly hooks: GenerationHooks },
): Visit | undefined {
  const { instance, virtualKey } = target;
  const { routing } = exchange;
  if (!instance) return undefined;
  if (routing.isStateful) return new Visit({ tells, account: instance.credentials[0]?.vendorAccount });
  if (!routing.isBound) return new Visit({ tells });
  const { account = boundAccount(exchange, target, hooks), target: home = virtualKey } = routing.bound ?? {};
  const isOne = routing.bound === undefined && !hasSeveralAccounts(instance);
  return new Visit({ tells, account, unusable: isOne ? undefined : sealedFor(home) });
}

const sealedFor = (name: string): string =>
  `the reasoning in this request can be read by ${name} only, which cannot be called now`;

/** Tries a target; where a credential fails, the next one follows at once, inside the target and without counting as a retry. */
export function visitTarget(visiting: Visiting, generation: RunningGeneration): Promise<Answer> {
  const { exchange, turn, target, provider, visit } = visiting;
  if (!visit) return attemptCorrected(exchange, turn, target, provider, generation);
  return visitCredentials({ ...visiting, visit }, generation);
}

async function visitCredentials(
  { exchange, turn, target, provider, visit, tries }: Visiting & { readonly visit: Visit },
  generation: RunningGeneration,
): Promise<Answer> {
  visit.begin();
  try {
    for (;;) {
      try {
        return await attemptCorrected(exchange, turn, target, provider, generation, visit);
      } catch (cause) {
        const error = cause as GatewayError; // attempts throw nothing else
        const { next } = visit;
        if (!next || exchange.cancellation.cause) throw error;
        visit.next = undefined;
        generation.hooks.tryFailed.call({ exchange, target, error, tries, next });
      }
    }
  } finally {
    visit.end();
  }
}
