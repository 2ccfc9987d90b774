import { type ChatChunk, readUsage, type Usage } from '../contract/index.ts';
import { isFields } from '../contract/json/fields.ts';
import { withTier } from './charged-usage.ts';

const counts = (usage: Usage): boolean => usage.total_tokens > 0 || usage.prompt_tokens > 0;

/**
 * What one stream says it used. Clients get it with the chunk that ends the answer, or after it (docs/reference/providers.md#streams): xAI and
 * Perplexity also send it with each piece of text, Groq and Moonshot in places of their own (`x_groq.usage`, `choices[].usage`).
 * Sources: streams printed in M-Lai-ai/LLM-Provider-reference, Grok/streaming.md, and in tests of vercel/ai and its ports for
 * Perplexity and Groq; Moonshot's as printed by its callers on GitHub; read 2026-11-22.
 */
export class ChunkUsage {
  /** The last that counted something. */
  last: Usage | undefined;
  /** The last that no chunk has taken along. */
  #held: Usage | undefined;
  readonly #isStripped: boolean;
  /** Names of sums that the stream states in a form that is none. */
  readonly doubts: string[] = [];

  constructor(isStripped: boolean) {
    this.#isStripped = isStripped;
  }

  /** Looks for usage in other places of a chunk as it arrived, from the one on that ends the answer. */
  look(chunk: ChatChunk, isFinished: boolean): void {
    if (isFields(chunk.usage) || !(isFinished || ends(chunk.choices))) return;
    this.#hold(nestedUsage(chunk));
  }

  /** Reads and corrects the usage of a chunk, in place; `isFinished` once the answer, or a choice of it, has ended. True on any change. */
  read(chunk: ChatChunk, isFinished: boolean): boolean {
    if (!('usage' in chunk)) return false;
    const read = readUsage(chunk.usage, this.doubts);
    const usage = read && withTier(read, chunk['service_tier']);
    if (usage && counts(usage)) this.last = usage;
    if (!usage && chunk.usage === null && !this.#isStripped) return false;
    if (usage && !this.#isStripped && (isFinished || chunk.choices.length === 0)) {
      this.#held = undefined;
      chunk.usage = usage;
      return true;
    }
    delete chunk.usage;
    this.#hold(usage);
    return true;
  }

  /** A chunk for what was held back, once the stream is complete. */
  rest(head: Omit<ChatChunk, 'choices'>): ChatChunk | undefined {
    return this.#held && !this.#isStripped ? { ...head, choices: [], usage: this.#held } : undefined;
  }

  #hold(usage: Usage | undefined): void {
    if (!usage || !counts(usage)) return;
    this.last = usage;
    this.#held = usage;
  }
}

const ends = (choices: unknown): boolean =>
  Array.isArray(choices) && choices.some((choice: unknown) => isFields(choice) && Boolean(choice['finish_reason']));

/** The usage inside a choice, or inside a member that the vendor adds. */
function nestedUsage({ choices, ...members }: ChatChunk): Usage | undefined {
  const holders = [...(Array.isArray(choices) ? choices : []), ...Object.values(members)].filter(isFields);
  return readUsage(holders.find(({ usage }) => isFields(usage))?.['usage']);
}
