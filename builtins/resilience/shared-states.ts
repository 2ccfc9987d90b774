import type { HintValue, TeamHints } from '../../host/state/team-hints.ts';
import { type CredentialWord, LocalCredentialStates } from '../../host/upstream/credentials/credential-states.ts';

interface CredentialHint extends HintValue {
  readonly word: CredentialWord;
}

/** What is known of a credential, where several processes of one gateway call with it: each says what it learns. */
export class SharedCredentialStates extends LocalCredentialStates {
  readonly #stop: (() => void) | undefined;

  /** `id` as its instance and its name. */
  constructor(now: () => number, id: string, hints: TeamHints | undefined) {
    super(now);
    if (!hints) return;
    this.tell = (word) =>
      hints.send('credential', id, { forMs: word.kind === 'clear' ? 0 : word.ms, word } as CredentialHint);
    this.#stop = hints.on('credential', id, (value) => {
      const { word, forMs } = value as CredentialHint;
      this.hear(word.kind === 'clear' ? word : { ...word, ms: forMs });
    });
  }

  close(): void {
    this.#stop?.();
  }
}
