import type { ReplyMessage } from '../contract/index.ts';
import { type Fields, isFields, isIndex } from '../contract/json/fields.ts';
import { plainCallName } from '../contract/call-name.ts';
import { completeHead } from './call-numbers.ts';

/** Calls are objects, and their arguments text: an upstream that sends the object itself gets it written out. */
export function normalizeToolCalls(holder: Fields): boolean {
  const calls = holder['tool_calls'];
  if (calls === undefined || calls === null) return false;
  const usable = (Array.isArray(calls) ? calls : [calls]).filter(isFields); // earlier versions of Text Generation Inference send one call, not a list
  let isChanged = !Array.isArray(calls) || usable.length !== calls.length;
  if (isChanged) holder['tool_calls'] = usable;
  for (const call of usable) {
    if (call['index'] !== undefined && !isIndex(call['index'])) {
      delete call['index'];
      isChanged = true;
    }
    const target = call['function'];
    if (!isFields(target)) {
      call['function'] = {};
      isChanged = true;
    } else if (normalizeTarget(target)) isChanged = true;
  }
  return isChanged;
}

function normalizeTarget(target: Fields): boolean {
  const { arguments: given } = target;
  const isRenamed = normalizeName(target);
  if (given === undefined || typeof given === 'string') return isRenamed;
  target['arguments'] = given === null ? '' : JSON.stringify(given);
  return true;
}

/** A name is text without marks: a number is written out, and what is neither is none. */
function normalizeName(target: Fields): boolean {
  const { name } = target;
  const plain = typeof name === 'number' ? String(name) : plainCallName(name);
  if (name === undefined || name === null || plain === name) return false;
  target['name'] = plain;
  return true;
}

/** Each call of a whole message has an id, a type, a name and arguments. */
export function completeCalls(message: ReplyMessage, answer: string | undefined, choice: number): void {
  const calls = (message.tool_calls ?? []) as readonly unknown[] as readonly Fields[];
  for (const [number, call] of calls.entries()) {
    completeHead(call, answer, choice, number);
    const target = call['function'];
    if (!isFields(target)) continue;
    target['name'] ??= '';
    target['arguments'] ??= '';
  }
}
