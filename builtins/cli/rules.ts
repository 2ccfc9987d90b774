import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../host/cli/command.ts';
import type { Catalog } from '../../host/common/catalog.ts';
import { openedOffline } from '../../host/generation/offline.ts';
import type { CommandPlace, Host } from '../../host/host.ts';
import { type Column, column, printData, printRows, textOf } from './show.ts';

const RULE_COLUMNS: readonly Column[] = [
  column('RULE', 'id'),
  column('PROVIDERS', 'providers'),
  column('MODELS', 'models'),
  column('CHECKED', 'checked'),
];
const FACT_COLUMNS: readonly Column[] = [
  column('FACT', 'fact'),
  { title: 'VALUE', cell: ({ value }) => textOf(Array.isArray(value) && value.length === 0 ? '[]' : value) },
  column('RULE', 'rule'),
  column('CHECKED', 'checked'),
  column('SOURCE', 'source'),
];

/** `gw rules`: the rules of models that this machine has, or what they say of one model. Nothing is fetched. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const host = await place.host();
  const { catalog } = await openedOffline(host);
  const [model] = input.args;
  return model === undefined ? listRules(catalog, input, io) : showFacts(host, catalog, model, { input, io });
};

const formatOf = ({ options, format }: CommandInput): CommandInput['format'] =>
  options['json'] === true ? 'json' : format;

async function listRules({ rules }: Catalog, input: CommandInput, io: CommandIo): Promise<number> {
  const rows = rules.map(({ isHosted, ...rule }) => ({ ...rule, hosted: isHosted }));
  await printRows(io, formatOf(input), rows, RULE_COLUMNS);
  return 0;
}

async function showFacts(
  { registry }: Host,
  catalog: Catalog,
  named: string,
  { input, io }: { readonly input: CommandInput; readonly io: CommandIo },
): Promise<number> {
  const slash = named.indexOf('/');
  const [provider, model] = [named.slice(0, slash), named.slice(slash + 1)];
  if (slash <= 0 || model === '') throw new UsageError(`"${named}" is not provider/model`);
  if (!registry.providers.has(provider) && !catalog.rules.some(({ providers }) => providers.includes(provider))) {
    io.err(`Error: the provider "${provider}" is not known\n`);
    return 1;
  }
  const facts = catalog.factSources(provider, model);
  const rows = Object.entries(facts).map(([fact, source]) => ({ fact, ...source }));
  const format = formatOf(input);
  if (format !== 'table') await printData(io, format, { provider, model, facts });
  else if (rows.length === 0) io.out(`No rule speaks of ${provider}/${model}: requests go on as they came.\n`);
  else await printRows(io, format, rows, FACT_COLUMNS);
  return 0;
}
