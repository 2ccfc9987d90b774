import type { Affinity } from '../contract/index.ts';
import type { Target } from './target.ts';

/** The session of a request, where the strategy that ranks it keeps sessions together. */
export interface RouteSession {
  /** Between 0 and 1, the same for all requests of the session: a strategy draws with it. */
  readonly random: number;
  /** What became of it, if this target answers, called with the credential of this name. */
  resultOf(target: Target, credential: string | undefined): Affinity;
}
