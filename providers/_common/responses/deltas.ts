/** A piece of the answer's text. */
export interface TextDelta {
  readonly item: number;
  readonly part: number;
  readonly text: string;
}

const TYPE = '"type": ?"response\\.output_text\\.delta"';

/** Its members in the order of the alphabet, with the type in front or behind, as the vendor and most servers write them. */
const PLAIN_TEXT = new RegExp(
  `^\\{(?:(${TYPE}), ?)?"content_index": ?(\\d+), ?"delta": ?"([^"\\\\\\x00-\\x1f]*)"(?:, ?"item_id": ?"[^"\\\\]*")?` +
    `(?:, ?"logprobs": ?\\[\\])?(?:, ?"obfuscation": ?"[^"\\\\]*")?, ?"output_index": ?(\\d+)` +
    `(?:, ?"sequence_number": ?\\d+)?(?:, ?(${TYPE}))?\\}$`,
);

/**
 * A piece of text without anything that JSON escapes: most events of a stream, which need no parser. `undefined` for every other
 * event. Sources: vercel/ai, recordings "openai-reasoning-encrypted-content-gpt-5-4-split" and "github-copilot-id-rotation", 2026-11-26.
 */
export function plainText(data: string): TextDelta | undefined {
  const [, first, part, text, item, last] = PLAIN_TEXT.exec(data) ?? [];
  if (text === undefined || (first ?? last) === undefined) return undefined;
  return { item: Number(item), part: Number(part), text };
}
