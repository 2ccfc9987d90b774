import { type Effort, type ModelFacts, NO_FACTS } from 'gw/contract';

/** What a Claude model accepts, as far as requests depend on it. */
export interface ClaudeTraits {
  /** How a request asks it to think: not at all, by a budget of tokens, or by an effort it adapts to. */
  readonly thinking: 'none' | 'budget' | 'adaptive';
  /** Thinks unless the request says not to. */
  readonly thinksUnasked: boolean;
  /** What becomes of a wish not to think. */
  readonly off: NonNullable<ModelFacts['thinking_off']>;
  /** Efforts that it takes, least first; `undefined` where that is not known. */
  readonly efforts: readonly Effort[] | undefined;
  /** The effort of a request that names none. */
  readonly usualEffort: Effort;
  /** Most tokens of a budget; `undefined` where it takes none. */
  readonly mostBudget: number | undefined;
  /** When it can be made to call a tool. */
  readonly forcedTool: NonNullable<ModelFacts['forced_tool']>;
  /** Takes `temperature`, `top_p` and `top_k`. */
  readonly samples: boolean;
  /** Takes `temperature` and `top_p` together. */
  readonly mixesSampling: boolean;
  /** Can hold its answer, and its input of a tool, to a JSON schema. */
  readonly holdsSchemas: boolean;
}

/** The traits of a model by what the rules of models say of it. One that no rule knows is treated like the oldest that thinks. */
export function claudeTraits(facts: ModelFacts = NO_FACTS): ClaudeTraits {
  const { thinking, budget, sampling = 'always', efforts } = facts;
  const kind = thinking === 'none' || thinking === 'adaptive' ? thinking : 'budget';
  return {
    thinking: kind,
    thinksUnasked: facts.thinking_default === 'on',
    off: facts.thinking_off ?? 'yes',
    efforts: kind === 'adaptive' ? efforts : undefined,
    usualEffort: facts.effort_default ?? 'high',
    mostBudget: kind === 'budget' || facts.thinking_budget ? (budget?.[1] ?? Infinity) : undefined,
    forcedTool: facts.forced_tool ?? 'not_thinking',
    samples: sampling === 'always' || sampling === 'one',
    mixesSampling: sampling === 'always',
    holdsSchemas: facts.schema === 'json_schema',
  };
}
