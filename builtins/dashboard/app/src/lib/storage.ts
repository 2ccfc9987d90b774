/** Storage of the browser, which may refuse: then nothing is kept. */
export interface Kept {
  read(key: string): string | null;
  write(key: string, value: string | null): void;
  keys(): string[];
}

export function keptIn(open: () => Storage): Kept {
  const attempt = <T>(reach: (storage: Storage) => T, otherwise: T): T => {
    try {
      return reach(open());
    } catch {
      return otherwise;
    }
  };
  return {
    read: (key) => attempt((storage) => storage.getItem(key), null),
    write: (key, value) =>
      attempt((storage) => {
        if (value === null) storage.removeItem(key);
        else storage.setItem(key, value);
      }, undefined),
    keys: () => attempt((storage) => Object.keys(storage), []),
  };
}
