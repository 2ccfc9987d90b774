import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import type { Clock } from '../../../host/common/clock.ts';
import { CONTRACT_VERSION } from '../../../host/contract/index.ts';
import type { CommandPlace, Host } from '../../../host/host.ts';
import { MODULE_ROOTS } from '../../../host/registry/discover.ts';
import { moduleFiles, packageFiles } from './module-files.ts';
import { below, type NewFiles } from './new-files.ts';

/** `gw module new <kind> <name>`: a module that works, with its test and its fixtures. */
export const run: RunCommand<CommandPlace> = async (input, io, place) =>
  writeModule(await place.host(), input, io, place.clock);

async function writeModule(
  host: Host,
  { args: [kind = '', name = ''], options }: CommandInput,
  { err }: CommandIo,
  clock: Clock,
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
  if (options['shipped'] === true) {
    if (known !== 'provider' || wire !== 'common' || options['package'] === true)
      throw new UsageError('--shipped is of a provider of the common wire, without --package');
    return writeShipped(host.workingDirectory, name, err, clock);
  }
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
  err(`${done('created', files)}\nCheck it: gw module test ${inside}\n`);
  return 0;
}

/** A provider in every place of a checkout that lists the shipped ones. */
async function writeShipped(folder: string, name: string, err: CommandIo['err'], clock: Clock): Promise<number> {
  const { shippedTexts } = await import('./shipped/write-shipped.ts');
  const { created, changed } = await shippedTexts(folder, name, new Date(clock.now()));
  const existing = Object.keys(created).find((path) => existsSync(resolve(folder, path)));
  if (existing !== undefined) throw new UsageError(`${existing} exists already`);
  for (const [path, text] of Object.entries({ ...created, ...changed })) {
    await mkdir(dirname(resolve(folder, path)), { recursive: true });
    await writeFile(resolve(folder, path), text);
  }
  err(`${done('created', created)}${done('changed', changed)}
Next: what the service really takes and answers, in these files; then
npm run format && npx mocha test/providers/places.test.ts test/providers/${name}.test.ts
`);
  return 0;
}

const done = (what: string, files: NewFiles): string =>
  `[OK] ${what} ${Object.keys(files)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join('\n             ')}\n`;

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
