import type { ChatMessage, ToolCall } from 'gw/contract';
import { type Fields, isFields } from 'gw/common-wire';

/** Marks an item of `reasoning_details` as this wire's own: signatures of other vendors are not sent to this one. */
export const FORMAT = 'google-gemini-v1';

/**
 * The vendor's own word for calls it has not made itself: history of another vendor, or written by hand. Newer models
 * refuse a call without any signature. Source: ai.google.dev, "Thought signatures", 2026-11-21.
 */
export const FOREIGN_SIGNATURE = 'skip_thought_signature_validator';

/** Where in an answer a signature belongs: on a call, or on a stretch of its text or of its thoughts, in UTF-16 code units. */
export type Place = { readonly id: string } | { readonly start: number; readonly end: number; readonly thought?: true };

/** An item of `reasoning_details`; equal `index`, equal item. */
export function signatureItem(index: number, place: Place, signature: string): Fields {
  return { type: 'reasoning.encrypted', index, format: FORMAT, ...place, data: signature };
}

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly signature: string;
}

/** The signatures of an earlier turn, as the caller returned them, by their places. */
export interface Signatures {
  readonly byCall: ReadonlyMap<string, string>;
  readonly text: readonly Stretch[];
  readonly thoughts: readonly Stretch[];
}

export function readSignatures({ reasoning_details: details }: ChatMessage): Signatures {
  const byCall = new Map<string, string>();
  const [text, thoughts]: [Stretch[], Stretch[]] = [[], []];
  for (const item of Array.isArray(details) ? details.filter(isFields) : []) {
    const { format, data, id, start, end } = item;
    if (format !== FORMAT || typeof data !== 'string' || data === '') continue;
    if (typeof id === 'string') byCall.set(id, data);
    else if (isOffset(start) && isOffset(end) && start <= end)
      (item['thought'] === true ? thoughts : text).push({ start, end, signature: data });
  }
  return { byCall, text, thoughts };
}

const isOffset = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

/** The signature of a call, also where a client keeps it in the form of the vendor's compatible endpoint. */
export function callSignature(call: ToolCall, { byCall }: Signatures): string | undefined {
  const { extra_content: extra } = call;
  const google = isFields(extra) ? extra['google'] : undefined;
  const own = isFields(google) ? google['thought_signature'] : undefined;
  return byCall.get(call.id ?? '') ?? (typeof own === 'string' && own !== '' ? own : undefined);
}

/** A text as parts, cut so that each signature stands on the stretch it came with. A text that was changed since keeps all of it. */
export function signedParts(text: string, stretches: readonly Stretch[], mark: Fields = {}): Fields[] {
  const parts: Fields[] = [];
  let at = 0;
  const plain = (end: number): void => {
    if (end > at) parts.push({ text: text.slice(at, end), ...mark });
    at = Math.max(at, end);
  };
  for (const { start, end, signature } of stretches.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    plain(Math.min(start, text.length));
    const stop = Math.min(Math.max(end, at), text.length);
    parts.push({ text: text.slice(at, stop), ...mark, thoughtSignature: signature });
    at = stop;
  }
  plain(text.length);
  return parts;
}
