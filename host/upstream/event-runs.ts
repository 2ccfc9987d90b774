import { dataOf, textOfBytes } from './sse.ts';

/** The data of an event that carries one piece of a text: what stands before the piece and after it, each without the quotes of the string. */
export interface PieceForm {
  readonly before: RegExp;
  readonly after: RegExp;
}

/** Events that are one now. */
interface JoinedEvents {
  readonly data: string;
  readonly raw: string;
  readonly count: number;
}

/** What stands between the quotes of a JSON string: runs of plain characters, with escapes between them. */
const STRING = /^[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*$/;

/** Blocks that are longer are read event by event: what is joined is in memory twice. */
const MAX_BLOCK = 1024 * 1024;

/**
 * Joins events that stand side by side and differ in their piece of text alone into one that carries all of it, in the bytes of all:
 * a text means the same in one piece. Fast models send dozens of them in one read, and each would be decoded by itself.
 */
export class EventRuns {
  readonly #form: PieceForm;

  constructor(form: PieceForm) {
    this.#form = form;
  }

  /** The event with the bytes `raw`, which has one line of data, and those behind it, from `next` on; `undefined` where there is nothing to join. Lines end with LF alone. */
  join(raw: string, block: string, next: number): JoinedEvents | undefined {
    const around = block.length > MAX_BLOCK ? undefined : this.#aroundPiece(raw);
    if (!around) return undefined;
    const { lead, tail } = around;
    const pieces = [raw.slice(lead.length, -tail.length)];
    let at = next;
    for (let piece = pieceAt(block, at, around); piece !== undefined; piece = pieceAt(block, at, around)) {
      pieces.push(piece);
      at += lead.length + piece.length + tail.length;
    }
    if (pieces.length === 1) return undefined;
    const data = `${dataOf(lead.slice(lead.lastIndexOf('\n') + 1)) ?? ''}${pieces.join('')}${tail.trimEnd()}`;
    return { data: textOfBytes(data), raw: block.slice(next - raw.length, at), count: pieces.length };
  }

  /** What stands around the piece in the bytes of an event; `undefined` for one of another form. */
  #aroundPiece(raw: string): Around | undefined {
    const { before, after } = this.#form;
    const dataAt = raw.indexOf('{');
    const start = before.exec(raw.slice(dataAt))?.[0].length;
    if (dataAt < 0 || start === undefined) return undefined;
    const pieceAt = dataAt + start;
    const pieceEnd = raw.lastIndexOf('"');
    if (pieceEnd < pieceAt || !STRING.test(raw.slice(pieceAt, pieceEnd)) || !after.test(raw.slice(pieceEnd, -2)))
      return undefined;
    return { lead: raw.slice(0, pieceAt), tail: raw.slice(pieceEnd) };
  }
}

/** The bytes of an event up to its piece and from there on, blank line included. */
interface Around {
  readonly lead: string;
  readonly tail: string;
}

/** The piece of the event at `at`; `undefined` where that is another event, or has not arrived whole. */
function pieceAt(block: string, at: number, { lead, tail }: Around): string | undefined {
  const start = at + lead.length;
  if (block.slice(at, start) !== lead) return undefined;
  const end = block.indexOf('\n', start) + 2 - tail.length;
  if (end < start || block.slice(end, end + tail.length) !== tail) return undefined;
  const piece = block.slice(start, end);
  return STRING.test(piece) ? piece : undefined;
}
