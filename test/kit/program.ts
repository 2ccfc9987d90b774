import { fileURLToPath } from 'node:url';

/** The bin of this checkout. */
export const BIN = fileURLToPath(new URL('../../host/gw.js', import.meta.url));
/** Where a parallel run has put the bin of a bundle of this checkout. */
export const BUNDLE_VARIABLE = 'GW_TEST_BUNDLE';

/** The bin that tests start: of a bundle of this checkout in a parallel run, of the checkout itself in another. */
export const program = (): string => process.env[BUNDLE_VARIABLE] ?? BIN;
