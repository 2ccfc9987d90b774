import type { ReplyOf, RequestOf, Surface } from './surface.ts';

/** Ends the request with a refusal. At `before_request` the provider is not called, at `after_request` the answer is withheld. */
export interface Rejection {
  readonly action: 'reject';
  /** The client gets it, with the plugin's name and the stage; never holds the matched text. */
  readonly reason: string;
  /** For limits: when trying again makes sense, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** Answers in the provider's place; chat and completions only, ignored elsewhere. */
export interface Answer {
  readonly action: 'answer';
  readonly reply: ReplyOf<Surface>;
}

/**
 * Replaces the request (`before_request`; beside chat only a changed `model` is read back) or the reply (`after_request`).
 * A reply of audio is replaced by a content type and bytes, which may wrap those that still arrive.
 */
export interface Rewrite {
  readonly action: 'rewrite';
  readonly body: RequestOf<Surface> | ReplyOf<Surface>;
}

/** What a plugin decides. `undefined` means: go on. Anything else, `null` and `false` too, is a fault of the plugin, at once or from a promise. */
export type Verdict = Rejection | Answer | Rewrite;

export function reject(reason: string, options: { readonly retryAfterMs?: number } = {}): Rejection {
  return { action: 'reject', reason, ...options };
}

export function answer(reply: ReplyOf<Surface>): Answer {
  return { action: 'answer', reply };
}

export function rewrite(body: RequestOf<Surface> | ReplyOf<Surface>): Rewrite {
  return { action: 'rewrite', body };
}
