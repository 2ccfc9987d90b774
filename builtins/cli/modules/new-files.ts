import { join } from 'node:path';

/** Path and text of files to write. */
export type NewFiles = Readonly<Record<string, string>>;

/** The files in a folder. */
export const below = (folder: string, files: NewFiles): NewFiles =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [join(folder, path), text]));

/** JSON as a file holds it. */
export const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;
