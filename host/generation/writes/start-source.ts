import type { Decoded } from '../../config/decode.ts';
import type { NewestConfiguration } from '../../stores/configuration-store.ts';

/** What a start begins with. */
export interface StartSource {
  /** The file or the default: what a reset goes back to. */
  readonly own: Decoded;
  /** The host made the default itself: it may have no target at all. */
  readonly isDefault?: boolean;
  /** What is stored, and counts before the other. */
  readonly stored?: Decoded | undefined;
  /** The newest version in the store, whether or not a start begins with it. */
  readonly newest?: Pick<NewestConfiguration, 'version' | 'text' | 'mark'>;
}
