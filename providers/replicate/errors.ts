import type { ProviderFault, WireReply } from 'gw/contract';
import { type Fields, isFields } from 'gw/common-wire';
import { isPending, isSuccess, jsonOf } from './predictions.ts';

/** What models say of refused content, and of prompts that are too long; no code for either is common to all models. */
const CONTENT = /flagged as sensitive|\(E005\)|NSFW content/i;
const LENGTH =
  /prompt length exceeds|exceeds? (?:the )?(?:model's )?maximum (?:input|context) length|maximum context length/i;

/** The status that a prediction without success stands for: the caller's mistake where it says so, else the provider's trouble. */
export function statusOf(prediction: Fields): number {
  return reasonOf(errorText(prediction)) === undefined ? 502 : 400;
}

/** Reads `{detail}` of a refused request, and the `error` of a prediction that failed. Others are read as usual. */
export function toFault({ body }: WireReply): ProviderFault | undefined {
  const parsed = jsonOf(body);
  if (!isFields(parsed)) return undefined;
  const isEnded = typeof parsed['status'] === 'string' && !isPending(parsed) && !isSuccess(parsed);
  const message = errorText(parsed) ?? (isEnded ? `the prediction is ${String(parsed['status'])}` : undefined);
  return message === undefined ? undefined : { message, reason: reasonOf(message) };
}

function errorText({ error, detail }: Fields): string | undefined {
  return [error, detail].find((text): text is string => typeof text === 'string' && text.trim() !== '')?.trim();
}

function reasonOf(text: string | undefined): ProviderFault['reason'] {
  if (text === undefined) return undefined;
  if (CONTENT.test(text)) return 'content_policy';
  return LENGTH.test(text) ? 'context_length' : undefined;
}
