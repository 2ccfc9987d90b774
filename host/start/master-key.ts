import { randomBytes } from 'node:crypto';
import type { LoadedFile } from '../config/load.ts';
import type { Host } from '../host.ts';

/**
 * The master key: from the environment, else made for this run, where there is neither a configuration file nor
 * production. True when it was made.
 */
export function provideMasterKey(host: Host, file: LoadedFile | undefined): boolean {
  if (host.masterKey !== undefined) {
    if (!/^[\x20-\x7e]+$/.test(host.masterKey))
      host.log.warn(
        'MASTER_KEY holds a character that few clients can send in a header, or none: they are refused; "gw init" makes a key that all can send',
      );
    return false;
  }
  if (file || host.settings.isProduction) {
    const isOpen = host.settings.allowUnauthenticated;
    host.log.error(
      `MASTER_KEY is not set: ${isOpen ? 'only /v1 is open' : 'nothing can authenticate'}; "gw init" makes one`,
    );
    return false;
  }
  host.masterKey = newMasterKey();
  host.redactor.register(host.masterKey);
  return true;
}

/** `gw_` and 16 random bytes in hex. */
export function newMasterKey(): string {
  return `gw_${randomBytes(16).toString('hex')}`;
}
