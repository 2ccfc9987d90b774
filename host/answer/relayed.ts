import type { ChatChunk } from '../contract/index.ts';
import { charactersOfChunk } from './answer-size.ts';
import { Assembly } from './assembly.ts';

/** How much of a stream has been relayed, what it says as a whole, and what is ready to leave. */
export class Relayed {
  readonly assembly = new Assembly();
  /** Characters of the texts that arrived, whatever becomes of them. */
  characters = 0;
  /** Texts have come in lines that were not parsed. */
  isSpoken = false;
  /** Chunks read so far, whether or not anything left. */
  chunks = 0;
  /** Events read so far, where those without a chunk count too: they say that the answer goes on. */
  signs = 0;
  /** True once the upstream said that nothing follows. */
  isDone = false;
  /** What is ready waits for the first event that a client reads: until then the answer may fail as if it had not begun. */
  isOpening = false;
  readonly #assembles: boolean;
  readonly #awaitsVerdict: boolean;
  #out = '';
  #held = '';

  constructor(assembles: boolean, awaitsVerdict: boolean) {
    this.#assembles = assembles;
    this.#awaitsVerdict = awaitsVerdict;
  }

  /** Counts the characters of a chunk that arrived. */
  count(chunk: ChatChunk): void {
    this.characters += charactersOfChunk(chunk);
  }

  /** Remembers a chunk as delivered. */
  keep(chunk: ChatChunk): void {
    if (this.#assembles) this.assembly.add(chunk);
  }

  /** Bytes that leave with this read. */
  send(bytes: string): void {
    this.#out += bytes;
  }

  /** Bytes that guards let pass: they leave with this read, or wait for the verdict on the whole answer. */
  sendGuarded(bytes: string): void {
    if (this.#awaitsVerdict) this.#held += bytes;
    else this.#out += bytes;
  }

  /** Bytes that wait for the answer to begin. */
  get waitingBytes(): number {
    return this.isOpening ? this.#out.length : 0;
  }

  /** What leaves now, once. */
  takeOut(): string {
    if (this.isOpening) return '';
    const out = this.#out;
    this.#out = ''; // may be a large event: it is not kept until the next read
    return out;
  }

  /** What waited for the verdict, once. */
  takeHeld(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}
