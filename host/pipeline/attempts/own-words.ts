import { GatewayError } from '../../contract/index.ts';
import { wordsOfBilling } from '../../upstream/fault-words.ts';
import type { Attempt } from './attempt.ts';

/**
 * The error of an attempt. One that says by words alone that the account has no credit left, where the words stand in the request
 * itself or its headers, may quote the client: it depends on the request then, and nothing follows for other clients.
 */
export function withoutOwnWords({ exchange, turn }: Attempt, error: GatewayError): GatewayError {
  const { fault, code, message, cause, status, retryAfterMs } = error;
  const words = fault?.reason === 'billing' && !fault.ofRequest ? wordsOfBilling(fault) : undefined;
  if (!fault || words === undefined || !holds([turn.request, exchange.sent?.value, exchange.clientHeaders], words))
    return error;
  return new GatewayError(code, message, { cause, status, retryAfterMs, fault: { ...fault, ofRequest: true } });
}

/** Whether words stand in a text or in a name of a member. In lower case; without recursion, and bytes are not looked at. */
function holds(root: unknown, words: string): boolean {
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') {
      if (value.toLowerCase().includes(words)) return true;
    } else if (Array.isArray(value)) for (const item of value) waiting.push(item);
    else if (isPlain(value))
      for (const [name, member] of Object.entries(value)) {
        if (name.toLowerCase().includes(words)) return true;
        waiting.push(member);
      }
  }
  return false;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
