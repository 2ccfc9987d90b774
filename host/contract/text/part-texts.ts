import type { NamesBelow } from './chosen-names.ts';
import { MEDIA_WORDS, PART_MEDIA, PART_WORDS } from './chat-words.ts';
import { readings } from './client-body.ts';
import { textOfFile } from './file-text.ts';
import { membersTexts } from './member-texts.ts';
import { isFields } from '../json/fields.ts';
import type { ChatMessage, ContentPart } from '../wire/chat.ts';

/**
 * Content of one chat message: the string, or the text of each text part; what an earlier turn
 * refused is text too.
 */
export function* contentTexts(message: ChatMessage): Generator<string> {
  const { content } = message;
  if (typeof content === 'string') yield content;
  else if (content) for (const part of content) if (isText(part)) yield partText(part);
}

/** Texts of the parts, also joined: what is cut over two parts reads as one to the model. */
export function* partTexts(parts: readonly ContentPart[], below: NamesBelow): Generator<string> {
  for (const part of parts) yield* onePartTexts(part, below);
  if (parts.filter(isText).length > 1) yield* readings(joinedText(parts));
}

/** Texts of one part; the bytes of images, sounds and files are left out, but for files that hold text. */
export function* onePartTexts(part: ContentPart, below: NamesBelow): Generator<string> {
  const [holder, member] = PART_MEDIA.get(part.type) ?? [];
  const held = holder === undefined ? undefined : part[holder];
  if (holder === undefined || member === undefined || !isFields(held)) {
    yield* membersTexts(part, PART_WORDS, below);
    return;
  }
  const { [holder]: _held, ...rest } = part;
  yield* membersTexts(rest, PART_WORDS, below);
  const media = held[member];
  yield* membersTexts(typeof media === 'string' ? { ...held, [member]: undefined } : held, MEDIA_WORDS, below);
  const text = typeof media === 'string' && part.type !== 'input_audio' ? textOfFile(media) : undefined;
  if (text !== undefined) yield* readings(text);
}

/** What the parts say in plain text, as one. */
export function joinedText(parts: readonly ContentPart[]): string {
  return parts.map(partText).join('');
}

const isText = ({ type }: ContentPart): boolean => type === 'text' || type === 'refusal';

function partText(part: ContentPart): string {
  if (part.type === 'text') return part.text;
  return part.type === 'refusal' ? part.refusal : '';
}
