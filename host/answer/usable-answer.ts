import { type ChatReply, finishReason, isText } from '../contract/index.ts';
import { type Fields, isFields } from '../contract/json/fields.ts';
import { unusableReply } from '../upstream/fault.ts';
import { contentText } from './message-parts.ts';

/** Ends of answers whose calls the vendor could not read, or that broke. Source: ai.google.dev, "FinishReason"; Mistral API reference, "Chat"; 2026-11-27. */
const BROKEN = new Set(['malformed_function_call', 'unexpected_tool_call', 'error']);

/** Why an answer that says nothing is a failed one, by its end; `undefined` where saying nothing was meant. */
export function brokenEnd(finish: unknown, areNameless: boolean): string | undefined {
  if (areNameless) return 'the answer calls a tool without a name';
  return typeof finish === 'string' && BROKEN.has(finish.trim().toLowerCase())
    ? `the answer is empty, and ended with ${finish}`
    : undefined;
}

/** Whether a message, or a piece of one, says something beside calls and thoughts. */
export function isSpoken(message: Readonly<Fields>): boolean {
  const { content, refusal, audio, images } = message;
  return (
    (typeof content === 'string' ? content !== '' : isText(contentText(content))) ||
    isText(refusal) ||
    isFields(audio) ||
    (Array.isArray(images) && images.length > 0)
  );
}

/**
 * Leaves out calls without a name of a whole answer, in place. Throws where nothing else is in it, and where its vendor could not read what the
 * model meant for a call: agents would stop without a word. `functionsOnly`: calls of custom tools count as nameless. See docs/errors.md#answers-that-say-nothing.
 */
export function requireUsable({ choices }: ChatReply, functionsOnly = false): void {
  let broken: string | undefined;
  let isUsable = false;
  for (const choice of choices as readonly unknown[]) {
    const message = isFields(choice) ? choice['message'] : undefined;
    if (!isFields(choice) || !isFields(message)) continue;
    const areNameless = leaveOutNameless(choice, message, functionsOnly);
    const why = brokenEnd(choice['finish_reason'], areNameless);
    if (why === undefined || isSpoken(message) || hasCalls(message)) isUsable = true;
    else broken ??= why;
  }
  if (broken !== undefined && !isUsable) throw unusableReply(broken);
}

const hasCalls = ({ tool_calls: calls }: Readonly<Fields>): boolean => Array.isArray(calls) && calls.length > 0;

/** True where there were such calls. */
function leaveOutNameless(choice: Fields, message: Fields, functionsOnly: boolean): boolean {
  const { tool_calls: calls } = message;
  const all = Array.isArray(calls) ? calls : [calls];
  const isNamed = functionsOnly ? namesFunction : namesTool;
  if (calls === undefined || calls === null || all.every(isNamed)) return false;
  const named = all.filter(isNamed);
  if (named.length > 0) message['tool_calls'] = named;
  else {
    delete message['tool_calls'];
    const { finish_reason: finish } = choice;
    if (typeof finish === 'string' && finishReason(finish) === 'tool_calls') choice['finish_reason'] = 'stop';
  }
  return true;
}

const namesTool = (call: unknown): boolean => isNamed(call, 'function') || isNamed(call, 'custom');
const namesFunction = (call: unknown): boolean => isNamed(call, 'function');

function isNamed(call: unknown, kind: 'function' | 'custom'): boolean {
  const target = isFields(call) ? call[kind] : undefined;
  return isFields(target) && (isText(target['name']) || typeof target['name'] === 'number');
}
