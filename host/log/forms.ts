/** One way in which a value may stand in a text. */
export interface Form {
  readonly text: string;
  /** Characters beside it that hold a part of the value, too. */
  readonly hasHead: boolean;
  readonly hasTail: boolean;
}

/**
 * A value as it is, as JSON escapes it, in hex, in base64 and in base64url. Percent-encoding is not among them: the
 * search also looks at the text after percent-decoding it.
 */
export function formsOf(value: string): readonly Form[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const whole = [value, JSON.stringify(value).slice(1, -1), hex, hex.toUpperCase()].map((text) => ({
    text,
    hasHead: false,
    hasTail: false,
  }));
  const encoded = [0, 1, 2].flatMap((before) => [
    base64Form(bytes, before, 'base64'),
    base64Form(bytes, before, 'base64url'),
  ]);
  return [...new Map([...whole, ...encoded].map((form) => [form.text, form])).values()];
}

/**
 * The characters that hold nothing but the value, where `before` bytes precede it in a group of three: those of `user:` in
 * front of a password, for example. A character holds six bits, so the first and the last may hold bits of their neighbours.
 */
function base64Form(value: Buffer, before: number, encoding: 'base64' | 'base64url'): Form {
  const text = Buffer.concat([Buffer.alloc(before), value])
    .toString(encoding)
    .replace(/=+$/, '');
  const start = Math.ceil((8 * before) / 6);
  const end = Math.floor((8 * (before + value.length)) / 6);
  return { text: text.slice(start, end), hasHead: before > 0, hasTail: end < text.length };
}

/** A text with its percent-encoded characters decoded, however often they were encoded. */
export function percentDecoded(text: string): string {
  return text.replace(/(?:%(?:25)*[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replace(/%(?:25)*([0-9a-f]{2})/gi, '$1'), 'hex').toString(),
  );
}
