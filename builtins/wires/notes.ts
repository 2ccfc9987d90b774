import { HistoryNotes } from './history-notes.ts';
import { invalidRequest } from '../../host/common/invalid-request.ts';
import { type GatewayError, inPart } from '../../host/contract/index.ts';

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
}
