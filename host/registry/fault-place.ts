import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where a module failed, counted from 1. */
export interface FaultPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number | undefined;
}

/** Longer lines are shown in part: a bundled module is one line. */
const MAX_COLUMNS = 120;

/** Where in a module, or in the files beside it, an error was made; else in the first file of its stack that is not of a library. */
export function faultPlace(error: unknown, entry: string): FaultPlace | undefined {
  const stack = stackOf(error);
  return headingPlace(stack) ?? framePlace(stack, entry);
}

/** `file:line:column`, for a message. */
export const placeText = ({ file, line, column }: FaultPlace): string =>
  `${file}:${line}${column === undefined ? '' : `:${column}`}`;

/** The line that failed between its neighbours, with a mark under the column; `undefined` where the file cannot be read. */
export function codeFrame({ file, line, column }: FaultPlace): string | undefined {
  const lines = linesOf(file);
  if (lines?.[line - 1] === undefined) return undefined;
  const width = String(line + 1).length;
  const first = Math.max(1, line - 2);
  const shown = lines.slice(first - 1, line + 1).flatMap((text, index) => {
    const number = first + index;
    const row =
      `${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${text.slice(0, MAX_COLUMNS)}`.trimEnd();
    const hasMark = number === line && column !== undefined && column <= MAX_COLUMNS;
    return hasMark ? [row, `  ${' '.repeat(width)} | ${text.slice(0, column - 1).replace(/[^\t]/g, ' ')}^`] : [row];
  });
  return shown.join('\n');
}

/** The line that imports a name, in the file that does. */
export function importPlace(file: string, name: string): FaultPlace | undefined {
  const at = linesOf(file)?.findIndex((text) => /\b(import|from|require)\b/.test(text) && text.includes(name)) ?? -1;
  return at < 0 ? undefined : { file, line: at + 1, column: undefined };
}

/** The stack of an error, or of whatever was thrown; empty without one. */
export function stackOf(error: unknown): string {
  try {
    const { stack } = error as { readonly stack?: unknown }; // throws for what has no members
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  }
}

/** Node puts the place of a syntax error before the stack: `file:3`, the source, and marks under what it did not understand. */
function headingPlace(stack: string): FaultPlace | undefined {
  const [, file, line, source] =
    /^(\/[^\n]*|file:[^\n]*|[A-Za-z]:\\[^\n]*):(\d+)\n((?:(?!\n\n)[^])*)/.exec(stack) ?? [];
  if (file === undefined || line === undefined) return undefined;
  const marks = source?.split('\n').find((text) => /^\s*\^+\s*$/.test(text));
  return { file: pathOf(file), line: Number(line), column: marks === undefined ? undefined : marks.indexOf('^') + 1 };
}

/** Places in files that a stack names, the innermost first. */
export function framePlaces(stack: string): FaultPlace[] {
  return [
    ...stack.matchAll(/^ {4}at (?:async )?(?:.* \()?((?:file:\/\/|\/|[A-Za-z]:\\)[^\n()]*):(\d+):(\d+)\)?$/gm),
  ].map(([, file = '', line, column]) => ({ file: pathOf(file), line: Number(line), column: Number(column) }));
}

function framePlace(stack: string, entry: string): FaultPlace | undefined {
  const frames = framePlaces(stack);
  const folder = dirname(entry);
  return (
    frames.find(({ file }) => file === entry || (file.startsWith(folder) && !file.includes('node_modules'))) ??
    frames.find(({ file }) => !file.includes('node_modules') && !file.startsWith(GATEWAY))
  );
}

/** The gateway's own folder: what fails there is not the module's fault. */
const GATEWAY = dirname(dirname(fileURLToPath(import.meta.url)));

function pathOf(file: string): string {
  if (!file.startsWith('file:')) return file;
  try {
    return fileURLToPath(file);
  } catch {
    return file;
  }
}

function linesOf(file: string): string[] | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return undefined;
  }
}
