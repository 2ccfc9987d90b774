/** Paths of accounts, `/acme/search`, and of tags, `#nightly`: docs/reference/accounts.md. */

export type AccountKind = 'account' | 'tag';

export const ROOT = '/';
const MOST_SEGMENTS = 8;
const LONGEST_PATH = 256;
const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const TAG = /^[A-Za-z0-9][A-Za-z0-9._:=/-]{0,63}$/;

/** Whether a text may be the name of a tag: without `#`, and without a star. */
export const isTagName = (text: string): boolean => TAG.test(text);

/** The tags of a key that count, in ascending order, each once: other texts are for show. */
export const countingTags = (tags: readonly string[]): readonly string[] =>
  [...new Set(tags.filter(isTagName))].toSorted();

/** The kind of what a path names, whether or not it may be one. */
export const kindOfPath = (path: string): AccountKind => (path.startsWith('#') ? 'tag' : 'account');

/** Whether a path names a tag by its beginning: `#project=*`. */
export const isTagPattern = (path: string): boolean => path.startsWith('#') && path.endsWith('*');

/** Why a text cannot be a path, for people; `undefined` where it can. */
export function pathProblem(path: string): string | undefined {
  if (path.startsWith('#'))
    return isTagName(isTagPattern(path) ? path.slice(1, -1) : path.slice(1))
      ? undefined
      : 'a tag is # and 1 to 64 letters, digits and ._:=/- that begin with a letter or a digit, with * at the end for every name that begins so';
  if (path === ROOT) return undefined;
  const [before, ...segments] = path.split('/');
  if (before !== '' || segments.length === 0) return 'a path begins with /, a tag with #';
  if (path.length > LONGEST_PATH) return `a path has at most ${LONGEST_PATH} characters`;
  if (segments.length > MOST_SEGMENTS) return `a path has at most ${MOST_SEGMENTS} parts between slashes`;
  return segments.every((segment) => SEGMENT.test(segment))
    ? undefined
    : 'each part of a path is 1 to 64 letters, digits and ._- that begin with a letter or a digit';
}

/** The account above; `undefined` of `/` and of tags. */
export function parentOf(path: string): string | undefined {
  if (path === ROOT || kindOfPath(path) === 'tag') return undefined;
  return path.slice(0, path.lastIndexOf('/')) || ROOT;
}

/** How many parts a path has; 0 of `/` and of tags. */
export const depthOf = (path: string): number =>
  path === ROOT || kindOfPath(path) === 'tag' ? 0 : path.split('/').length - 1;

/** Whether a path is another one, or stands below it. Everything but tags stands below `/`. */
export const isWithin = (path: string, above: string): boolean =>
  path === above ||
  (kindOfPath(path) === 'account' &&
    kindOfPath(above) === 'account' &&
    path.startsWith(above === ROOT ? '/' : above + '/'));
