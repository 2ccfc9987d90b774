/** Makes a value when it is first asked for, and gives the same one from then on: for what is made of constants alone, and takes long. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
