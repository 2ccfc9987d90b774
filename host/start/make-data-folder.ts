import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errorMessage } from '../common/error-message.ts';
import type { Host } from '../host.ts';
import { StartRefused } from './steps.ts';

/** Makes the folder of `GW_DATA_DIR`, where its parent exists, for its owner alone. Throws where it cannot be used. */
export async function makeDataFolder({ settings, workingDirectory }: Host): Promise<void> {
  const { dataFolder } = settings;
  if (dataFolder === undefined) return;
  const folder = resolve(workingDirectory, dataFolder);
  try {
    await mkdir(folder, { mode: 0o700 }).catch(unlessThere);
    await access(`${folder}/`, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const user = process.getuid?.();
    throw new StartRefused(
      `GW_DATA_DIR: ${dataFolder} cannot be used: ${code ?? errorMessage(error)}; make it one that ${user === undefined ? 'this user' : `user ${user}`} can write`,
    );
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
