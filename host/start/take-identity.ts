import type { LoadedFile } from '../config/load.ts';
import type { Host } from '../host.ts';
import { StartRefused } from './steps.ts';

/** Takes the block `identity` of a file that was checked. Throws where people sign in, and it is not said where their browsers come back to. */
export function takeIdentity({ identity, settings }: Host, file: LoadedFile): void {
  const issuers = file.config?.identity?.issuers ?? [];
  if (settings.listeners.publicUrl === undefined && issuers.some(({ sign_in: signIn }) => signIn))
    throw new StartRefused(
      'GW_PUBLIC_URL is not set, and identity has sign_in; set it to where browsers reach the dashboard',
    );
  identity.take(file, file.path);
}
