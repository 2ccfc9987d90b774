/**
 * How to list the models that are live at the provider. It is asked in the background, again and
 * again; a service that fails, or lists nothing, keeps the models that it had.
 */
export interface Discovery {
  /** Appended to the API root. */
  readonly path: string;
  /**
   * Returns ids and, where stated, creation times in Unix seconds.
   *
   * @param body the parsed answer. It comes from outside: check every member before you use it.
   * @returns the models that requests may name. A throw is logged as `live models could not be
   * listed`.
   */
  read(body: unknown): readonly DiscoveredModel[];
}

/** A model that the provider says it serves. */
export interface DiscoveredModel {
  /** The id that requests name it by. */
  readonly id: string;
  /** Unix seconds; `undefined` where the provider does not say. */
  readonly created?: number;
}
