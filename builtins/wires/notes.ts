import { HistoryNotes } from './history-notes.ts';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import { type GatewayError, inPart } from '../../host/contract/index.ts';
import { knownWord } from './words.ts';

const MAX_MESSAGE = 512;

/** What reading a body of another wire finds: what has no place in the common format, and the first thing that must not be left out. */
export class Notes {
  readonly lost: string[] = [];
  readonly history = new HistoryNotes();
  refusals = 0;
  refusal: GatewayError | undefined;

  lose(path: string): void {
    this.lost.push(path);
  }

  /** Only a target of the same wire can be asked then. The first refusal counts. */
  refuse(message: string): void {
    this.refusals += 1;
    this.refusal ??= invalidRequest(inPart(message, MAX_MESSAGE));
  }

  /** The word of a list that the vendor adds to; another text is lost, by `lostAs`. `undefined` for both, and where nothing is given. Refused where it is not a text. */
  word<W extends string>(value: unknown, words: readonly W[], path: string, lostAs = path): W | undefined {
    if (typeof value === 'string') return knownWord(words, value, () => this.lose(lostAs));
    if (value !== undefined && value !== null) this.refuse(`${path} must be a string`);
    return undefined;
  }
}
