import type { RunCommand } from '../../host/cli/command.ts';
import type { CommandPlace } from '../../host/host.ts';
import { loadModules } from './modules/load-modules.ts';
import { configurationSchema } from '../../host/config/json-schema/configuration-schema.ts';

/** `gw schema`: the JSON Schema of a configuration file, for editors. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const host = await place.host();
  if (!(await loadModules(host, input, io))) return 1;
  const schema = configurationSchema(host.registry);
  if (input.format === 'yaml') io.out((await import('./yaml-text.ts')).yamlText(schema));
  else io.out(`${JSON.stringify(schema, null, 2)}\n`);
  return 0;
};
