import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import type { MigrationLine } from '../../../host/host-hooks.ts';
import { makeDataFolder } from '../../../host/start/make-data-folder.ts';
import { refuseUnusable } from '../../../host/start/prepare-host.ts';
import { table } from '../report.ts';

/** `gw migrate`: brings tables of every configured store up to date, by the variables of a start, or tells with `--check` what they lack. */
export const run: RunCommand<CommandPlace> = async ({ options }, io, place) => {
  const host = await place.host();
  refuseUnusable(host.settings);
  const isCheck = options['check'] === true;
  if (!isCheck) await makeDataFolder(host);
  const lines: MigrationLine[] = [];
  let places = 0;
  await host.hooks.migrate.promise({
    host,
    isCheck,
    found: () => {
      places += 1;
    },
    report: (line) => {
      lines.push(line);
    },
  });
  if (places === 0) io.out('[OK] no store keeps tables\n');
  else if (lines.length === 0) io.out('[OK] nothing to do\n');
  else if (isCheck) io.out(lines.map(pendingLine).join(''));
  else io.out(`${table(['STORE', 'BACKEND', 'FROM', 'TO', 'STEPS'], lines.flatMap(doneRow))}\n`);
  return isCheck && lines.length > 0 ? 1 : 0;
};

const pendingLine = (line: MigrationLine): string =>
  'pending' in line ? `${line.store} ${line.pending} (${line.kind})\n` : '';

const doneRow = (line: MigrationLine): string[][] =>
  'steps' in line ? [[line.store, line.backend, String(line.from), String(line.to), line.steps.join(', ')]] : [];
