import { isFields, parseJson } from '../../../host/contract/index.ts';
import type { Family } from '../family.ts';
import type { HeldBody } from '../read-ahead.ts';

/**
 * Whether a request of the Responses API leaves something at the vendor, or goes on from what stands there, and so belongs to one account: unless
 * `store` is false, it names no earlier response, conversation or item, and does not run on in the background. What is made of a request beside
 * `/v1/responses` is not stored. A body that is not held whole, or cannot be read, is one that does. Source: OpenAI API reference, "Create a model response", 2026-11-27.
 */
export function isStatefulResponse({ held, rest }: HeldBody, asks: NonNullable<Family['asks']>): boolean {
  const body = rest ? undefined : parsed(held);
  if (!isFields(body) || (asks === 'response' && body['store'] !== false)) return true;
  const { previous_response_id: earlier, conversation, background, input } = body;
  return (
    isSet(earlier) || isSet(conversation) || background === true || (Array.isArray(input) && input.some(isReference))
  );
}

/** Whether the turns that a request of the Responses API sends along hold what one organisation alone can read. Source: OpenAI guide "Reasoning models", "Encrypted reasoning items", 2026-11-27. */
export function isSealedResponse({ held, rest }: HeldBody): boolean {
  if (rest || !held.includes('"encrypted_content"')) return false;
  const body = parsed(held);
  const input = isFields(body) ? body['input'] : undefined;
  return Array.isArray(input) && input.some((item) => isFields(item) && typeof item['encrypted_content'] === 'string');
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** An item by its id alone needs no type. */
const isReference = (item: unknown): boolean =>
  isFields(item) &&
  (item['type'] === 'item_reference' ||
    (typeof item['id'] === 'string' && !isSet(item['type']) && !isSet(item['role']) && !isSet(item['content'])));
