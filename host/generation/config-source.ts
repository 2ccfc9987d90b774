import type { LoadedFile } from '../config/load.ts';
import type { Applier } from './apply.ts';

/** Where the configuration that serves came from: `store` for one that was written while a gateway ran, also where no store keeps it. */
export type ConfigSource = 'store' | 'file' | 'defaults';

interface SourceDeps {
  readonly applier: Pick<Applier, 'running'>;
  readonly configFile: LoadedFile | undefined;
}

export const configSource = (host: SourceDeps): ConfigSource =>
  host.applier.running.isWritten ? 'store' : sourceOfStart(host);

/** What a start begins with where nothing is stored. */
export const sourceOfStart = ({ configFile }: Pick<SourceDeps, 'configFile'>): 'file' | 'defaults' =>
  configFile ? 'file' : 'defaults';
