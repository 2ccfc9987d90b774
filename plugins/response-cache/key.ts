import { hash } from 'node:crypto';
import { type Exchange, isFields, isRawNumber } from 'gw/contract';

/** What says how the answer is sent, and nothing of what it is. `model` and `stream` count as the gateway understands them. */
const NOT_IN_THE_KEY = new Set(['stream_options', 'model', 'stream']);

/**
 * Names a request: one that asks the same with the same credential gets the same answer. All that travels upstream is part of it, and
 * the entries of `X-Gateway-Metadata`, which may decide who answers.
 */
export function keyOf({ principal, surface, model, streaming, metadata, request }: Exchange): string {
  const fields = Object.keys(request)
    .filter((name) => !NOT_IN_THE_KEY.has(name))
    .toSorted();
  const parts = [textOf(principal?.id ?? ''), textOf(model), streaming ? 't' : 'f', valueOf(metadata)];
  if (surface !== 'chat' && surface !== 'completions') parts.push(textOf(surface));
  for (const name of fields) parts.push(textOf(name), valueOf(request[name]));
  const key = parts.join('');
  return hash('sha256', key.isWellFormed() ? key : Buffer.from(key, 'utf16le'), 'base64'); // as UTF-8 all halves of surrogate pairs are the same
}

/** The length stands in front, so that no text passes for the end of one and the beginning of another. */
const textOf = (text: string): string => `${text.length}:${text}`;

/** A text that is equal for values that mean the same: members are sorted by name, what is undefined is not there. */
function valueOf(value: unknown): string {
  if (typeof value === 'string') return textOf(value);
  if (Array.isArray(value)) return `[${value.map(valueOf).join('')}]`;
  if (isRawNumber(value) || !isFields(value)) return `n${JSON.stringify(value)}`;
  let members = '{';
  for (const name of Object.keys(value).toSorted())
    if (value[name] !== undefined) members += textOf(name) + valueOf(value[name]);
  return `${members}}`;
}
