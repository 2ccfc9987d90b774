import type { Variables } from '../../../host/environment/variables.ts';

/** Values of variables where the import runs: of addresses and settings alone. Empty ones count as not set. */
export const valueHere =
  (variables: Variables) =>
  (name: string): string | undefined => {
    const value = Object.hasOwn(variables, name) ? variables[name]?.trim() : undefined;
    return value === '' ? undefined : value;
  };
