import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { errorMessage } from '../common/error-message.ts';
import { codeFrame, type FaultPlace, faultPlace, importPlace, placeText } from './fault-place.ts';

export interface ImportFault {
  readonly message: string;
  readonly fix: string;
  readonly place: FaultPlace | undefined;
  readonly frame: string | undefined;
}

/** What a failed import says to the author who must correct it: what, where, and how. */
export function importFault(error: unknown, entry: string): ImportFault {
  const [message = ''] = errorMessage(error).split('\n');
  const place = isLate(message)
    ? undefined
    : (missingPlace(message) ?? faultPlace(error, entry) ?? (isSyntax(error) ? syntaxPlace(entry) : undefined));
  const inOther = place && place.file !== entry ? ` at ${placeText(place)}` : '';
  return {
    message: `it cannot be imported: ${message}${inOther}`,
    fix: fixOf(message, error, entry),
    place,
    frame: place && codeFrame(place),
  };
}

const isLate = (message: string): boolean => message.startsWith('its import did not finish');
const isSyntax = (error: unknown): boolean => error instanceof SyntaxError;

function fixOf(message: string, error: unknown, entry: string): string {
  if (/outside a module|Unexpected token 'export'|module is not defined in ES module/.test(message)) {
    return `say "type": "module" in ${nearestManifest(entry) ?? 'a package.json beside it'}`;
  }
  if (/is not supported in strip-only mode/.test(message))
    return 'write only types that can be removed: no enum, no namespace, no parameter properties';
  if (/file extension|under node_modules/i.test(message))
    return 'ship JavaScript in a package; TypeScript is for folders and linked packages';
  if (message.startsWith('Cannot find package')) return 'install the package beside the module, or correct its name';
  if (message.startsWith('Cannot find module')) return 'correct the path; it ends in .ts or .js, as the file does';
  if (message.includes('does not provide an export named'))
    return 'correct the name; a type is imported with "import type"';
  if (isSyntax(error)) return 'correct the syntax';
  if (isLate(message)) return 'wait for nothing while the file loads: do that in create or open';
  return 'correct what the file does while it loads';
}

/** The line that imports what is not there. */
function missingPlace(message: string): FaultPlace | undefined {
  const [, name, file] = /^Cannot find (?:module|package) '([^']+)' imported from (.+)$/.exec(message) ?? [];
  return file === undefined || name === undefined
    ? undefined
    : importPlace(
        file,
        name
          .split('/')
          .at(-1)
          ?.replace(/\.[cm]?[jt]s$/, '') ?? name,
      );
}

/** Node does not say where in plain JavaScript it stopped; its parser for types does. Looks into the files that a file imports, too. */
function syntaxPlace(file: string, seen = new Set<string>()): FaultPlace | undefined {
  if (seen.has(file) || !existsSync(file)) return undefined;
  seen.add(file);
  const source = readFileSync(file, 'utf8');
  const place = parserPlace(source, file);
  if (place) return place;
  for (const [, path = ''] of source.matchAll(/\bfrom\s*['"](\.[^'"]+)['"]/g)) {
    const inner = syntaxPlace(join(dirname(file), path), seen);
    if (inner) return inner;
  }
  return undefined;
}

/** Asked without the warning that Node gives of it, which would stand in the report. */
function parserPlace(source: string, file: string): FaultPlace | undefined {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    stripTypeScriptTypes(source, { sourceUrl: file });
    return undefined;
  } catch (error) {
    return faultPlace(error, file);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function nearestManifest(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return join(folder, 'package.json');
    if (folder === dirname(folder)) return undefined;
  }
}
