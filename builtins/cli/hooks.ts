import type { CommandInput, CommandIo, RunCommand } from '../../host/cli/command.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import { buildOffline } from '../../host/generation/offline.ts';
import { type ListedHook, type ListedTap, listTaps, noteTaps } from '../../host/hooks/tap-list.ts';
import type { CommandPlace, Host } from '../../host/host.ts';
import { readConfig } from './configuration/checked-config.ts';
import { refusalReport } from './report.ts';
import { column, printRows, type Row } from './show.ts';

const COLUMNS = [
  ...['HOOK', 'NAME', 'STAGE', 'BY', 'OF', 'KIND'].map((title) => column(title, title.toLowerCase())),
  { title: 'SURFACES', cell: ({ surfaces }: Row) => (Array.isArray(surfaces) ? surfaces.join(' ') : '-') },
];

/** `gw hooks`: every hook of the host and of a configuration, with its taps in the order of their run. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => listHooks(await place.host(), input, io);

async function listHooks(host: Host, { options, format }: CommandInput, io: CommandIo): Promise<number> {
  const config = await readConfig(host, options['config'], io);
  if (!config) return 1;
  try {
    const rows = [
      ...rowsOf('host', listTaps(host.hooks), host),
      ...rowsOf('configuration', await tapsOf(host, config), host),
    ];
    await printRows(io, format, rows, COLUMNS);
    return 0;
  } catch (error) {
    const refused = refusalReport(error);
    if (refused === undefined) throw error;
    io.err(host.redactor.redact(refused));
    return 1;
  }
}

/** Builds the configuration with its plugins. While a builtin taps it, each tap notes which builtin that is. */
async function tapsOf(host: Host, config: GatewayConfig): Promise<readonly ListedHook[]> {
  let assembling: string | undefined;
  host.hooks.assemble.intercept({
    call: ({ hooks }) => noteTaps(hooks, () => assembling),
    tap: ({ name }) => {
      assembling = builtinOf(host.hooks.assemble, name);
    },
  });
  const generation = await buildOffline(host, config, config.plugins);
  try {
    return listTaps(generation.hooks);
  } finally {
    await generation.dispose();
  }
}

/** The builtin that made a tap of this name. */
const builtinOf = (hook: object, name: string): string | undefined =>
  listTaps({ hook })[0]?.taps.find((tap) => tap.name === name)?.builtin;

/** A row per tap; a hook without taps has one too, so that all hooks are there. */
function rowsOf(of: string, hooks: readonly ListedHook[], host: Host): readonly Row[] {
  return hooks.flatMap(({ hook, kind, surfaces, taps }) =>
    (taps.length === 0 ? [undefined] : taps).map((tap) => ({
      hook,
      of,
      kind,
      surfaces: surfaces ?? null,
      name: tap?.name ?? null,
      stage: tap?.stage ?? null,
      by: tap ? madeBy(tap, of, host) : null,
    })),
  );
}

/** A builtin by its name; of what the host taps, for whom it does. */
function madeBy({ builtin, name }: ListedTap, of: string, { registry }: Host): string {
  if (builtin !== undefined) return builtin;
  return of === 'configuration' && registry.plugins.has(name) ? 'plugin' : 'host';
}
