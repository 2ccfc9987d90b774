import { LineCounter, parseDocument, stringify } from 'yaml';
import { isFields } from '../../lib/fields.ts';
import type { Fields } from '../../lib/fields.ts';

export type Language = 'json' | 'yaml';

/** A configuration as it was typed: what it holds, or why it cannot be read. */
export type Reading =
  | { readonly isRead: true; readonly value: unknown; /** What is sent. */ readonly written: string }
  | { readonly isRead: false; readonly message: string; /** From 1. */ readonly line: number | undefined };

export function textOf(value: unknown, language: Language): string {
  return language === 'json' ? JSON.stringify(value, undefined, 2) : stringify(value, { lineWidth: 0 });
}

export function readText(text: string, language: Language): Reading {
  return language === 'json' ? readJsonText(text) : readYamlText(text);
}

/** Sent as it is, so that the gateway sees what is written twice. */
function readJsonText(text: string): Reading {
  try {
    return { isRead: true, value: JSON.parse(text) as unknown, written: text };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { isRead: false, message, line: lineOfJsonError(message, text) };
  }
}

/** Browsers say a line, or a position. */
function lineOfJsonError(message: string, text: string): number | undefined {
  const [, line] = /line (\d+)/.exec(message) ?? [];
  if (line !== undefined) return Number(line);
  const [, position] = /position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return text.slice(0, Number(position)).split('\n').length;
  return /end of|unterminated/i.test(message) ? text.split('\n').length : undefined;
}

/** Keys are texts, maps may be merged, and no tag makes what JSON cannot hold. */
const AS_THE_GATEWAY = { stringKeys: true, merge: true, resolveKnownTags: false } as const;

function readYamlText(text: string): Reading {
  const document = parseDocument(text, { lineCounter: new LineCounter(), ...AS_THE_GATEWAY });
  const [error] = [...document.errors, ...document.warnings];
  if (error)
    return {
      isRead: false,
      message: error.message.split('\n', 1)[0] ?? 'it cannot be read',
      line: error.linePos?.[0].line,
    };
  try {
    const value: unknown = document.toJS();
    return { isRead: true, value, written: JSON.stringify(value ?? null) };
  } catch (failure) {
    return { isRead: false, message: failure instanceof Error ? failure.message : String(failure), line: undefined };
  }
}

/** Names of the top-level parts in which two configurations differ. */
export function changedParts(before: Fields, after: Fields): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/** The configuration as an object to change; an empty one for what is not an object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}
