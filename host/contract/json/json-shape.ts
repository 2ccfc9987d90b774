/**
 * Deepest nesting of a body, an answer or an event: everything that walks them may recurse. The
 * stack of a process holds some thousands of calls; this leaves room for several functions per
 * level.
 */
export const MAX_DEPTH = 256;

/** What the `RangeError` says of a text that is nested deeper than is read. */
export const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels`;

/**
 * How much a JSON text may hold. Lists, objects and members cost far more than their characters,
 * numbers and texts do not. They are counted before a text is parsed: parsing is what would take
 * the memory.
 */
export interface JsonBounds {
  /** Members of one object: every copy of it costs as many look-ups. */
  readonly fields: number;
  /** Members of all its objects. */
  readonly members: number;
  /** Lists and objects. */
  readonly containers: number;
}

/**
 * What a request may hold, and any other text: far more than honest requests hold, and little
 * enough to be parsed in a short time.
 */
export const TEXT_BOUNDS: JsonBounds = { fields: 25_000, members: 250_000, containers: 1_000_000 };
/** What an answer of 50 MiB may hold; one beyond it would take gigabytes. */
export const ANSWER_BOUNDS: JsonBounds = { fields: 100_000, members: 1_000_000, containers: 4_000_000 };

/**
 * Up to so many of them, what a text holds takes no time and no memory worth a closer look,
 * whatever its shape.
 */
const HARMLESS = 20_000;

/**
 * Why a text must not be parsed; `undefined` when it may be. One that is nested too deep, but not
 * by far, is not found here. It looks for a moment at any text, and closely only at one that could
 * exceed a bound. It does not ask whether the text is JSON: that is what parsing is for.
 *
 * @param text as it came, not yet parsed.
 * @param bounds those of a request, or of an answer.
 * @returns a phrase such as `larger than 25000 members of one object`.
 */
export function shapeProblem(text: string, bounds: JsonBounds): string | undefined {
  return text.length <= HARMLESS || marksIn(text, '{[:', HARMLESS) <= HARMLESS ? undefined : measure(text, bounds);
}

/**
 * False for a text that cannot be nested deeper than 256 levels: it is too short, or opens too few
 * lists and objects. Marks inside strings count here too, so true is only a reason to look closer.
 */
export function mayBeTooDeep(text: string): boolean {
  return text.length > 2 * MAX_DEPTH && marksIn(text, '{[', MAX_DEPTH) > MAX_DEPTH;
}

/**
 * Whether a JSON text is nested deeper than 256 levels; nothing is parsed. Strings may hold any
 * number of brackets: they are passed over.
 */
export function isNestedTooDeep(text: string): boolean {
  if (!mayBeTooDeep(text)) return false;
  return measure(text, { fields: Infinity, members: Infinity, containers: Infinity }) !== undefined;
}

/**
 * How often these characters stand in a text, inside its strings too; beyond `most` it is not
 * counted on.
 */
function marksIn(text: string, marks: string, most: number): number {
  let count = 0;
  for (const mark of marks) {
    for (let at = text.indexOf(mark); at >= 0 && count <= most; at = text.indexOf(mark, at + 1)) count += 1;
  }
  return count;
}

/**
 * Codes of the characters that a text is made of. `[` and `{`, and `]` and `}`, differ in `brace`
 * alone.
 */
export const CODE = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  backslash: 0x5c,
  left: 0x5b,
  right: 0x5d,
  brace: 0x20,
} as const;

/** What is wrong with a text's shape; up to its first syntax error, if it has one. */
function measure(text: string, bounds: JsonBounds): string | undefined {
  /** Members of each object that is open, by its level. */
  const fields = new Int32Array(MAX_DEPTH + 2);
  let depth = 0;
  let members = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CODE.quote) {
      at = stringEnd(text, at);
      if (at < 0) return undefined;
    } else if (code === CODE.colon) {
      members += 1;
      const own = (fields[depth] ?? 0) + 1;
      fields[depth] = own;
      if (own > bounds.fields) return `larger than ${bounds.fields} members of one object`;
      if (members > bounds.members) return `larger than ${bounds.members} members of objects`;
    } else if ((code & ~CODE.brace) === CODE.left) {
      depth += 1;
      containers += 1;
      fields[depth] = 0;
      if (depth > MAX_DEPTH) return TOO_DEEP;
      if (containers > bounds.containers) return `larger than ${bounds.containers} lists and objects`;
    } else if ((code & ~CODE.brace) === CODE.right) depth -= 1;
  }
  return undefined;
}

/**
 * Index of the quote that ends the string whose first quote is at `at`; -1 when none does.
 *
 * @param text JSON, or what begins like it.
 * @param at index of the quote that begins the string.
 */
export function stringEnd(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end > 0 && text.charCodeAt(end - 1) === CODE.backslash && isEscaped(text, end))
    end = text.indexOf('"', end + 1);
  return end;
}

/** Behind an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === CODE.backslash) before -= 1;
  return (at - before) % 2 === 1;
}
