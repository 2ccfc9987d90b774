// Where compiled code is kept for the next start, in plain JavaScript, because it is read before anything else. Node runs what it finds there
// in the place of what the sources say: so it lies where only those may write who may write the code itself, or this user alone.
import { lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** The rights to write of a file's group and of everybody else. */
const OTHERS_WRITE = 0o022;
const OTHERS = 0o077;
const STICKY = 0o1000;
/** The name of a folder among a user's caches. */
const OWN = 'gw';

/**
 * Keeps compiled code in a folder of this name below `beside`, which holds code and exists; else in one of the user's own; else nowhere.
 * A folder that anybody else could have filled is passed over, and so is a link in the place of one.
 */
export function useCompileCache({ beside, name, cacheHome }) {
  const { FAILED } = module.constants.compileCacheStatus;
  const own = isAbsolute(cacheHome ?? '') ? cacheHome : join(homedir(), '.cache');
  for (const folder of [folderBeside(beside, name), folderOf(own)])
    if (folder !== undefined && enableCacheIn(folder).status !== FAILED) return;
}

/** Node before 24.12 takes no options: its cache is lost when the code moves. */
function enableCacheIn(directory) {
  try {
    return module.enableCompileCache({ directory, portable: true });
  } catch {
    return module.enableCompileCache(directory);
  }
}

/** Code's own folder decides who may write: its owner and, where it is so lax, the others that may write it. */
function folderBeside(beside, name) {
  return orNone(() => {
    const base = realpathSync(beside);
    const { uid, mode } = statSync(base);
    const isTrusted = (stats) => isOwnedBy([uid, userId()], stats) && (stats.mode & OTHERS_WRITE & ~mode) === 0;
    const parts = name.split('/').map((_part, at, all) => join(base, ...all.slice(0, at + 1)));
    for (const part of parts) {
      make(part);
      if (!isFolder(part) || !isTrusted(lstatSync(part))) return undefined;
    }
    return isFilledBy(isTrusted, join(base, name), mode) ? join(base, name) : undefined;
  });
}

/** For this user alone; on the way to it none but the user and root may have put another folder in the place of one. */
function folderOf(home) {
  return orNone(() => {
    mkdirSync(join(home, OWN), { recursive: true, mode: 0o700 });
    const folder = join(realpathSync(home), OWN);
    const { mode, uid } = lstatSync(folder);
    if (!isFolder(folder) || realpathSync(folder) !== folder) return undefined;
    if (userId() !== undefined && (uid !== userId() || (mode & OTHERS) !== 0)) return undefined;
    const isTrusted = (stats) => isOwnedBy([userId()], stats) && (stats.mode & OTHERS_WRITE) === 0;
    return isWayTo(folder) && isFilledBy(isTrusted, folder, 0) ? folder : undefined;
  });
}

function isWayTo(folder) {
  for (let at = dirname(folder), last = folder; at !== last; [at, last] = [dirname(at), at]) {
    const stats = statSync(at);
    if (!isOwnedBy([0, userId()], stats)) return false;
    if (userId() !== undefined && (stats.mode & OTHERS_WRITE) !== 0 && (stats.mode & STICKY) === 0) return false;
  }
  return true;
}

/** What stands in it is trusted as well, and so is what Node makes in it: a folder with the rights that this process leaves. */
function isFilledBy(isTrusted, folder, mode) {
  const isClosed = (lstatSync(folder).mode & OTHERS) === 0; // others are not let in
  if (userId() !== undefined && !isClosed && (OTHERS_WRITE & ~process.umask() & ~mode) !== 0) return false;
  return readdirSync(folder).every((entry) => isTrusted(lstatSync(join(folder, entry))));
}

function make(folder) {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

const isFolder = (path) => lstatSync(path).isDirectory();

/** `undefined` on Windows, where a folder of a user has rights of its own. */
const userId = () => process.getuid?.();

const isOwnedBy = (users, { uid }) => userId() === undefined || users.includes(uid);

function orNone(find) {
  try {
    return find();
  } catch {
    return undefined; // it cannot be made or read: there is no cache, and the start goes on
  }
}
