import {
  type CallInfo,
  type ChatReply,
  type ChatRequest,
  isText,
  type ReplyMessage,
  responseToolCounts,
  type UnaryReply,
  withFacts,
} from 'gw/contract';
import { addAll, type Fields, isFields, objectOf } from '../fields.ts';
import { failureOf } from './failure.ts';
import { Output } from './output.ts';
import type { Piece } from './texts.ts';
import { toUsage } from './usage.ts';

/** A whole response as an answer of the common wire. Throws for one that failed, or that is not over. */
export function readResponse(reply: UnaryReply, call: CallInfo, request: ChatRequest): ChatReply {
  const response = objectOf(reply);
  const { error, status, output, id, model, service_tier: tier } = response;
  if (status === 'failed' || (error !== undefined && error !== null)) throw failureOf(error);
  if (!Array.isArray(output)) throw new Error('the answer holds no list of output');
  if (status !== undefined && status !== 'completed' && status !== 'incomplete')
    throw new Error('the answer is not complete');
  const told = new Output(call, request);
  const message = messageOf(told.end(output));
  const usage = toUsage(response['usage']);
  const { logprobs, ...said } = message;
  return {
    ...(isText(id) && { id }),
    object: 'chat.completion',
    ...createdOf(response),
    model: isText(model) ? model : call.model,
    ...(isText(tier) && { service_tier: tier }),
    choices: [
      {
        index: 0,
        message: said as ReplyMessage,
        ...(logprobs !== undefined && { logprobs }),
        finish_reason: finishOf(response, told.hasCalls),
      },
    ],
    ...(usage && { usage: withFacts(usage, responseToolCounts(output, response['tools'])) }),
  };
}

/** When the response was made, in whole Unix seconds. */
export function createdOf({ created_at: time }: Fields): { readonly created?: number } {
  return typeof time === 'number' && Number.isFinite(time) ? { created: Math.floor(time) } : {};
}

/** Why an answer ended, in the words of the common wire. */
export function finishOf({ status, incomplete_details: details }: Fields, hasCalls: boolean): string {
  const reason = isFields(details) ? details['reason'] : undefined;
  if (status === 'incomplete' || isText(reason)) return reason === 'content_filter' ? 'content_filter' : 'length';
  return hasCalls ? 'tool_calls' : 'stop';
}

/** The pieces of an answer, put together. */
function messageOf(pieces: readonly Piece[]): Fields {
  const texts: Record<'content' | 'refusal' | 'reasoning_content', string[]> = {
    content: [],
    refusal: [],
    reasoning_content: [],
  };
  const lists: Record<'reasoning_details' | 'annotations' | 'logprobs', unknown[]> = {
    reasoning_details: [],
    annotations: [],
    logprobs: [],
  };
  const calls = new Map<number, Fields>();
  for (const { delta, logprobs } of pieces) {
    for (const [name, list] of Object.entries(texts)) if (isText(delta[name])) list.push(delta[name]);
    for (const [name, list] of Object.entries(lists)) if (Array.isArray(delta[name])) addAll(list, delta[name]);
    if (logprobs && Array.isArray(logprobs['content'])) addAll(lists.logprobs, logprobs['content']);
    for (const { index = 0, ...piece } of delta.tool_calls ?? []) calls.set(index, joinedCall(calls.get(index), piece));
  }
  const content = texts.content.join('');
  const hasOther = calls.size > 0 || texts.refusal.length > 0;
  return {
    role: 'assistant',
    content: content === '' && hasOther ? null : content,
    ...(texts.refusal.length > 0 && { refusal: texts.refusal.join('') }),
    ...(texts.reasoning_content.length > 0 && { reasoning_content: texts.reasoning_content.join('') }),
    ...(lists.reasoning_details.length > 0 && { reasoning_details: lists.reasoning_details }),
    ...(lists.annotations.length > 0 && { annotations: lists.annotations }),
    ...(calls.size > 0 && { tool_calls: [...calls.values()] }),
    ...(lists.logprobs.length > 0 && { logprobs: { content: lists.logprobs } }),
  };
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A call of which one more piece has come. */
function joinedCall(known: Fields | undefined, piece: Fields): Fields {
  if (!known) return piece;
  const { function: called, custom } = piece;
  const joined = (name: 'function' | 'custom', member: string, more: unknown): Fields => {
    const before = isFields(known[name]) ? known[name] : {};
    return { ...known, [name]: { ...before, [member]: textIn(before[member]) + textIn(more) } };
  };
  return isFields(custom)
    ? joined('custom', 'input', custom['input'])
    : joined('function', 'arguments', isFields(called) ? called['arguments'] : '');
}
