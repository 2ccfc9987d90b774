import { basename, dirname } from 'node:path';
import type { Problem } from '../config/problems.ts';
import { importFile } from './discover.ts';
import { entryOf } from './entries.ts';
import { type GatewayModule, helperOf } from './registry.ts';

/** Imports the module of one file or folder, whatever its kind, without looking at its rules. */
export async function loadModule(path: string): Promise<{ readonly module: GatewayModule; readonly file: string } | { readonly problem: Problem }> {
  const entry = await entryOf(dirname(path), basename(path));
  if (!entry) return { problem: { path, rule: 'MV10', message: 'it is not a file of code', fix: 'name a .ts or .js file, or a folder with an index file' } };
  const { candidates: [candidate], problems: [problem] } = await importFile('plugin', entry);
  if (problem) return { problem };
  const module = candidate?.value as GatewayModule | undefined;
  if (typeof module === 'object' && module !== null && 'kind' in module) return { module, file: entry.file };
  return { problem: { path: entry.file, rule: 'MV01', message: 'it has no default export of a module', fix: `export default ${helperOf('plugin')}({ … }), or the helper of its kind` } };
}
