import { type Fields, isFields } from '../../../../host/contract/index.ts';

/** Marks an item of `reasoning_details` as a signature of this wire's vendor; its provider modules write and read the same. */
export const FORMAT = 'google-gemini-v1';

/** What clients of this wire put on calls that came without a signature: it means nothing. Source: ai.google.dev, "Thought signatures", 2026-11-22. */
export const FOREIGN_SIGNATURE = 'skip_thought_signature_validator';

/** Where in an answer a signature belongs: on a call, or on a stretch of its text or of its thoughts, in UTF-16 code units. */
export type Place = { readonly id: string } | { readonly start: number; readonly end: number; readonly thought?: true };

export function signatureItem(index: number, place: Place, signature: string): Fields {
  return { type: 'reasoning.encrypted', index, format: FORMAT, ...place, data: signature };
}

export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly signature: string;
}

/** The items of an answer's `reasoning_details`: signatures of this vendor by their places, and what has none on this wire. */
export interface SortedDetails {
  readonly byCall: ReadonlyMap<string, string>;
  readonly text: readonly Stretch[];
  readonly thoughts: readonly Stretch[];
  readonly foreign: readonly Fields[];
  /** Whether there are signatures of this vendor. */
  readonly isOwn: boolean;
}

export function sortDetails(details: unknown): SortedDetails {
  const byCall = new Map<string, string>();
  const [text, thoughts]: [Stretch[], Stretch[]] = [[], []];
  const foreign: Fields[] = [];
  for (const item of Array.isArray(details) ? details.filter(isFields) : []) {
    const { format, data: signature, id, start, end, thought } = item;
    if (format !== FORMAT) foreign.push(item);
    else if (typeof signature !== 'string' || signature === '') continue;
    else if (typeof id === 'string') byCall.set(id, signature);
    else if (typeof start === 'number' && typeof end === 'number')
      (thought === true ? thoughts : text).push({ start, end, signature });
    else foreign.push(item); // it names no place here: it comes from a service that offers this vendor's models
  }
  return { byCall, text, thoughts, foreign, isOwn: byCall.size + text.length + thoughts.length > 0 };
}

/** A text as parts, cut so that each signature stands on the stretch it came with. `base` is where the text begins in its whole. */
export function signedParts(text: string, stretches: readonly Stretch[], mark: Fields = {}, base = 0): Fields[] {
  const parts: Fields[] = [];
  let at = 0;
  const placeOf = (offset: number): number => Math.min(Math.max(offset - base, at), text.length);
  for (const { start, end, signature } of stretches.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const [from, to] = [placeOf(start), placeOf(end)];
    if (from > at) parts.push({ text: text.slice(at, from), ...mark });
    parts.push({ text: text.slice(from, to), ...mark, thoughtSignature: signature });
    at = to;
  }
  if (at < text.length) parts.push({ text: text.slice(at), ...mark });
  return parts;
}
