/** Which calls of tools are answered: every one must be by the turn that follows it, and once. */
export class CallLedger {
  /** False where nothing but tokens is asked for: clients count parts of a conversation. See docs/reference/ingress.md#counting-tokens. */
  readonly #isChecked: boolean;
  readonly #known = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #open = new Map<string, string>();

  constructor(isChecked: boolean) {
    this.#isChecked = isChecked;
  }

  call(id: string, at: string): void {
    this.#known.add(id);
    this.#open.set(id, at);
  }

  /** Why a result cannot be for this call. */
  answer(id: unknown): string | undefined {
    if (typeof id !== 'string') return 'must be a string';
    if (!this.#isChecked) return undefined;
    if (!this.#known.has(id)) return 'answers no tool_use that stands before it';
    if (this.#answered.has(id)) return 'answers a tool_use that is answered already';
    this.#answered.add(id);
    this.#open.delete(id);
    return undefined;
  }

  get isOpen(): boolean {
    return this.#isChecked && this.#open.size > 0;
  }

  /** The first call that is not answered, once; none afterwards. */
  takeOpen(): string | undefined {
    const [at] = this.#isChecked ? this.#open.values() : [];
    this.#open.clear();
    return at;
  }
}
