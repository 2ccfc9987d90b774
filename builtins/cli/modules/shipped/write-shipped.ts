import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../../../host/cli/command.ts';
import type { NewFiles } from '../new-files.ts';
import { shippedProvider } from './provider-names.ts';
import { shippedFiles } from './shipped-files.ts';
import { PLACES } from './shipped-places.ts';

export interface Shipped {
  /** Files that must not be there yet. */
  readonly created: NewFiles;
  /** Files of the checkout, with one provider more. */
  readonly changed: NewFiles;
}

const MANIFEST = 'builtins/manifest.ts';

/** All that a new shipped provider needs in the checkout of a folder. Nothing is written here, so that a refusal leaves everything as it was. */
export async function shippedTexts(folder: string, name: string, now: Date): Promise<Shipped> {
  const read = (file: string): Promise<string> => readFile(join(folder, file), 'utf8');
  const manifest = await read(MANIFEST).catch(() => {
    throw new UsageError(
      `--shipped changes the source of gw: run it in the root folder of a checkout (there is no ${MANIFEST} in ${folder}), or leave it out`,
    );
  });
  const provider = shippedProvider(name, manifest, now);
  const changed = new Map<string, string>();
  for (const { file, what, names, added } of PLACES) {
    const text = changed.get(file) ?? (await read(file));
    if (names(text).includes(name)) throw new UsageError(`${file} names the provider "${name}" already: ${what}`);
    changed.set(file, added(text, provider));
  }
  return { created: shippedFiles(provider), changed: Object.fromEntries(changed) };
}
