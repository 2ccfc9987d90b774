/** How hard a model is to think, from least to most. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
/** One of those words. */
export type Effort = (typeof EFFORTS)[number];

/**
 * What a vendor's page says of one model that its translators must know, as the rules of models
 * state it. A member is absent where nothing is known: then nothing is sent that could be refused,
 * and what the client sent goes on as it came. The names are those of the file of rules.
 */
export interface ModelFacts {
  /** Efforts that the model takes, from least to most; an empty list where it takes none. */
  readonly efforts?: readonly Effort[];
  /** The effort of a request that names none. Shown, not sent. */
  readonly effort_default?: Effort;
  /** The APIs of the service that answer chats with this model. */
  readonly endpoints?: readonly ('chat' | 'responses')[];
  /**
   * When the chat API takes function tools: always, without an effort or with `none`, with an
   * explicit `none` alone, or never.
   */
  readonly chat_tools?: 'any' | 'absent_or_none' | 'none_only' | 'never';
  /** Whether the chat API searches the web by `web_search_options`. */
  readonly chat_search?: boolean;
  /** When the model takes `temperature`, `top_p`, `top_k` and `logprobs`; `effort_none` is only with an effort of `none`. */
  readonly sampling?: 'always' | 'effort_none' | 'never';
  /** Fields of chats that the model refuses. */
  readonly refuses?: readonly string[];
  /** The field that holds the most tokens of an answer. */
  readonly ceiling?: 'max_completion_tokens' | 'max_tokens' | 'both';
  /** Most tokens of an answer, where the catalog of models does not know. */
  readonly max_output?: number;
  /** The role of system text. */
  readonly system_role?: 'developer' | 'system';
  /** Whether the Responses API shows summaries of thoughts. */
  readonly summaries?: boolean;
  /** Whether messages of the Responses API have a `phase` that must come back with them. */
  readonly phases?: boolean;
  /** How the model is asked to think. */
  readonly thinking?: 'none' | 'effort' | 'budget' | 'level' | 'adaptive' | 'switch';
  /** Whether it thinks when nothing is said. */
  readonly thinking_default?: 'on' | 'off';
  /**
   * What becomes of an effort of `none`: thinking ends; it goes on with the least effort; it ends
   * only up to the effort named here; or it goes on between tools alone.
   */
  readonly thinking_off?: 'yes' | 'no' | 'between_tools' | `up_to:${Effort}`;
  /** Least and most tokens of a thinking budget. 0 is off. */
  readonly budget?: readonly [least: number, most: number];
  /** Whether a model that thinks by effort takes a budget too. */
  readonly thinking_budget?: boolean;
  /** When a request may force a tool. */
  readonly forced_tool?: 'any' | 'not_thinking' | 'never';
  /** Whether the last turn may be the assistant's own. */
  readonly prefill?: boolean;
  /** Which structured answers the model gives. */
  readonly schema?: 'json_schema' | 'json_object' | 'none';
  /** Whether messages of the role `system` may stand behind the first turn. */
  readonly late_system?: boolean;
  /**
   * Whether the model binds its thoughts to what stands before them: system text, tools and earlier
   * turns. A request that brings them back behind anything else is refused.
   */
  readonly binds_thoughts?: boolean;
  /**
   * What the model wants back of its thoughts in earlier turns.
   * - `refused`: a request that holds any is refused.
   * - `none`: it asks for nothing; they go in `thoughts_field` where that is known.
   * - `every_turn`: the text, with every turn of the assistant.
   * - `tool_turns`: the text, with turns that call tools.
   * - `sealed`: items of the Responses API; `signed`: items with a signature; `parts`: parts of the
   *   content; `details`: `reasoning_details` as they came.
   */
  readonly thoughts_back?: 'refused' | 'none' | 'every_turn' | 'tool_turns' | 'sealed' | 'signed' | 'parts' | 'details';
  /** The member of a message that holds the text of thoughts; `reasoning_content` unless said. */
  readonly thoughts_field?: 'reasoning_content' | 'reasoning' | 'content' | 'reasoning_details';
}

/** The facts of a model that no rule speaks of. */
export const NO_FACTS: ModelFacts = Object.freeze({});
