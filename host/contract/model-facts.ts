/**
 * What a vendor's page says of one model that its translators must know, as the rules of models
 * state it. A member is absent where nothing is known: then nothing is sent that could be refused.
 * The names are those of the file of rules.
 */
export interface ModelFacts {
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
