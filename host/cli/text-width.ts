/** Columns that a terminal gives a text. Nothing here knows colours: they are added last. */

const PLAIN = /^[\x20-\x7e]*$/;
/** East Asian Wide and Fullwidth of Unicode 17 (UAX 11), in blocks: unassigned places of the same block count too. */
const WIDE =
  /^[\u1100-\u115f\u231a\u231b\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\u4dbf\u4dc0-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{16fff}\u{17000}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Emoji}\ufe0f?\u20e3)/u;
/** Nothing but marks on the character before, or what is not shown. */
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]+$/u;

/** Whole characters as a reader counts them: marks and joined pictures stay together. */
const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The widths of most texts are their lengths. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of characters.segment(text)) width += widthOfOne(segment);
  return width;
}

function widthOfOne(character: string): number {
  if (INVISIBLE.test(character)) return 0;
  return WIDE.test(character) || EMOJI.test(character) ? 2 : 1;
}

/** With blanks behind it, so many columns wide; a wider text stays as it is. */
export const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(width - widthOf(text), 0));

/** No wider than this: where it is, its end is left out, and a `…` stands there. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let room = width - 1;
  for (const { segment } of characters.segment(text)) {
    room -= widthOfOne(segment);
    if (room < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}
