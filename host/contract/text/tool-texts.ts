import type { Words } from './chat-words.ts';
import { inReply } from './chosen-names.ts';
import { readings } from './client-body.ts';
import { isFields, TOKEN } from '../json/fields.ts';
import { membersTexts, named } from './member-texts.ts';
import type { ToolReply } from '../wire/other.ts';

/** Words of the wire in the blocks that a tool answers with. */
const BLOCK_WORDS: Words = new Map([['type', /^(text|image|audio|resource|resource_link)$/]]);
const BYTES_WORDS: Words = new Map([...BLOCK_WORDS, ['data', TOKEN], ['mimeType', TOKEN]]);
const RESOURCE_WORDS: Words = new Map([
  ['blob', TOKEN],
  ['mimeType', TOKEN],
]);

/**
 * Texts of the blocks, also joined, and of the structured answer; the bytes of images, audio and
 * files are left out.
 */
export function* toolReplyTexts({ content, structuredContent }: ToolReply): Generator<string> {
  for (const block of content) {
    const { resource, ...rest } = isFields(block) ? block : { resource: block };
    yield* membersTexts(
      rest,
      rest['type'] === 'image' || rest['type'] === 'audio' ? BYTES_WORDS : BLOCK_WORDS,
      inReply,
    );
    yield* membersTexts(resource, RESOURCE_WORDS, inReply);
  }
  const texts = blockTexts(content);
  if (texts.length > 1) yield* readings(texts.join(''));
  yield* named(structuredContent, 'own', inReply);
}

/** What a tool's answer says in plain text, block by block. */
export function blockTexts(content: ToolReply['content']): string[] {
  return content.flatMap((block) => {
    if (!isFields(block)) return [];
    const { text } = isFields(block['resource']) ? block['resource'] : block;
    return typeof text === 'string' ? [text] : [];
  });
}
