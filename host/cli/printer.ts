/** Longest time the end of a service waits for what it printed. */
const SERVICE_MS = 1000;

/** Prints what a command has to say on stdout or stderr, and knows whether it arrived. */
export class Printer {
  readonly #open: () => NodeJS.WriteStream;
  #stream: NodeJS.WriteStream | undefined;
  #underWay = 0;
  #onDone: (() => void) | undefined;
  #failure: NodeJS.ErrnoException | undefined;

  /** The stream is opened for the first text: Node's own changes how its descriptor behaves. */
  constructor(open: () => NodeJS.WriteStream) {
    this.#open = open;
  }

  /** Why not everything could be printed. A reader that closed the pipe (EPIPE) does not count as a failure. */
  get failure(): Error | undefined {
    return this.#failure?.code === 'EPIPE' ? undefined : this.#failure;
  }

  /** True once nothing arrives any more, for whatever reason. */
  get isLost(): boolean {
    return this.#failure !== undefined;
  }

  print(text: string): void {
    if (!this.#stream) {
      this.#stream = this.#open();
      this.#stream.on('error', (error) => {
        this.#failure ??= error;
      });
    }
    this.#underWay += 1;
    this.#stream.write(text, () => {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onDone?.();
    });
  }

  /** Resolves when everything is out, or cannot be. A command waits for its reader, a service only a second. */
  async finish(isService: boolean): Promise<void> {
    if (this.#underWay === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onDone = resolve;
    const timer = isService ? setTimeout(resolve, SERVICE_MS) : undefined;
    await promise;
    clearTimeout(timer);
  }
}
