import type { ReplyOf, RequestOf, Surface } from './surface.ts';

/** Ends the request with a refusal. At `before_request` the provider is not called, at `after_request` the answer is withheld. */
export interface Rejection {
  readonly action: 'reject';
  /** The client gets it, with the plugin's name and the stage; never holds the matched text. */
  readonly reason: string;
  /** For limits: when trying again makes sense, in milliseconds. */
  readonly retryAfterMs?: number;
  /** How sure the plugin is, 0 to 1: stands in the log line of an observed verdict. */
  readonly score?: number;
}

/** Answers in the provider's place; chat and completions only, ignored elsewhere. */
export interface Answer {
  readonly action: 'answer';
  readonly reply: ReplyOf<Surface>;
  /** The model that the upstream reported when the answer was made, for the log row. */
  readonly reportedModel?: string | undefined;
}

/**
 * Replaces the request (`before_request`; beside chat only a changed `model` is read back) or the reply (`after_request`).
 * A reply of audio is replaced by a content type and bytes, which may wrap those that still arrive.
 */
export interface Rewrite {
  readonly action: 'rewrite';
  readonly body: RequestOf<Surface> | ReplyOf<Surface>;
  /** What a guardrail put out of sight, in words that may be logged. Counted as `masked`; an observing guardrail's is only logged. */
  readonly masked?: string;
}

/** What a plugin decides. `undefined` means: go on. Anything else, `null` and `false` too, is a fault of the plugin, at once or from a promise. */
export type Verdict = Rejection | Answer | Rewrite;

export function reject(reason: string, options: Pick<Rejection, 'retryAfterMs' | 'score'> = {}): Rejection {
  return { action: 'reject', reason, ...options };
}

export function answer(reply: ReplyOf<Surface>, options: Pick<Answer, 'reportedModel'> = {}): Answer {
  return { action: 'answer', reply, ...options };
}

export function rewrite(body: RequestOf<Surface> | ReplyOf<Surface>): Rewrite {
  return { action: 'rewrite', body };
}

/** A guardrail's rewrite that puts something out of sight; `reason` never holds what that was. */
export function mask(body: RequestOf<Surface> | ReplyOf<Surface>, reason: string): Rewrite {
  return { action: 'rewrite', body, masked: reason };
}
