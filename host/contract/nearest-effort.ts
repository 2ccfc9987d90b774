import { type Effort, EFFORTS } from './model-facts.ts';

/** What is sent for an effort that a client asks for; without `effort` the field is left out. */
export interface NearestEffort {
  readonly effort?: Effort;
  /** `bounded` is the nearest word, `lost` is not what was asked for: clients are to hear of it. */
  readonly change?: 'bounded' | 'lost';
}

/**
 * The word that a model takes for the effort a client asks for. Where it takes none that is as
 * high, its highest one counts. Thinking that cannot be switched off goes on with the least word.
 *
 * @param allowed what the model takes, from least to most; `undefined` where that is not known:
 * then the word goes on as it is.
 */
export function nearestEffort(wanted: string, allowed: readonly Effort[] | undefined): NearestEffort {
  if (!allowed) return { effort: wanted as Effort };
  const rank = EFFORTS.indexOf(wanted as Effort);
  if (rank < 0) return { change: 'lost' };
  const word = EFFORTS[rank] as Effort;
  if (allowed.includes(word)) return { effort: word };
  if (word === 'none') return { ...(allowed[0] && { effort: allowed[0] }), change: 'lost' };
  const thinking = allowed.filter((effort) => effort !== 'none');
  const nearest = thinking.find((effort) => EFFORTS.indexOf(effort) >= rank) ?? thinking.at(-1);
  return nearest ? { effort: nearest, change: 'bounded' } : { change: 'lost' };
}
