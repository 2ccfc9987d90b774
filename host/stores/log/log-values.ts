/** Columns whose values can be listed. */
export const VALUE_FIELDS = [
  'model',
  'provider',
  'target',
  'surface',
  'code',
  'status',
  'outcome',
  'api_key_id',
] as const;
export type ValueField = (typeof VALUE_FIELDS)[number];

/** Which values are asked for. Moments are Unix milliseconds. */
export interface ValuesQuestion {
  readonly field: ValueField;
  /** Part of a value; of letters A to Z upper and lower case are alike. */
  readonly part: string | undefined;
  readonly since: number;
  readonly before: number | undefined;
  readonly most: number;
}

export interface LogValues {
  /** The most frequent first; by the requests that have them. */
  readonly values: readonly { readonly value: string; readonly count: number }[];
  /** Whether older rows are missing. */
  readonly isPartial: boolean;
}
