import {
  type ChatChoice,
  type ChatReply,
  type Fields,
  isText,
  type ReplyMessage,
} from '../../../../host/contract/index.ts';
import { argumentsIn, brokenCall, CallIds, signatureBeside } from './calls.ts';
import { groundingOf, logprobsOf, tokensOf } from './candidate-extras.ts';
import { finishWord } from './finish.ts';
import { callSecret, thoughtSecret } from '../secrets.ts';
import { type SortedDetails, signedParts, sortDetails } from '../request/signatures.ts';
import { usageMetadata } from './usage.ts';

/** What the writer of an answer knows of its request. */
export interface AnswerFacts {
  readonly includesThoughts: boolean;
  readonly wantsLogprobs: boolean;
  /** The client's name of a function, for the one that a target knows it by. */
  readonly ownName: (name: string) => string;
}

/** A whole answer. Throws a 502 for calls whose arguments are not an object. See docs/reference/ingress.md#gemini-the-answer. */
export function writeAnswer({ choices, usage, model }: ChatReply, facts: AnswerFacts, requestId: string): Fields {
  return {
    candidates: choices.map((choice) => candidateOf(choice, facts)),
    usageMetadata: usageMetadata(usage),
    modelVersion: model ?? '',
    responseId: requestId,
  };
}

function candidateOf({ index, message, logprobs, finish_reason: reason }: ChatChoice, facts: AnswerFacts): Fields {
  const isRefused = isText(message['refusal']) && !isText(message.content);
  const parts = isRefused ? [] : partsOf(message, facts);
  const isFiltered = isRefused || reason === 'content_filter';
  return {
    content: { role: 'model', parts: parts.length > 0 || isFiltered ? parts : [{ text: '' }] },
    finishReason: isRefused ? 'SAFETY' : finishWord(reason),
    ...(isText(message['refusal']) && { finishMessage: message['refusal'] }),
    index,
    ...groundingOf(message['annotations']),
    ...(facts.wantsLogprobs && logprobsOf(tokensOf(logprobs))),
  };
}

/** Thoughts, what was said, then what was called; secrets of other vendors stand where the client returns them. */
function partsOf(message: ReplyMessage, { includesThoughts, ownName }: AnswerFacts): Fields[] {
  const details = sortDetails(message.reasoning_details);
  const thoughts = includesThoughts ? thoughtParts(message.reasoning_content ?? '', details) : [];
  const said = signedParts(message.content ?? '', details.text);
  const calls = callParts(message, details, ownName);
  if (calls.length > 0 || includesThoughts || details.foreign.length === 0) return [...thoughts, ...said, ...calls];
  const secret = callSecret(details.foreign, '');
  const last = said.at(-1);
  if (!last || last['thoughtSignature'] !== undefined) return [...said, { text: '', thoughtSignature: secret }];
  return [...said.slice(0, -1), { ...last, thoughtSignature: secret }];
}

function thoughtParts(text: string, details: SortedDetails): Fields[] {
  const { thoughts, foreign, isOwn } = details;
  if (foreign.length > 0) return foreignThoughts(text, foreign);
  if (text === '' && thoughts.length === 0) return [];
  return isOwn
    ? signedParts(text, thoughts, { thought: true })
    : [{ text, thought: true, thoughtSignature: thoughtSecret([]) }];
}

/** One part per item that has a text; the others go with the next one. Text that no item holds comes first. */
function foreignThoughts(text: string, items: readonly Fields[]): Fields[] {
  const parts: Fields[] = [];
  let waiting: Fields[] = [];
  for (const item of items) {
    waiting.push(item);
    if (!isText(item['text'])) continue;
    parts.push({ text: item['text'], thought: true, thoughtSignature: thoughtSecret(waiting) });
    waiting = [];
  }
  const isTextless = parts.length === 0;
  if (waiting.length > 0)
    parts.push({ text: isTextless ? text : '', thought: true, thoughtSignature: thoughtSecret(waiting) });
  return parts;
}

function callParts(
  { tool_calls: calls, reasoning_content: text }: ReplyMessage,
  { byCall, foreign, isOwn }: SortedDetails,
  ownName: AnswerFacts['ownName'],
): Fields[] {
  const ids = new CallIds();
  return (calls ?? []).map((call, place) => {
    const { id, function: called } = call;
    const args = argumentsIn(called.arguments);
    if (!args) throw brokenCall();
    const signature =
      byCall.get(id ?? '') ??
      signatureBeside(call) ??
      (place === 0 && !isOwn ? callSecret(foreign, text ?? '') : undefined);
    return {
      functionCall: { ...ids.memberOf(id, place), name: ownName(called.name ?? ''), args },
      ...(signature !== undefined && { thoughtSignature: signature }),
    };
  });
}
