import { UsageError } from '../../../host/cli/command.ts';
import { type Operation as PatchOperation, patched } from '../../../host/config/patch/json-patch.ts';
import { pointerText } from '../../../host/config/patch/json-pointer.ts';
import { isFields } from '../../../host/contract/json/fields.ts';
import { parseJson } from '../../../host/contract/json/json.ts';
import type { Client } from '../client.ts';
import { isRow, type Row } from '../show.ts';

/** One operation of a JSON Patch (RFC 6902), as it is sent. */
export type Operation = Readonly<Record<string, unknown>>;

/** The configuration as the gateway shows it, and the version that a patch of it names. */
export interface ShownConfiguration {
  readonly document: Readonly<Record<string, unknown>>;
  readonly etag: string;
}

const CONFIG = '/admin/config';

export async function shownConfiguration(client: Client): Promise<ShownConfiguration> {
  const answer = await client.send('GET', CONFIG);
  const document = client.objectOf('GET', CONFIG, answer);
  if (answer.etag === undefined) throw new UsageError(`the gateway at ${client.url} does not say which version it has`);
  return { document, etag: answer.etag };
}

/** What a patch would change, and what it did change. A version that was made meanwhile is refused. */
export class ConfigurationPatch {
  readonly #client: Client;
  readonly #operations: readonly Operation[];
  readonly #headers: Readonly<Record<string, string>>;

  constructor(client: Client, operations: readonly Operation[], etag: string) {
    this.#client = client;
    this.#operations = operations;
    this.#headers = { 'If-Match': etag, 'Content-Type': 'application/json-patch+json' };
  }

  async changes(): Promise<readonly Row[]> {
    return (await this.#send(`${CONFIG}/diff`)).changes;
  }

  apply(): Promise<{ readonly version: unknown; readonly changes: readonly Row[] }> {
    return this.#send(`${CONFIG}/patch`);
  }

  async #send(path: string): Promise<{ readonly version: unknown; readonly changes: readonly Row[] }> {
    const answer = await this.#client.send('POST', path, this.#operations, this.#headers);
    const { version, changes } = this.#client.objectOf('POST', path, answer);
    return { version, changes: Array.isArray(changes) ? changes.filter(isRow) : [] };
  }
}

export type PlaceFlag = 'set' | 'unset' | 'add';

/** The patch that flags ask for, each in the document that those before it leave. */
export function operationsOf(
  document: unknown,
  given: readonly (readonly [flag: PlaceFlag, text: string])[],
): readonly Operation[] {
  let left = document;
  return given.map(([flag, text]) => {
    const operation = operationOf(left, flag, text);
    left = patched(left, operation);
    return { ...operation, path: pointerText(operation.path) };
  });
}

/**
 * The operation that one flag asks for. Places are written with dots, as in `targets.openai.weight`: in a list a name stands for
 * the entry that has it, and a number for the entry at that place. A name that holds dots is quoted: `aliases["gpt-4.1"]`.
 */
function operationOf(document: unknown, flag: PlaceFlag, text: string): PatchOperation {
  const [place, given] = flag === 'unset' ? [text, ''] : splitAt(text, flag);
  const { path, value: there, inside } = find(document, flag, place);
  if (flag === 'unset') return { op: 'remove', path };
  const value = valueOf(flag, given);
  if (there === undefined) return { op: 'add', path, value: within(inside, flag === 'set' ? value : [value]) };
  if (flag === 'set') return { op: 'replace', path, value };
  if (!Array.isArray(there)) throw new UsageError(`--add ${place}: it is not a list; use --set`);
  return { op: 'add', path: [...path, '-'], value };
}

/** The place ends at the first `=` that does not stand in quotes. */
function splitAt(text: string, flag: PlaceFlag): readonly [place: string, value: string] {
  const at = /^(?:"(?:[^"\\]|\\.)*"|[^"=])*/.exec(text)?.[0].length ?? 0;
  if (text[at] === '=') return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(
    `--${flag} "${text}" lacks a value: write it as ${flag === 'add' ? 'plugins' : 'aliases.fast'}=<json>`,
  );
}

/** JSON; what does not look like it is a text. */
function valueOf(flag: PlaceFlag, text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    if (!/^\s*["[{]/.test(text)) return text;
    throw new UsageError(`--${flag}: "${text}" is not JSON`, { cause });
  }
}

interface Found {
  readonly path: readonly string[];
  /** `undefined` where there is none yet. */
  readonly value: unknown;
  /** Names below it of a place whose maps are not there yet either. */
  readonly inside: readonly string[];
}

/** A value below maps that are new. */
const within = (names: readonly string[], value: unknown): unknown =>
  names.reduceRight((inner, name) => Object.fromEntries([[name, inner]]), value);

function find(document: unknown, flag: PlaceFlag, place: string): Found {
  const parts = partsOf(place);
  const path: string[] = [];
  let value = document;
  for (const [index, part] of parts.entries()) {
    const key = Array.isArray(value) ? entryOf(value, part, place) : part;
    const next = memberAt(value, key);
    path.push(key);
    if (next === undefined) {
      if (flag === 'unset' || !isFields(value)) throw new UsageError(`--${flag} ${place}: there is no "${part}"`);
      return { path, value: next, inside: parts.slice(index + 1) };
    }
    value = next;
  }
  return { path, value, inside: [] };
}

const PART = /(?:^|\.)([^.[\]"]+)|\[(\d+)\]|(?:^|\.)?\["((?:[^"\\]|\\.)*)"\]/gy;

function partsOf(place: string): readonly string[] {
  const found = [...place.matchAll(PART)];
  if (found.length === 0 || found.reduce((sum, [all]) => sum + all.length, 0) !== place.length)
    throw new UsageError(`"${place}" is not a place; write it as targets.openai.weight, or aliases["gpt-4.1"]`);
  return found.map(([, name, index, quoted = '']) => name ?? index ?? quoted.replace(/\\(.)/g, '$1'));
}

function memberAt(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** What entries of lists are called by. */
const NAMES = ['virtual_key', 'name', 'path'] as const;

function entryOf(list: readonly unknown[], part: string, place: string): string {
  const fits = [...list.keys()].filter((index) => NAMES.some((name) => memberAt(list[index], name) === part));
  const [only] = fits;
  if (only !== undefined && fits.length === 1) return String(only);
  if (fits.length > 1)
    throw new UsageError(
      `${place}: ${fits.length} entries are called "${part}"; use one of the numbers ${fits.join(', ')}`,
    );
  if (/^\d{1,6}$/.test(part) && Number(part) < list.length) return part;
  throw new UsageError(`${place}: no entry is called "${part}", and the list has ${list.length}`);
}
