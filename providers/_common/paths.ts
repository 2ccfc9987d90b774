import type { CallInfo } from 'gw/contract';
import { invalidRequest } from './fields.ts';

/** Where a surface is: below the API root, or wherever a call of it belongs. */
export type Path = string | ((call: CallInfo) => string);

export function pathOf(path: Path | undefined, otherwise: string, call: CallInfo): string {
  return typeof path === 'function' ? path(call) : (path ?? otherwise);
}

/** A model's name as one path segment. Throws a 400 for names that would leave their place in the path, and for slashes. */
export function pathSegment(model: string): string {
  if (model.includes('/')) throw refused(model);
  return wholeSegment(model);
}

/** A model's name as one path segment, its slashes escaped: names of resources have some. Throws a 400 for names with an empty piece, `.` or `..`. */
export function wholeSegment(model: string): string {
  return escaped(model).join('%2F');
}

/** A model's name as path segments, each escaped. Throws a 400 for names with an empty segment, `.` or `..`. */
export function pathSegments(model: string): string {
  return escaped(model).join('/');
}

/** Some readers undo escapes before they look for segments, and take a backslash for a slash: so nothing that means another place is sent escaped either. */
function escaped(model: string): string[] {
  return model.split('/').map((segment) => {
    if (segment === '' || segment === '.' || segment === '..' || /[\\\p{Cc}]/u.test(segment)) throw refused(model);
    return encodeURIComponent(segment.toWellFormed());
  });
}

function refused(model: string): Error {
  return invalidRequest(`model "${model}" cannot stand in an address`);
}

/** A root without a segment at its end; as it is when it ends otherwise. */
export function withoutTail(root: string, tail: string): string {
  return root.endsWith(tail) ? root.slice(0, -tail.length) : root;
}
