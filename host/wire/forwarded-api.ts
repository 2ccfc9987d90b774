import type { ClientWireName, Surface } from '../contract/index.ts';

/** The API that a forwarded request belongs to, where its clients speak a wire of their own. */
export interface ForwardedApi {
  readonly wire: ClientWireName;
  /** The surface whose name log rows have. Requests by the id of something are passed through, and belong to it too. */
  readonly surface: Surface;
}
