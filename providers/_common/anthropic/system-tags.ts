import type { Fields } from '../fields.ts';

/** What says of texts in a turn of the user that they are the system's. See docs/reference/ingress.md#late-system-messages. */
const [OPENING, CLOSING] = ['<system>\n', '\n</system>'];

const textOf = (block: Fields): string | undefined =>
  block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : undefined;

/** Blocks between tags, which stand in the first text and in the last. */
export function inTags(blocks: readonly Fields[]): Fields[] {
  const isText = (block: Fields): boolean => textOf(block) !== undefined;
  const [first, last] = [blocks.findIndex(isText), blocks.findLastIndex(isText)];
  return blocks.map((block, at) => {
    const text = textOf(block);
    if (text === undefined || (at !== first && at !== last)) return block;
    const [head, tail] = [at === first ? OPENING : '', at === last ? CLOSING : ''];
    return { ...block, text: head + text + tail };
  });
}

/** A turn without the texts between tags. */
export function withoutSystemTexts(blocks: readonly Fields[]): readonly Fields[] {
  let isInside = false;
  return blocks.filter((block) => {
    const said = textOf(block) ?? '';
    if (said.startsWith(OPENING)) isInside = true;
    const isKept = !isInside;
    if (said.endsWith(CLOSING)) isInside = false;
    return isKept;
  });
}
