import type { CommandIo, RunCommand } from '../../host/cli/command.ts';
import { padded, widthOf } from '../../host/cli/text-width.ts';
import type { CommandPlace } from '../../host/host.ts';
import { isFields } from '../../host/contract/json/fields.ts';
import { tryParseJson } from '../../host/contract/json/json.ts';
import { Client } from './client.ts';
import { credentialsReady, isDeclared } from './fleet/credentials-ready.ts';
import { cutTo, isRow, type Row, symbol, textOf } from './show.ts';

/** `gw status`: whether the gateway answers, and what it is made of. Any answer means that it can be reached. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const client = new Client(input, place);
  const { text, ms } = await client.send('GET', '/health');
  const body = tryParseJson(text);
  const health = isFields(body) ? body : {};
  io.out(`${healthLine(client.url, health['status'], ms, (name) => symbol(name, io.terminal))}\n`);
  if (typeof health['version'] === 'string') io.out(`Version: ${textOf(health['version'])}\n`);
  const [known, targets] = await Promise.all([
    client.rows('/admin/providers').catch(() => []),
    client.hasKey ? targetsOf(client) : [],
  ]);
  io.out(providersLine(known));
  io.out(drawing(withFleet(rowsIn(health['providers']), known), withFleet(targets, known), io));
};

/** Providers or targets with what the admin API says of those that the configuration declares. */
function withFleet(rows: readonly Row[], known: readonly Row[]): readonly Row[] {
  const declared = new Map(known.filter(isDeclared).map((row) => [row['name'], row]));
  return rows.map((row) => {
    const { kind, credentials } = declared.get(row['name']) ?? {};
    return kind === undefined ? row : { ...row, kind, credentials };
  });
}

/** `status` as it was answered. */
export function healthLine(url: string, status: unknown, ms: number, mark: (name: 'OK' | '!') => string): string {
  const word = typeof status === 'string' && status !== '' ? textOf(status) : 'unknown';
  return word === 'ok' ? `${mark('OK')} ${url} -- healthy (${ms}ms)` : `${mark('!')} ${url} -- ${word} (${ms}ms)`;
}

/** Nothing when they cannot be listed: that takes a credential, and this command works without. */
function providersLine(providers: readonly Row[]): string {
  const models = providers.reduce((sum, { models: one }) => sum + (Array.isArray(one) ? one.length : 0), 0);
  return providers.length === 0 ? '' : `Providers: ${providers.length} (${models} models)\n`;
}

async function targetsOf(client: Client): Promise<readonly Row[]> {
  const health = await client.object('GET', '/admin/health').catch(() => ({ targets: [] }));
  return rowsIn(health['targets']);
}

const rowsIn = (value: unknown): readonly Row[] => (Array.isArray(value) ? value.filter(isRow) : []);

/** A line for each provider, then for each target without one: its circuit, its models, its calls at this moment. */
function drawing(providers: readonly Row[], targets: readonly Row[], { terminal }: CommandIo): string {
  const unregistered = targets.filter(({ name }) => !providers.some((provider) => provider['name'] === name));
  const rows = [...providers, ...unregistered];
  const nameWidth = rows.reduce((most, { name }) => Math.max(most, widthOf(textOf(name))), 0);
  const lines = rows.map((row) => {
    const target = targets.find(({ name }) => name === row['name']);
    const circuit = textOf(row['circuit'] ?? target?.['circuit']);
    const mark = target?.['registered'] === false ? '-' : (MARKS.get(circuit) ?? '!');
    const facts = [
      mark === '-' ? 'not registered' : `circuit ${circuit.padEnd('half-open'.length)}`,
      ...(typeof row['models'] === 'number' ? [`${row['models']} models`] : []),
      ...(isDeclared(row) ? [`kind ${textOf(row['kind'])}`, `credentials ${credentialsReady(row) ?? ''}`] : []),
      ...(target ? [`${textOf(target['in_flight'])} in flight, ${textOf(target['waiting'])} waiting`] : []),
    ];
    const text = ` ${padded(textOf(row['name']), nameWidth)}   ${facts.join('   ')}`;
    return `  ${symbol(mark, terminal)}${mark === 'OK' ? '' : ' '}${cutTo(text, terminal, INDENT)}\n`;
  });
  return lines.length === 0 ? '' : `\n${lines.join('')}`;
}

/** What stands before the text of a line: two blanks and the longest mark. */
const INDENT = 6;

const MARKS: ReadonlyMap<string, 'OK' | 'X' | '!'> = new Map([
  ['closed', 'OK'],
  ['open', 'X'],
  ['half-open', '!'],
]);
