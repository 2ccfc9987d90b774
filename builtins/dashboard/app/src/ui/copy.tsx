import { useEffect, useState } from 'react';
import { Check, Copy, type LucideIcon, X } from 'lucide-react';

const SHOWN_MS = 2000;
type Outcome = 'idle' | 'copied' | 'failed';
const ICONS: Readonly<Record<Outcome, LucideIcon>> = { idle: Copy, copied: Check, failed: X };
const SAID: Readonly<Record<Outcome, string>> = { idle: '', copied: 'Copied', failed: 'The browser refused to copy' };

/** Puts a text on the clipboard and says whether it did. */
export function CopyButton({
  text,
  label,
  hasText = false,
}: {
  readonly text: string;
  readonly label: string;
  readonly hasText?: boolean;
}) {
  const [outcome, setOutcome] = useState<Outcome>('idle');
  useEffect(() => {
    if (outcome === 'idle') return undefined;
    const timer = setTimeout(() => setOutcome('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = (): void => {
    writeText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('failed'),
    );
  };
  const Icon = ICONS[outcome];
  return (
    <>
      <button
        type="button"
        className={hasText ? 'button' : 'icon-button'}
        data-tone="secondary"
        data-size="small"
        aria-label={label}
        title={label}
        onClick={copy}
      >
        <Icon size={15} aria-hidden="true" />
        {hasText && <span>{outcome === 'copied' ? 'Copied' : 'Copy'}</span>}
      </button>
      <span className="visually-hidden" role="status">
        {SAID[outcome]}
      </span>
    </>
  );
}

/** There is no clipboard on a page that came without TLS from another machine. */
async function writeText(text: string): Promise<void> {
  if (!('clipboard' in navigator)) throw new Error('no clipboard');
  await navigator.clipboard.writeText(text);
}

/** A text to copy, in a box that scrolls. */
export function CodeBlock({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div className="code-block">
      <div className="code-block-bar">
        <span>{label}</span>
        <CopyButton text={text} label={`Copy ${label}`} hasText />
      </div>
      <pre className="code-block-text" role="group" aria-label={label} tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
