/** `npm pack` runs this last: the checkout's `package.json` comes back. */
import { restoreManifest } from './restore.ts';

restoreManifest();
