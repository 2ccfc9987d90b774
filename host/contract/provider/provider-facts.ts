/**
 * What is known of a vendor beside its wire. Plain data: what uses it asks for the fact, and never
 * for the name of the vendor.
 */

/** What others call the provider, where that is not its own name. */
export interface ProviderNames {
  /**
   * Prefixes of its models in the catalog, in the order in which they are looked at; its own name
   * unless said.
   */
  readonly catalog?: readonly string[];
  /**
   * The `gen_ai.provider.name` of spans, by the semantic conventions of OpenTelemetry; its own name
   * unless said.
   */
  readonly telemetry?: string;
}

/**
 * What chats with the provider take, for clients of other wires (Messages, Gemini, Responses) that
 * are served through the common format. What is not stated is not taken, except by native wires:
 * their translators map late instructions, media in results and `service_tier`, or report them.
 * Stating too much sends the service what it refuses; stating too little leaves out what it would
 * have read.
 */
export interface ChatTraits {
  /**
   * The wire of chats, where it is not the module's: a cloud whose paths are its own and whose
   * chats have the common format.
   */
  readonly wire?: 'common' | 'native';
  /** What of a conversation's earlier turns they take. */
  readonly history?: HistoryTraits;
  /**
   * Whether results of tools may hold more than text; otherwise the rest follows in a message of
   * the user.
   */
  readonly mediaInResults?: boolean;
  /**
   * Whether results of tools may say that the tool failed (`is_error`); otherwise the text goes
   * alone, and that is reported as lost.
   */
  readonly errorsInResults?: boolean;
  /**
   * Whether it refuses a last turn of the user that is white space. Such a request is then a 400
   * that names the client's own turn.
   */
  readonly refusesBlankTurns?: boolean;
  /**
   * Whether names of tools may be longer than 64 characters; otherwise they are shortened on their
   * way. The client gets the long names back in the answer.
   */
  readonly longToolNames?: boolean;
  /** Fields of the common format that not every vendor has, and this one takes. */
  readonly fields?: readonly ChatField[];
}

/**
 * What a provider takes of what clients of other wires bring along with a conversation. What is not stated is left out and
 * reported: services refuse members that they do not know.
 */
export interface HistoryTraits {
  /**
   * Where it reads the client's marks of where a cached prompt ends. `unasked`: it caches by
   * itself, and a mark left out changes nothing, so that it is not reported.
   */
  readonly marks?: 'unasked' | readonly MarkPlace[];
  /**
   * Whether `system` messages may stand behind the first turn, unless the rules of models say it of
   * the model.
   */
  readonly late_system?: boolean;
  /**
   * What its own translator makes of thoughts of earlier turns, on a native wire: formats of
   * `reasoning_details` that it reads, such as `anthropic-claude-v1`, or the text of turns that call
   * tools. On the common wire the rules of models decide.
   */
  readonly thoughts?: 'tool_turns' | readonly string[];
}

/**
 * A place of a mark, `cache_control`: a member of a tool, of any part of a message's
 * content (`texts`: of those that are text alone), of a message, or of a call.
 */
export type MarkPlace = 'tools' | 'parts' | 'texts' | 'messages' | 'calls';

/** A field of the common format that only some vendors take. */
export type ChatField = 'prompt_cache_key' | 'service_tier' | 'verbosity';

/**
 * A kind of credential that can be recognised wherever it stands: logs and errors show a marker in
 * its place. Write the shape as narrow as the vendor's keys are. A wide one hides texts that are
 * not credentials.
 */
export interface KeyShape {
  /**
   * Three characters or more that each begins with, then sets of characters with how many:
   * `sk-acme-[A-Za-z0-9_-]{20,}`. Only the last set may be open-ended, and there are eight
   * characters or more behind the beginning.
   */
  readonly shape: string;
  /** Capital letters, digits and underscores: `ACME_KEY` is shown as `[REDACTED_ACME_KEY]`. */
  readonly shownAs: string;
}

/**
 * How the configuration of another gateway says what belongs to the provider. For `gw import`. It
 * only proposes: what is imported is checked as any other configuration.
 */
export interface NamesElsewhere {
  /** What it calls the provider, in lower case, beside the provider's own name. */
  readonly names?: readonly string[];
  /**
   * Beginnings of models that stand there without a provider and are this one's; an empty text
   * takes those that no other provider does.
   */
  readonly models?: readonly string[];
  /**
   * Provider of this gateway whose place it takes where the document names that one with the address
   * of another service.
   */
  readonly insteadOf?: string;
  /** Settings there that are environment variables here. */
  readonly settings?: readonly SettingElsewhere[];
}

/**
 * A setting of another gateway that is an environment variable here: where it stands there, and
 * what becomes of it.
 */
export interface SettingElsewhere {
  /** One of the connection's. */
  readonly variable: string;
  /**
   * Names that the setting has there, of which the first that is there counts; `block.member` for
   * one inside another.
   */
  readonly from: readonly string[];
  /** A value in the open is not copied. */
  readonly isSecret?: boolean;
  /** What the variable is to hold, with `{}` for the setting; the setting itself unless said. */
  readonly as?: string;
}
