import { createRequire } from 'node:module';

type Call = (...given: never[]) => unknown;

/**
 * Functions that stand for those of a file, by their names: of the file itself, or of an object
 * that it exports.
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
 * millisecond for each.
 */
export function lateFile<File extends object>(from: { readonly url: string }, path: string): LateFunctions<File> {
  let file: File | undefined;
  return functionsOf(() => (file ??= createRequire(from.url)(path) as File));
}

/**
 * Functions of a file that is loaded already. The build of the package puts it in the place of
 * `lateFile`: there, all files are one.
 */
export function loadedFile<File extends object>(file: File): LateFunctions<File> {
  return functionsOf(() => file);
}

function functionsOf<File extends object>(load: () => File): LateFunctions<File> {
  return (given: unknown, names: unknown = given) => {
    const holder = (): object =>
      names === given ? load() : ((load() as Record<string, object>)[given as string] ?? {});
    return Object.fromEntries((names as readonly string[]).map((name) => [name, late(name, holder)])) as never;
  };
}

function late(name: string, holder: () => object): Call {
  let found: Call | undefined;
  return (...given) => {
    found ??= (holder() as Record<string, Call | undefined>)[name];
    if (!found) throw new TypeError(`the file has no function "${name}"`);
    return found(...given);
  };
}
