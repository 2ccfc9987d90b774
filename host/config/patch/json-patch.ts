import { type Fields, isFields } from '../../contract/json/fields.ts';
import { setMember } from '../../contract/json/members.ts';
import { canonicalJson } from '../canonical.ts';
import { placeIn } from './json-pointer.ts';

/** One operation of a JSON Patch (RFC 6902), with its pointers read. */
export type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: readonly string[]; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: readonly string[] }
  | { readonly op: 'move' | 'copy'; readonly from: readonly string[]; readonly path: readonly string[] };

/** An operation that cannot be done: why. `isFailedTest` where a `test` found another value. */
export class PatchProblem extends Error {
  readonly isFailedTest: boolean;

  constructor(message: string, isFailedTest = false) {
    super(message);
    this.isFailedTest = isFailedTest;
  }
}

/** A document with one operation done. What it was made of stays as it is. */
export function patched(document: unknown, operation: Operation): unknown {
  switch (operation.op) {
    case 'add':
      return added(document, operation.path, operation.value);
    case 'remove':
      return removed(document, operation.path);
    case 'replace':
      valueAt(document, operation.path);
      return operation.path.length === 0 ? operation.value : replaced(document, operation.path, operation.value);
    case 'test':
      if (canonicalJson(valueAt(document, operation.path)) !== canonicalJson(operation.value))
        throw new PatchProblem('the value is another one', true);
      return document;
    case 'copy':
      return added(document, operation.path, valueAt(document, operation.from));
    default:
      return moved(document, operation.from, operation.path);
  }
}

/** Throws where nothing is there. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => {
    const found = memberIn(value, name);
    if (found === undefined) throw new PatchProblem('there is no such member');
    return found;
  }, document);
}

function memberIn(value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    const place = placeIn(name);
    return place === undefined ? undefined : (value[place] as unknown);
  }
  return isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function moved(document: unknown, from: readonly string[], path: readonly string[]): unknown {
  if (path.length > from.length && from.every((name, at) => name === path[at]))
    throw new PatchProblem('a value cannot be moved into itself');
  const value = valueAt(document, from);
  return added(removed(document, from), path, value);
}

/** A copy in which the container of the last name of a path is another one. */
function within(
  document: unknown,
  path: readonly string[],
  change: (holder: unknown, name: string) => unknown,
): unknown {
  const [name = '', ...rest] = path;
  if (rest.length === 0) return change(document, name);
  const inner = memberIn(document, name);
  if (inner === undefined) throw new PatchProblem('there is no such member');
  return withMember(document, name, within(inner, rest, change));
}

function withMember(holder: unknown, name: string, value: unknown): unknown {
  if (Array.isArray(holder)) return holder.with(placeIn(name) ?? 0, value) as unknown;
  return fieldsWith(holder as Fields, name, value);
}

const replaced = (document: unknown, path: readonly string[], value: unknown): unknown =>
  within(document, path, (holder, name) => withMember(holder, name, value));

function added(document: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return value;
  return within(document, path, (holder, name) => {
    if (Array.isArray(holder)) {
      const place = name === '-' ? holder.length : placeIn(name);
      if (place === undefined || place > holder.length) throw new PatchProblem('there is no such place in the list');
      return holder.toSpliced(place, 0, value) as unknown;
    }
    if (!isFields(holder)) throw new PatchProblem('what is to hold it is neither a map nor a list');
    return fieldsWith(holder, name, value);
  });
}

function removed(document: unknown, path: readonly string[]): unknown {
  return within(document, path, (holder, name) => {
    if (memberIn(holder, name) === undefined) throw new PatchProblem('there is no such member');
    if (Array.isArray(holder)) return holder.toSpliced(placeIn(name) ?? 0, 1) as unknown;
    return Object.fromEntries(Object.entries(holder as Fields).filter(([each]) => each !== name));
  });
}

function fieldsWith(fields: Fields, name: string, value: unknown): Fields {
  const copy: Fields = { ...fields };
  setMember(copy, name, value);
  return copy;
}
