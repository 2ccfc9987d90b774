import { isFields, isLabel } from '../json/fields.ts';
import { setMember } from '../json/members.ts';
import type { StreamGuard } from '../plugin.ts';
import { reject, type Rejection } from '../verdict.ts';
import type { ChatChunk, ChunkChoice } from '../wire/chat.ts';
import { GuardedChoice } from './guarded-choice.ts';
import { type Scan, type TextFilter, windowFilter } from './text-filter.ts';

/**
 * A stream guard that lets text flow but holds back what could be the beginning of a match, so that
 * no part of one is delivered; content, refusal, reasoning and tool-call arguments each by
 * themselves. `scan` sees the held text and what came after it. A match ends the stream with
 * `reason`.
 *
 * @param scan says whether the text holds a match, and how many characters at its end might begin
 * one.
 * @param reason what the client reads; never the text that was found.
 * @example
 * ```ts
 * import Joi from 'joi';
 * import { definePlugin, reject, texts, windowGuard } from 'gw/contract';
 *
 * const WORD = 'xyzzy';
 *
 * export default definePlugin({
 *   name: 'no-magic',
 *   type: 'guardrail',
 *   summary: 'Delivers no magic word',
 *   stages: ['after_request'],
 *   settings: Joi.object({ stream: Joi.string().valid('window').default('window') }),
 *   create: () => ({
 *     // The whole answer.
 *     after_request: (exchange) => (texts(exchange).some((text) => text.includes(WORD)) ? reject('a magic word') : undefined),
 *     // A stream: what could be the beginning of the word waits for what follows.
 *     stream: () => windowGuard((text) => ({ isMatch: text.includes(WORD), keep: WORD.length - 1 }), 'a magic word'),
 *   }),
 * });
 * ```
 */
export function windowGuard(scan: (text: string) => Scan, reason: string): StreamGuard {
  return guardWith(() => windowFilter(scan), reason, false);
}

/**
 * A stream guard that runs each text through a filter of its own: content, refusal, reasoning,
 * tool-call arguments, and whole the names of called tools. What a filter holds leaves before the
 * next text, call or signature of its choice, so nothing is reordered.
 */
export function filterGuard(open: () => TextFilter, reason: string): StreamGuard {
  return guardWith(open, reason, true);
}

function guardWith(open: () => TextFilter, reason: string, readsNames: boolean): StreamGuard {
  const choices = new Map<number, GuardedChoice>();
  let id: string | undefined;

  const passWhole = (holder: unknown, field: string): boolean => {
    const text = isFields(holder) ? holder[field] : undefined;
    if (!isFields(holder) || typeof text !== 'string' || (field === 'name' ? !readsNames : isLabel(text))) return true;
    const filter = open();
    const [begin, rest] = [filter(text, false), filter('', true)];
    if (begin === undefined || rest === undefined) return false;
    if (begin + rest !== text) setMember<unknown>(holder, field, begin + rest);
    return true;
  };

  const guarded = ({ index }: ChunkChoice): GuardedChoice => {
    let choice = choices.get(index);
    if (!choice) choices.set(index, (choice = new GuardedChoice(index, open, passWhole)));
    return choice;
  };

  const push = (chunk: ChatChunk): readonly ChatChunk[] | Rejection => {
    if (chunk.id !== id && !passWhole(chunk, 'id')) return reject(reason);
    ({ id } = chunk);
    const leaving: ChatChunk[] = [];
    for (const choice of chunk.choices) {
      delete choice.logprobs; // they repeat the text
      if (!passWhole(choice, 'finish_reason') || !guarded(choice).push(choice, chunk, leaving)) return reject(reason);
      if (choice.finish_reason) choices.delete(choice.index);
    }
    leaving.push(chunk);
    return leaving;
  };

  const end = (): readonly ChatChunk[] | Rejection => {
    const leaving: ChatChunk[] = [];
    for (const choice of choices.values()) if (!choice.end(leaving)) return reject(reason);
    choices.clear();
    return leaving;
  };

  return { push, end };
}
