import type { ReplyOf, RequestOf, Surface } from './surface.ts';

/**
 * Ends the request with a refusal. At `before_request` the provider is not called, at
 * `after_request` the answer is withheld. The log line and the figure of the rejection are the
 * host's; a plugin need not count its own.
 */
export interface Rejection {
  /** Tells a rejection from the other verdicts. */
  readonly action: 'reject';
  /** The client gets it, with the plugin's name and the stage; never holds the matched text. */
  readonly reason: string;
  /** For limits: when trying again makes sense, in milliseconds. */
  readonly retryAfterMs?: number;
  /**
   * How sure the plugin is, 0 to 1: stands in the log line of an observed verdict. It decides
   * nothing: compare it with a threshold of your own first.
   */
  readonly score?: number;
}

/**
 * Answers in the provider's place; chat and completions only, ignored elsewhere. Later plugins of
 * the stage still run, and find the plugin's name in `answeredBy`; `after_request` runs as for any
 * answer.
 */
export interface Answer {
  /** Tells an answer from the other verdicts. */
  readonly action: 'answer';
  /** The body that the client gets; of a stream, it is sent as chunks. */
  readonly reply: ReplyOf<Surface>;
  /** The model that the upstream reported when the answer was made, for the log row. */
  readonly reportedModel?: string | undefined;
}

/**
 * Replaces the request (`before_request`; beside chat only a changed `model` is read back) or the
 * reply (`after_request`). A reply of audio is replaced by a content type and bytes, which may wrap
 * those that still arrive. Later plugins see the new body, and so does the client, or the provider.
 */
export interface Rewrite {
  /** Tells a rewrite from the other verdicts. */
  readonly action: 'rewrite';
  /** The whole new body; what it leaves out is gone. */
  readonly body: RequestOf<Surface> | ReplyOf<Surface>;
  /**
   * What a guardrail put out of sight, in words that may be logged. Counted as `masked`; an
   * observing guardrail's is only logged.
   */
  readonly masked?: string;
}

/**
 * What a plugin decides. `undefined` means: go on. Anything else, `null` and `false` too, is a
 * fault of the plugin, at once or from a promise.
 */
export type Verdict = Rejection | Answer | Rewrite;

/**
 * Refuses the request, or at `after_request` the answer.
 *
 * @param reason what the client reads, behind the plugin's name and the stage. Never the text that
 * was found.
 * @param options `retryAfterMs` for limits, in milliseconds; `score`, 0 to 1, for the log line of
 * an observed verdict.
 * @returns the verdict, to be returned by the handler or the stream guard. Nothing happens by
 * calling this alone.
 * @example
 * ```ts
 * import { definePlugin, isChat, reject } from 'gw/contract';
 * import Joi from 'joi';
 *
 * export default definePlugin<{ readonly most: number }>({
 *   name: 'few-messages',
 *   type: 'guardrail',
 *   summary: 'Refuses long conversations',
 *   stages: ['before_request'],
 *   surfaces: ['chat'],
 *   settings: Joi.object<{ readonly most: number }, true>({ most: Joi.number().integer().required() }),
 *   create: ({ most }) => ({
 *     before_request: (exchange) => {
 *       const count = isChat(exchange) ? exchange.request.messages.length : 0;
 *       return count > most ? reject(`there are ${count} messages, the limit is ${most}`) : undefined;
 *     },
 *   }),
 * });
 * ```
 */
export function reject(reason: string, options: Pick<Rejection, 'retryAfterMs' | 'score'> = {}): Rejection {
  return { action: 'reject', reason, ...options };
}

/**
 * Answers in the provider's place, at `before_request` of chat and completions; elsewhere it is
 * ignored.
 *
 * @param reply the whole answer in the common wire; a client that asked for a stream gets it as
 * chunks.
 * @param options `reportedModel`: what the log row says of the model.
 * @returns the verdict. The answer costs nothing, and is not charged: `exchange.answeredBy` names
 * the plugin from then on.
 * @example
 * ```ts
 * import { answer, type Exchange, isChat, type Verdict } from 'gw/contract';
 *
 * // Says when the service is back, without a call.
 * export function closed(exchange: Exchange): Verdict | undefined {
 *   if (!isChat(exchange)) return undefined;
 *   return answer({
 *     id: `chatcmpl-${exchange.id}`,
 *     object: 'chat.completion',
 *     created: Math.floor(exchange.startedAt / 1000),
 *     model: exchange.model,
 *     choices: [{ index: 0, message: { role: 'assistant', content: 'Back at nine.' }, finish_reason: 'stop' }],
 *   });
 * }
 * ```
 */
export function answer(reply: ReplyOf<Surface>, options: Pick<Answer, 'reportedModel'> = {}): Answer {
  return { action: 'answer', reply, ...options };
}

/**
 * Replaces the request before the provider is called, or the answer before the client gets it.
 *
 * @param body the whole new body. What it shares with the old one is not copied, and nothing of the
 * old one may be changed in place.
 * @returns the verdict. A body without the shape of its surface is a fault of the plugin, and never
 * leaves.
 * @example
 * ```ts
 * import { type Exchange, isChat, rewrite, type Verdict } from 'gw/contract';
 *
 * // Puts a rule in front of every conversation.
 * export function withRule(exchange: Exchange): Verdict | undefined {
 *   if (!isChat(exchange)) return undefined;
 *   const { request } = exchange;
 *   return rewrite({ ...request, messages: [{ role: 'system', content: 'Be brief.' }, ...request.messages] });
 * }
 * ```
 */
export function rewrite(body: RequestOf<Surface> | ReplyOf<Surface>): Rewrite {
  return { action: 'rewrite', body };
}

/**
 * A guardrail's rewrite that puts something out of sight; `reason` never holds what that was. The
 * host counts it under `masked`, and writes `reason` to the log. A guardrail that observes changes
 * nothing by it. `editTexts` makes the body.
 *
 * @param body the whole new body, as for `rewrite`.
 * @param reason what was found, by its kind: `2 e-mail addresses`.
 * @example
 * ```ts
 * import { editTexts, type Exchange, mask, type Verdict } from 'gw/contract';
 *
 * export function hideNumbers(exchange: Exchange): Verdict | undefined {
 *   const body = editTexts(exchange, (text) => text.replaceAll(/\b\d{9}\b/g, '[number]'));
 *   return body && mask(body, 'numbers of nine digits');
 * }
 * ```
 */
export function mask(body: RequestOf<Surface> | ReplyOf<Surface>, reason: string): Rewrite {
  return { action: 'rewrite', body, masked: reason };
}
