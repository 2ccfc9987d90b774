import { bodyNames, bodyTexts, type ClientBody, editedBody } from '../contract/text/client-body.ts';
import type { ChatChunk, Fields } from '../contract/index.ts';
import type { Aside } from '../wire/client-wire.ts';
import type { Assembly } from './assembly.ts';
import type { ChunkFilter } from './guarded/chunk-filter.ts';

/** Choices that no upstream has: each text stands alone in one, so that guards do not join it with the answer's own. */
const FIRST_CHOICE = 1_000_000;

/**
 * Texts of an answer in the client's own wire that no chunk holds, such as results of tools that the vendor runs: plugins read
 * them with the answer, and guards that hold a stream back see them before they leave.
 */
export class Asides {
  readonly #assembly: Assembly;
  readonly #filter: ChunkFilter | undefined;
  #count = 0;
  /** The choices in which texts grow, by block. */
  readonly #growing = new Map<number, number>();

  constructor(assembly: Assembly, filter: ChunkFilter | undefined) {
    this.#assembly = assembly;
    this.#filter = filter;
  }

  /** Keeps the texts for plugins that read the whole answer. */
  keep(aside: Aside): void {
    if ('body' in aside) this.#keepBody(aside.body);
    else this.#assembly.add(asMember(this.#chunkOf(aside)));
  }

  /** What guards make of one: the body that they changed, or the chunk by which they see a piece of a text that grows. */
  screen(aside: Aside): { readonly body?: Readonly<Fields>; readonly chunk?: ChatChunk } {
    if (!('body' in aside)) return { chunk: this.#chunkOf(aside) };
    const passed = editedBody(aside.body, (text) => this.#screenedText(text));
    for (const name of bodyNames(aside.body)) this.#screenedText(name);
    this.#keepBody(passed);
    return passed === aside.body ? {} : { body: passed.value };
  }

  #keepBody(body: ClientBody): void {
    this.#assembly.add(memberChunk(`part ${this.#count++}`, [...bodyTexts(body)]));
  }

  #chunkOf({ block, text, isLast }: Exclude<Aside, { readonly body: unknown }>): ChatChunk {
    const index = this.#growing.get(block) ?? this.#choice();
    if (isLast) this.#growing.delete(block);
    else this.#growing.set(block, index);
    return chunkOf(index, text, isLast);
  }

  #screenedText(text: string): string {
    const index = this.#choice();
    const passed = this.#filter?.([chunkOf(index, text, true)], 'push') ?? [];
    const own = passed.flatMap(({ choices }) => choices).filter((choice) => choice.index === index);
    return own.length === 0 ? text : own.map(({ delta }) => delta.content ?? '').join('');
  }

  #choice(): number {
    return FIRST_CHOICE + this.#count++;
  }
}

const chunkOf = (index: number, content: string, isLast: boolean): ChatChunk => ({
  choices: [{ index, delta: { content }, finish_reason: isLast ? 'stop' : null }],
});

const memberChunk = (name: string, texts: unknown): ChatChunk => ({
  choices: [{ index: 0, delta: { vendor_texts: { [name]: texts } }, finish_reason: null }],
});

/** A chunk as plugins find it in the answer: texts that no chunk held stand beside the others. */
export function asMember(chunk: ChatChunk): ChatChunk {
  const [choice] = chunk.choices;
  return choice && choice.index >= FIRST_CHOICE
    ? memberChunk(`block ${choice.index}`, choice.delta.content ?? '')
    : chunk;
}
