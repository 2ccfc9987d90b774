import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import { CONTRACT_VERSION } from '../../../host/contract/index.ts';
import type { CommandPlace, Host } from '../../../host/host.ts';
import { MODULE_ROOTS } from '../../../host/registry/discover.ts';
import { moduleFiles, type NewFiles, packageFiles } from './module-files.ts';

/** `gw module new <kind> <name>`: a module that works, with its test and its fixtures. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => writeModule(await place.host(), input, io);

async function writeModule(
  host: Host,
  { args: [kind = '', name = ''], options }: CommandInput,
  { err }: CommandIo,
): Promise<number> {
  const [root, known] = Object.entries(MODULE_ROOTS).find(([, one]) => one === kind) ?? [];
  if (root === undefined || known === undefined)
    throw new UsageError(`"${kind}" is not a kind of module: use provider, strategy or plugin`);
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))
    throw new UsageError(`"${name}" cannot be the name of a module: use lower-case words joined by hyphens`);
  if (host.registry.originOf(known, name) !== undefined)
    throw new UsageError(`the ${kind} "${name}" is shipped: choose another name`);
  const wire = options['wire'] ?? 'common';
  if (wire !== 'common' && wire !== 'native') throw new UsageError(`--wire is common or native, not "${String(wire)}"`);
  const module = { kind: known, name, wire, contract: CONTRACT_VERSION } as const;
  const isPackage = options['package'] === true;
  const folder = isPackage ? `gw-${name}` : join(root, name);
  const inside = isPackage ? join(folder, 'src') : folder;
  const files: NewFiles = {
    ...below(inside, moduleFiles(module)),
    ...(isPackage && below(folder, packageFiles(module))),
  };
  await writeNew(
    resolve(host.workingDirectory, folder),
    Object.entries(files).map(([path, text]) => [resolve(host.workingDirectory, path), text]),
  );
  err(
    `[OK] created ${Object.keys(files)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .join('\n             ')}\n\nCheck it: gw module test ${inside}\n`,
  );
  return 0;
}

const below = (folder: string, files: NewFiles): NewFiles =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [join(folder, path), text]));

/** A folder that exists is left as it is. */
async function writeNew(folder: string, files: readonly (readonly [path: string, text: string])[]): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new UsageError(`${folder} exists already`) : error;
  });
  try {
    for (const [path, text] of files) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, { flag: 'wx' });
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true }); // it was made by this command, and half of it would be in the way of the next
    throw error;
  }
}
