import { type CallInfo, type Effort, NO_FACTS } from 'gw/contract';
import { wholeSegment } from 'gw/common-wire';

/** The model's name without the collection in front. */
export const modelName = (model: string): string => model.replace(/^models\//, '');

/** `/models/{m}:{method}` below the root, the name escaped as one segment. Throws a 400 for names that cannot stand in an address. */
export function methodPath(model: string, method: string): string {
  return `/models/${wholeSegment(modelName(model))}:${method}`;
}

/** How a request asks a model to think: by a level, by a budget of tokens, or not at all. */
export interface ThinkingTraits {
  readonly style: 'level' | 'budget' | 'none';
  /** Levels it takes, least first. */
  readonly levels: readonly Effort[];
  /** Least and most tokens of a budget; 0 switches thinking off. */
  readonly budget: readonly [least: number, most: number];
  /** Whether its least level counts as no thinking. */
  readonly stops: boolean;
}

/** What the rules of models say of a model's thinking. One that no rule knows is not asked to think. */
export function thinkingTraits({ facts = NO_FACTS }: Pick<CallInfo, 'facts'>): ThinkingTraits {
  const { thinking, efforts = [], budget = [0, 0], thinking_off: off } = facts;
  const style = thinking === 'level' || thinking === 'budget' ? thinking : 'none';
  return { style, levels: efforts, budget, stops: off === 'yes' };
}
