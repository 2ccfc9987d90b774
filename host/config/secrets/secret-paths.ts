/** Where files of secrets lie unless `GW_SECRET_DIRS` says otherwise. */
export const DEFAULT_SECRET_DIRECTORY = '/run/secrets';

/** The directories of the list that a path was written below. */
export const directoriesOf = (path: string, directories: readonly string[]): readonly string[] =>
  directories.filter((directory) => path.length > directory.length + 1 && path.startsWith(`${directory}/`));

/** What is wrong with the path of a `${file:…}`, as it is written; `undefined` for one that may be read. */
export function secretPathFault(path: string, directories: readonly string[]): string | undefined {
  if (!path.startsWith('/')) return 'is not an absolute path';
  if (path.split('/').some((segment) => segment === '.' || segment === '..')) return 'has a segment "." or ".."';
  if (directoriesOf(path, directories).length > 0) return undefined;
  return `lies outside the directories of GW_SECRET_DIRS, which is ${directories.join(':') || 'not a list of absolute paths'}`;
}
