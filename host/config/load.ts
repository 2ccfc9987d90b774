import { errorMessage } from '../common/error-message.ts';
import { isFields } from '../contract/index.ts';
import { statSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { type Decoded, decodeText, undecoded } from './decode.ts';
import type { Format } from './parse.ts';
import { isNotPlain, readPlainFile } from './plain-file.ts';

export interface LoadedFile extends Decoded {
  readonly path: string;
  /** The folder that may hold modules beside the file. */
  readonly folder: string;
}

const FORMATS: Readonly<Record<string, Format>> = { '.yaml': 'yaml', '.yml': 'yaml', '.json': 'json' };

/** By the extension, whatever its case; `undefined` for a file that is never loaded. */
export const formatOf = (path: string): Format | undefined => FORMATS[extname(path).toLowerCase()];

/** File names that are looked for in the working directory, in this order. No format that executes code is among them. */
export const SEARCH_PLACES = [
  'config.yaml',
  'config.yml',
  'config.json',
  'gw.config.yaml',
  'gw.config.yml',
  'gw.config.json',
];

/** Reads a named file. An unreadable file or an unknown extension is a problem like any other (DC05). */
export async function loadConfigFile(path: string): Promise<LoadedFile> {
  const place = { path, folder: dirname(path) };
  const format = formatOf(path);
  if (!format)
    return { ...place, ...refused(path, `the extension of "${path}" is not known`, 'use .yaml, .yml or .json') };
  try {
    return { ...place, ...withDefaults(decodeText(await readPlainFile(path), format)) };
  } catch (error) {
    const message = errorMessage(error);
    return {
      ...place,
      ...refused(path, `the file cannot be read: ${message}`, 'name a file that exists and may be read'),
    };
  }
}

/** The document of a file, with what it means where it leaves that out. What is sent is kept as it came (docs/reference/admin.md#how-a-configuration-is-shown). */
export function withDefaults(decoded: Decoded): Decoded {
  const { config, document } = decoded;
  if (!config) return decoded;
  const strategy = isFields(document['strategy']) ? document['strategy'] : {};
  return {
    ...decoded,
    document: { ...document, apiVersion: config.apiVersion, strategy: { ...strategy, mode: config.strategy.mode } },
  };
}

interface Explorer {
  search(from: string): Promise<{ readonly filepath: string } | null>;
}

/**
 * Path of the configuration file in a folder, if it holds one. The library's `Explorer` is used directly: its
 * public entry point would first read, or even run, configuration files of its own in the working directory (docs/decisions/0005).
 */
export async function findConfigFile(folder: string): Promise<string | undefined> {
  // The explorer reads what it finds, so it looks no further than the first place that must not be read; loading that says why.
  const odd = SEARCH_PLACES.findIndex((name) => isNotPlain(join(folder, name)));
  const searchPlaces = odd < 0 ? SEARCH_PLACES : SEARCH_PLACES.slice(0, odd);
  // By its default: of a CommonJS library that is loaded late, a bundle gives nothing else.
  const {
    default: { Explorer },
  } = (await import('cosmiconfig/dist/Explorer.js')) as unknown as {
    default: { Explorer: new (options: object) => Explorer };
  };
  const explorer = new Explorer({
    moduleName: 'gw',
    searchPlaces,
    searchStrategy: 'none',
    ignoreEmptySearchPlaces: false,
    loaders: Object.fromEntries(
      Object.keys(FORMATS).map((extension) => [extension, (filepath: string) => ({ filepath })]),
    ),
    transform: (found: unknown) => found,
    cache: false,
  });
  const found = await explorer.search(folder);
  return (
    found?.filepath ?? SEARCH_PLACES.map((name) => join(folder, name)).find((path) => isFile(path) || isNotPlain(path))
  );
}

/** True for a file that may not be read, too: reading it then says so. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function refused(path: string, message: string, fix: string): Decoded {
  return undecoded([{ path, rule: 'DC05', message, fix }]);
}
