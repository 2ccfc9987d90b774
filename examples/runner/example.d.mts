export interface Example {
  readonly about: string;
  readonly needs: readonly string[];
  readonly server?: string;
  readonly soak?: boolean;
  readonly keys: object;
  readonly steps: readonly object[];
}

/** Reads example.json of a folder; throws for a member that the runner does not know. */
export function readExample(folder: string): Example;
