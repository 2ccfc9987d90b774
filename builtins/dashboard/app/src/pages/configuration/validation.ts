import { useEffect, useState } from 'react';
import { isAbort, messageOf } from '../../api/api-error.ts';
import { typedSecrets } from '../../instances/typed-secrets.ts';
import { misplacedMarkers, sendingOf } from '../../lib/config-sending.ts';
import { useApi } from '../../services.ts';
import { type Language, readText } from './document-text.ts';
import type { Draft } from './draft.ts';

const WAIT_MS = 500;

export interface Verdict {
  readonly kind: 'checking' | 'valid' | 'invalid' | 'unknown';
  /** What is wrong, a problem each. */
  readonly problems: readonly string[];
  readonly line?: number | undefined;
}

const CHECKING: Verdict = { kind: 'checking', problems: [] };

/** What can be said of a text without the gateway: that it cannot be read, or holds what stands for a secret where none was, or a secret where a reference belongs. */
export function localVerdict(text: string, language: Language, base: unknown): Verdict | undefined {
  const reading = readText(text, language);
  if (!reading.isRead) return { kind: 'invalid', problems: [reading.message], line: reading.line };
  const problems = [
    ...misplacedMarkers(base, reading.value).map(
      (field) =>
        `${field} holds a value that was withheld: leave it where it was, or put the value or a \${VARIABLE} in its place`,
    ),
    ...typedSecrets(reading.value).map(({ path, text: why }) => `${path}: ${why}`),
  ];
  return problems.length === 0 ? undefined : { kind: 'invalid', problems };
}

/** Asks the gateway, when the reader pauses, whether it would take the text. */
export function useVerdict(
  { text, language, base }: Pick<Draft, 'text' | 'language' | 'base'>,
  isAsked: boolean,
): Verdict {
  const api = useApi();
  const [verdict, setVerdict] = useState<Verdict>(CHECKING);
  useEffect(() => {
    if (!isAsked) return undefined;
    const local = localVerdict(text, language, base);
    if (local) {
      setVerdict(local);
      return undefined;
    }
    const reading = readText(text, language);
    if (!reading.isRead) return undefined;
    setVerdict(CHECKING);
    const given = new AbortController();
    const ask = async (): Promise<void> => {
      const { written, headers } = sendingOf(base, reading.value, reading.written);
      await api.json('/admin/config/validate', { method: 'POST', written, headers, signal: given.signal });
      setVerdict({ kind: 'valid', problems: [] });
    };
    const timer = setTimeout(() => {
      ask().catch((error: unknown) => {
        if (!isAbort(error)) setVerdict(refused(error));
      });
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      given.abort();
    };
  }, [text, language, base, isAsked, api]);
  return verdict;
}

/** Only a 400 is about the text. */
function refused(error: unknown): Verdict {
  const isAbout = error instanceof Error && 'status' in error && error.status === 400;
  const problems = messageOf(error)
    .split('\n')
    .filter((line) => line !== '');
  const [, line] = /\bline (\d+)/.exec(problems[0] ?? '') ?? [];
  return { kind: isAbout ? 'invalid' : 'unknown', problems, line: line === undefined ? undefined : Number(line) };
}
