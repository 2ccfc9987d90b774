/** Names of request fields for `ignored` and `bounded` of a `WireRequest`. */
export interface Notes {
  readonly ignored: string[];
  readonly bounded: string[];
}
