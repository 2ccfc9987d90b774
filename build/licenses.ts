import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Name, version and licence text of every package that a bundle is made of, as their licences ask for. */
export function licensesOf(root: string, inputs: readonly string[]): string {
  return packageFolders(inputs)
    .map((folder) => licenseIn(join(root, folder)))
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** Folders of the packages that files of a bundle come from, sorted. */
export const packageFolders = (inputs: readonly string[]): readonly string[] =>
  [...new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))].toSorted();

function licenseIn(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined && license === undefined)
    throw new Error(`${name} names no licence: it cannot be part of the package`);
  return `${name} ${version}${license === undefined ? '' : ` (${license})`}\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8')}`;
}
