/** What a Claude model accepts, as far as requests depend on it. */
export interface ClaudeTraits {
  /** How a request asks it to think: not at all, by a budget of tokens, or by an effort it adapts to. */
  readonly thinking: 'none' | 'budget' | 'adaptive';
  /** Thinks unless the request says not to. */
  readonly thinksUnasked: boolean;
  /** Thinks whatever the request says, and so cannot be made to call a tool either. */
  readonly alwaysThinks: boolean;
  /** Can be asked to think between calls of tools only, which is the least it thinks. */
  readonly thinksBetweenTools: boolean;
  /** Takes `temperature`, `top_p` and `top_k`. */
  readonly samples: boolean;
  /** Takes `temperature` and `top_p` together. */
  readonly mixesSampling: boolean;
  /** Can hold its answer, and its input of a tool, to a JSON schema. */
  readonly holdsSchemas: boolean;
}

/** The version, wherever an id has it: `claude-3-7-sonnet-20250219`, `us.anthropic.claude-opus-4-6-v1`, `claude-opus-4@20250514`. */
const NAME = /claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?/i;

/**
 * Traits by version, so that a model that is not listed here is treated like the newest known; a name without a version like
 * the oldest that thinks. Sources: platform.claude.com, "Adaptive thinking", "Effort", "Structured outputs", "What's new in
 * Claude Opus 5.5", "Models overview", "Migration guide" (temperature or top_p, not both); docs.memberjunction.org,
 * "RejectsSamplingParams"; 2026-11-22.
 */
export function claudeTraits(model: string): ClaudeTraits {
  const [, major = '4', minor = '0'] = NAME.exec(model) ?? [];
  const version = Number(major) * 100 + Number(minor);
  const isNewLine = /claude-(mythos|fable)/i.test(model);
  const isAdaptive = isNewLine || version >= 407;
  return {
    thinking: isAdaptive ? 'adaptive' : olderThinking(version),
    thinksUnasked: isNewLine || version >= 500,
    thinksBetweenTools: version === 505 && /sonnet/i.test(model),
    alwaysThinks: isNewLine || (version >= 501 && !/haiku/i.test(model)),
    samples: !isAdaptive,
    mixesSampling: version < 401,
    holdsSchemas: isNewLine || version >= 405,
  };
}

function olderThinking(version: number): 'none' | 'budget' {
  return version >= 307 ? 'budget' : 'none';
}
