import { useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { Segmented } from '../../ui/form.tsx';
import { Panel } from '../../ui/panel.tsx';
import { CodeEditor, type EditorHandle } from './code-editor.tsx';
import { type Language, readText, textOf } from './document-text.ts';
import type { Draft } from './draft.ts';
import type { Verdict } from './validation.ts';

const LANGUAGES = [
  { value: 'json', label: 'JSON' },
  { value: 'yaml', label: 'YAML' },
] as const;

export function EditorTab({
  draft,
  verdict,
  canWrite,
}: {
  readonly draft: Draft;
  readonly verdict: Verdict;
  readonly canWrite: boolean;
}) {
  const editor = useRef<EditorHandle>(null);
  const { text, language } = draft;
  const reading = readText(text, language);
  const rewrite = (write: (value: unknown) => string): void => {
    if (reading.isRead) draft.setText(write(reading.value));
    editor.current?.focus();
  };
  const line = verdict.kind === 'invalid' ? verdict.line : undefined;
  const actions = (
    <>
      <Segmented
        label="Language"
        value={language}
        choices={LANGUAGES}
        onChange={(next) => draft.setLanguage(next as Language)}
      />
      {canWrite && (
        <Button size="small" disabled={!reading.isRead} onClick={() => rewrite((value) => textOf(value, language))}>
          Format
        </Button>
      )}
      {canWrite && language === 'json' && (
        <Button size="small" disabled={!reading.isRead} onClick={() => rewrite((value) => JSON.stringify(value))}>
          Minify
        </Button>
      )}
    </>
  );
  return (
    <Panel
      title="Document"
      description={
        canWrite
          ? 'Tab indents; press Escape and then Tab to leave the editor.'
          : 'You may look at it, and not change it.'
      }
      actions={actions}
    >
      <CodeEditor
        ref={editor}
        label="Configuration"
        value={text}
        language={language}
        isReadOnly={!canWrite}
        onChange={draft.setText}
        problem={line === undefined ? undefined : { line, message: verdict.problems.join('\n') }}
      />
    </Panel>
  );
}
