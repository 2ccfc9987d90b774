import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

export type Search = Readonly<Record<string, string | undefined>>;

/** Filters, tabs and windows that live in the address, so that they survive reload and going back. */
export function useSearch(): readonly [
  URLSearchParams,
  (changes: Search, options?: { readonly replace?: boolean }) => void,
] {
  const [parameters, setParameters] = useSearchParams();
  const change = useCallback(
    (changes: Search, options: { readonly replace?: boolean } = {}) => {
      setParameters((before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value) after.set(name, value);
          else after.delete(name);
        }
        return after;
      }, options);
    },
    [setParameters],
  );
  return [parameters, change];
}
