import { createRequire } from 'node:module';

type Call = (...given: never[]) => unknown;

/** Stands for an object that a file exports: functions by the names that are given, each of which calls the one of the file. */
export type LateParts<File extends object> = <Part extends keyof File, Name extends keyof File[Part]>(part: Part, names: readonly Name[]) => Pick<File[Part], Name>;

/**
 * A file that is loaded when a function of it is called for the first time: for code that few gateways use, such as the translation of one
 * provider's wire. `from` is `import.meta`, and `path` names the file as seen from there; it awaits nothing at its top level, and its
 * functions do not use `this`. The first call waits for the file and all that it imports, about a quarter of a millisecond for each.
 */
export function lateFile<File extends object>(from: { readonly url: string }, path: string): LateParts<File> {
  let file: File | undefined;
  return partsOf(() => (file ??= createRequire(from.url)(path) as File));
}

/** The same of a file that is loaded already. The build of the package puts it in the place of `lateFile`: there, all files are one. */
export function loadedFile<File extends object>(file: File): LateParts<File> {
  return partsOf(() => file);
}

function partsOf<File extends object>(load: () => File): LateParts<File> {
  return (part, names) => {
    const late = (name: keyof File[typeof part]): Call => {
      let found: Call | undefined;
      return (...given) => (found ??= load()[part][name] as Call)(...given);
    };
    return Object.fromEntries(names.map((name) => [name, late(name)])) as Pick<File[typeof part], (typeof names)[number]>;
  };
}
