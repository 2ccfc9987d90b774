import { type RefObject, useEffect, useImperativeHandle, useRef } from 'react';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Language } from './document-text.ts';

/** Longer texts are edited without colours. */
const MOST_COLOURED = 200_000;

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-name)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--code-value)' },
  { tag: tags.comment, color: 'var(--text-faint)', fontStyle: 'italic' },
]);

const LOOK = EditorView.theme({
  '&': { height: 'min(62vh, 640px)', color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    color: 'var(--text-faint)',
    backgroundColor: 'var(--surface-sunken)',
    borderRight: '1px solid var(--border)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--code-line)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--code-selection)',
  },
  '.cm-tooltip': { color: 'var(--text)', backgroundColor: 'var(--surface-raised)', border: '1px solid var(--border)' },
});

/**
 * Typing over a selection is done here, and not by the browser: Chromium would give what it writes the look of what it
 * replaces, by a style attribute that the page's policy refuses.
 */
const TYPING_OVER = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    if (
      inputType !== 'insertText' ||
      data === null ||
      view.composing ||
      view.state.readOnly ||
      view.state.selection.main.empty
    )
      return false;
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    return true; // it is prevented
  },
});

export interface EditorHandle {
  readonly focus: () => void;
}

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  readonly language: Language;
  readonly isReadOnly: boolean;
  /** What is wrong, at a line from 1. */
  readonly problem?: { readonly message: string; readonly line: number } | undefined;
  readonly onChange: (value: string) => void;
  readonly ref?: RefObject<EditorHandle | null>;
}

/**
 * An editor of code. It stands in a shadow root, where its styles are sheets that scripts adopt: the page's policy refuses
 * the style elements that it would add elsewhere. Tab indents; Escape and then Tab leaves.
 */
export function CodeEditor({ label, value, language, isReadOnly, problem, onChange, ref }: CodeEditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const change = useRef(onChange);
  const parts = useRef({ language: new Compartment(), editing: new Compartment() });
  const isColoured = value.length <= MOST_COLOURED;
  const { message, line } = problem ?? {};
  change.current = onChange;
  useImperativeHandle(ref, () => ({ focus: () => view.current?.focus() }), []);
  useEffect(() => {
    const element = holder.current;
    if (!element) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const { current } = parts;
    const heard = EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) change.current(state.doc.toString());
    });
    const extensions = [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      lintGutter(),
      syntaxHighlighting(COLOURS),
      LOOK,
      TYPING_OVER,
      keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap]),
      EditorState.tabSize.of(2),
      current.language.of([]),
      current.editing.of([]),
      heard,
    ];
    const made = new EditorView({ root, parent: root, state: EditorState.create({ extensions }) });
    view.current = made;
    return () => {
      made.destroy();
      view.current = undefined;
    };
  }, []);
  useEffect(() => {
    const { language: part, editing } = parts.current;
    view.current?.dispatch({
      effects: [
        part.reconfigure(isColoured ? grammarOf(language) : []),
        editing.reconfigure(editingOf(label, isReadOnly)),
      ],
    });
  }, [language, isReadOnly, label, isColoured]);
  useEffect(() => {
    const { current } = view;
    if (current && current.state.doc.toString() !== value)
      current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const { current } = view;
    if (current)
      current.dispatch(
        setDiagnostics(
          current.state,
          message === undefined || line === undefined ? [] : [diagnosticAt(current.state, { message, line })],
        ),
      );
  }, [message, line, value]);
  return <div className="code-editor" ref={holder} />;
}

const grammarOf = (language: Language): Extension => (language === 'json' ? json() : yaml());

function editingOf(label: string, isReadOnly: boolean): Extension {
  return [
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': String(isReadOnly), tabindex: '0' }),
  ];
}

function diagnosticAt(
  { doc }: EditorState,
  { message, line }: { readonly message: string; readonly line: number },
): Diagnostic {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return { from, to, severity: 'error', message };
}
