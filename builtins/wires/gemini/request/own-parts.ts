import { type Fields, isFields } from '../../../../host/contract/index.ts';
import type { Adapted } from '../../../../host/wire/client-request.ts';
import { openEnvelope } from '../../envelope.ts';
import { listOf } from './members.ts';
import { FOREIGN_SIGNATURE } from './signatures.ts';

/**
 * A body for the wire's own vendor, without the secrets of other vendors: it refuses signatures that are not its own. A thought of
 * another vendor goes whole; a call gets the vendor's word for one that it has not made itself. A content that has nothing left goes too.
 * See docs/reference/ingress.md#bodies-in-the-vendors-own-wire. Source: ai.google.dev, "Thought signatures", 2026-11-22.
 */
export function withoutForeignSecrets(value: Readonly<Fields>): Adapted<Readonly<Fields>> {
  const lost: string[] = [];
  const contents = listOf(value['contents']);
  if (!contents) return { request: value, lost };
  const cleaned = contents.map((content, index) => cleanedContent(content, `contents[${index}]`, lost));
  return lost.length === 0
    ? { request: value, lost }
    : { request: { ...value, contents: cleaned.filter((content) => content !== undefined) }, lost };
}

/** The content itself where nothing in it is another vendor's; `undefined` where nothing is left. */
function cleanedContent(content: unknown, at: string, lost: string[]): unknown {
  const parts = isFields(content) ? listOf(content['parts']) : undefined;
  if (!isFields(content) || !parts) return content;
  const cleaned = parts.map((part, index) => cleanedPart(part, `${at}.parts[${index}]`, lost));
  if (cleaned.every((part, index) => part === parts[index])) return content;
  const kept = cleaned.filter((part) => part !== undefined);
  return kept.length > 0 ? { ...content, parts: kept } : undefined;
}

function cleanedPart(part: unknown, at: string, lost: string[]): unknown {
  if (!isFields(part)) return part;
  const name = part['thoughtSignature'] === undefined ? 'thought_signature' : 'thoughtSignature';
  if (openEnvelope(part[name]) === undefined) return part;
  const isOnlySecret =
    part['thought'] === true ||
    (part['text'] === '' && part['functionCall'] === undefined && part['function_call'] === undefined);
  lost.push(isOnlySecret ? at : `${at}.${name}`);
  if (isOnlySecret) return undefined;
  const { [name]: _secret, ...rest } = part;
  return part['text'] === undefined ? { ...rest, [name]: FOREIGN_SIGNATURE } : rest;
}
