import type { ChatChunk } from '../contract/index.ts';
import { bytesOfText, dataOf, textOfBytes } from '../upstream/sse.ts';

/** Which text of a delta a piece belongs to. */
export type TextKind = 'content' | 'reasoning_content' | 'arguments';

/**
 * Chunks of one stream mostly differ in one string: the piece of text they carry. Once a line was parsed and corrected,
 * what stands before and after that string is remembered. A later line with the same beginning and end is not parsed: it
 * is sent with the corrected beginning and end, or unchanged where there was nothing to correct. A line that fits no
 * remembered frame is parsed. All texts are byte strings.
 */
export interface KnownFrame {
  /** What a line begins and ends with, `data:` included. */
  readonly lead: string;
  readonly tail: string;
  /** What leaves in their place; the tail ends the event. */
  readonly outLead: string;
  readonly outTail: string;
  /** True when lines leave as they came. */
  readonly isSame: boolean;
  readonly kind: TextKind;
  readonly choice: number;
  /** Index of the tool call, for arguments. */
  readonly tool: number;
}

/** The start of the one string that differs, by its member name. */
const PIECE = /"(content|reasoning_content|reasoning|arguments)"\s*:\s*"/g;
/** Stands for the piece of text while a frame is studied. */
const MARK = 'gw-piece-7f3a';
const MAX_FRAMES = 4;
/** After so many lines the stream is not studied any more: its chunks may never repeat. */
const MAX_STUDIED = 16;

export class KnownFrames {
  /** Where the piece of text of the line that matched last starts and ends, and where its line ends. */
  pieceStart = 0;
  pieceEnd = 0;
  lineEnd = 0;
  #frames: KnownFrame[] = [];
  #studied = 0;

  /** The frame that the line at `at` fits, or `undefined`. Sets the positions above. Slices are compared: that costs a fifth of `startsWith`. */
  match(block: string, at: number): KnownFrame | undefined {
    for (let index = 0; index < this.#frames.length; index += 1) {
      const frame = this.#frames[index] as KnownFrame;
      const start = at + frame.lead.length;
      if (block.slice(at, start) !== frame.lead) continue;
      const end = block.indexOf('\n', start);
      const stop = end > 0 && block.charCodeAt(end - 1) === 0x0d ? end - 1 : end;
      const pieceEnd = stop - frame.tail.length;
      if (pieceEnd < start || block.slice(pieceEnd, stop) !== frame.tail) continue;
      this.pieceStart = start;
      this.pieceEnd = pieceEnd;
      this.lineEnd = end;
      if (index > 0) this.#moveToFront(index);
      return frame;
    }
    return undefined;
  }

  /**
   * Learns from a line that was parsed. `correct` repeats the correction on a fresh parse, whatever the piece of text is,
   * and says whether there was anything to correct.
   */
  learn(line: string, correct: (chunk: ChatChunk) => boolean): void {
    if (this.#studied >= MAX_STUDIED) return;
    this.#studied += 1;
    const frame = study(line, correct);
    if (frame) this.#frames = [frame, ...this.#frames].slice(0, MAX_FRAMES);
  }

  /** The event of a chunk that was parsed and leaves as it came. */
  unchanged(data: string): string {
    return dataEvent(data);
  }

  /** Voids what was learned, when later chunks would be corrected differently. */
  forget(): void {
    this.#frames = [];
  }

  #moveToFront(index: number): void {
    const [frame] = this.#frames.splice(index, 1);
    if (frame) this.#frames.unshift(frame);
  }
}

/** One event of the common wire, as a byte string. */
export function dataEvent(data: string): string {
  return `data: ${data}\n\n`;
}

function study(line: string, correct: (chunk: ChatChunk) => boolean): KnownFrame | undefined {
  const pieces = [...line.matchAll(PIECE)];
  const [piece] = pieces;
  if (!piece || pieces.length > 1) return undefined;
  const start = piece.index + piece[0].length;
  const end = closingQuote(line, start);
  if (end === undefined) return undefined;
  const lead = line.slice(0, start);
  const tail = line.slice(end);
  let chunk: ChatChunk;
  try {
    chunk = JSON.parse(textOfBytes(`${lead.slice(lead.indexOf('{'))}${MARK}${tail}`)) as ChatChunk;
  } catch {
    return undefined;
  }
  if (chunk.usage) return undefined; // each is counted, also the one that equals an earlier one
  const isChanged = correct(chunk);
  const place = placeOfMark(chunk);
  const [before = '', after, ...more] = (
    isChanged ? bytesOfText(JSON.stringify(chunk)) : `${dataOf(lead) ?? lead}${MARK}${tail}`
  ).split(MARK);
  if (!place || after === undefined || more.length > 0) return undefined;
  const outLead = `data: ${before}`;
  return { lead, tail, outLead, outTail: `${after}\n\n`, isSame: outLead === lead && after === tail, ...place };
}

/** Position of the quote that ends the string starting at `from`. */
function closingQuote(line: string, from: number): number | undefined {
  for (let at = from; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at;
  }
  return undefined;
}

/** Which text of the only choice holds the mark; `undefined` when the chunk is of another kind, or holds more than its text. */
function placeOfMark(chunk: ChatChunk): Pick<KnownFrame, 'kind' | 'choice' | 'tool'> | undefined {
  const [choice, second] = chunk.choices;
  if (!choice || second || choice.finish_reason || choice.logprobs) return undefined;
  const { content, reasoning_content: reasoning, tool_calls: calls, ...others } = choice.delta;
  if (Object.values(others).some((value) => value !== null)) return undefined;
  const [call, other] = calls ?? [];
  if (content === MARK && !reasoning && !call) return { kind: 'content', choice: choice.index, tool: -1 };
  if (reasoning === MARK && !content && !call) return { kind: 'reasoning_content', choice: choice.index, tool: -1 };
  if (
    content ||
    reasoning ||
    !call ||
    other ||
    call.function?.arguments !== MARK ||
    call.id ||
    typeof call.index !== 'number'
  )
    return undefined;
  return { kind: 'arguments', choice: choice.index, tool: call.index };
}
