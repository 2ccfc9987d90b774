import { createRequire } from 'node:module';

/** Any function: what it takes and gives is known where it is named, and not here. */
type Call = (...given: never[]) => unknown;

/**
 * Functions that stand for those of a file, by their names: of the file itself, or of an object
 * that it exports. Types are kept: a function that is named here takes and returns what the file
 * says. Names that the file does not have are errors of types.
 */
export interface LateFunctions<File extends object> {
  <Name extends keyof File>(names: readonly Name[]): Pick<File, Name>;
  <Part extends keyof File, Name extends keyof File[Part]>(part: Part, names: readonly Name[]): Pick<File[Part], Name>;
}

/**
 * A file that is loaded when a function of it is called for the first time: for code that few
 * gateways use, such as the translation of one provider's wire. `from` is `import.meta`, and `path`
 * names the file as seen from there; it awaits nothing at its top level, and its functions do not
 * use `this`. The first call waits for the file and all that it imports, about a quarter of a
 * millisecond for each. It is read once per process, and synchronously, so a request that needs it
 * waits and no other work of the process goes on meanwhile. What the file throws while it loads is
 * thrown by the call that loads it.
 *
 * @param from `import.meta` of the calling file.
 * @param path the file, as an `import` there would name it, with its ending.
 * @returns names functions; they may be taken apart, stored and passed on.
 * @example
 * ```ts
 * import { lateFile } from 'gw/contract';
 *
 * interface Reading {
 *   readReply(body: unknown): string;
 * }
 *
 * export const { readReply } = lateFile<Reading>(import.meta, './response.ts')(['readReply']);
 * ```
 */
export function lateFile<File extends object>(from: { readonly url: string }, path: string): LateFunctions<File> {
  let file: File | undefined;
  return functionsOf(() => (file ??= createRequire(from.url)(path) as File));
}

/**
 * Functions of a file that is loaded already. The build of the package puts it in the place of
 * `lateFile`: there, all files are one. Modules do not call it: they write `lateFile`.
 */
export function loadedFile<File extends object>(file: File): LateFunctions<File> {
  return functionsOf(() => file);
}

/**
 * Makes the functions without loading anything. With one argument the names are those of the file,
 * with two those of an object in it.
 */
function functionsOf<File extends object>(load: () => File): LateFunctions<File> {
  return (given: unknown, names: unknown = given) => {
    const holder = (): object =>
      names === given ? load() : ((load() as Record<string, object>)[given as string] ?? {});
    return Object.fromEntries((names as readonly string[]).map((name) => [name, late(name, holder)])) as never;
  };
}

/**
 * A function that looks its real one up on its first call and keeps it. A name that turns out to be
 * missing throws a `TypeError` on each call.
 */
function late(name: string, holder: () => object): Call {
  let found: Call | undefined;
  return (...given) => {
    found ??= (holder() as Record<string, Call | undefined>)[name];
    if (!found) throw new TypeError(`the file has no function "${name}"`);
    return found(...given);
  };
}
