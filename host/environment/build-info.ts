import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What this program is: stamped into `package.json` by the build, `dev` in a checkout. */
export interface BuildInfo {
  readonly version: string;
  readonly commit: string;
  readonly built: string;
}

/** Reads the stamp of the package that stands in this folder. */
export function readBuildInfo(installDirectory: string): BuildInfo {
  const { gw } = JSON.parse(readFileSync(join(installDirectory, 'package.json'), 'utf8')) as {
    gw?: Partial<BuildInfo>;
  };
  return { version: gw?.version ?? 'dev', commit: gw?.commit ?? 'none', built: gw?.built ?? 'unknown' };
}
