import { useEffect } from 'react';
import { useLosable, useUnsent } from '../../lib/use-unsent.ts';
import { type Language, readText, textOf } from './document-text.ts';

/** The configuration in force, and the version that a write must find. */
export interface Active {
  readonly config: unknown;
  readonly etag: string | null;
}

export interface Draft {
  readonly text: string;
  readonly language: Language;
  readonly isDirty: boolean;
  /** The version that the text was made of, not the newest one that is known: a write must find it unchanged. */
  readonly etag: string | null;
  /** The configuration that the text was made of. */
  readonly base: unknown;
  readonly setText: (text: string) => void;
  /** Writes what is there in the other language; nothing while it cannot be read. */
  readonly setLanguage: (language: Language) => void;
  /** Puts another configuration in the place of the text. */
  readonly setValue: (value: unknown) => void;
  readonly discard: () => void;
  /** Holds the text against a newer configuration than the one it was made of. */
  readonly rebase: (newest: Active) => void;
}

interface State {
  readonly text: string;
  readonly language: Language;
  /** What the text was made of. */
  readonly base: unknown;
  readonly etag: string | null;
}

/** What is being edited, in the form and in the editor alike. It follows the gateway while nothing was changed, and what was changed waits while the page is left. */
export function useDraft({ config, etag }: Active): Draft {
  const [state, setState] = useUnsent<State>('configuration', () => ({
    language: 'json',
    base: config,
    etag,
    text: textOf(config, 'json'),
  }));
  const isDirty = state.text !== textOf(state.base, state.language);
  useEffect(
    () =>
      setState((before) =>
        before.text === textOf(before.base, before.language)
          ? { ...before, base: config, etag, text: textOf(config, before.language) }
          : before,
      ),
    [config, etag, setState],
  );
  useLosable('configuration', isDirty);
  return {
    text: state.text,
    language: state.language,
    isDirty,
    etag: state.etag,
    base: state.base,
    setText: (text) => setState((before) => ({ ...before, text })),
    setValue: (value) => setState((before) => ({ ...before, text: textOf(value, before.language) })),
    setLanguage: (language) =>
      setState((before) => {
        const reading = readText(before.text, before.language);
        return reading.isRead ? { ...before, language, text: textOf(reading.value, language) } : before;
      }),
    rebase: (newest) => setState((before) => ({ ...before, base: newest.config, etag: newest.etag })),
    discard: () => setState((before) => ({ ...before, base: config, etag, text: textOf(config, before.language) })),
  };
}
