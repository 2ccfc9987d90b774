import type { RunCommand } from '../../host/cli/command.ts';
import type { CommandPlace } from '../../host/host.ts';
import { isFields } from '../../host/contract/fields.ts';
import { tryParseJson } from '../../host/contract/json.ts';
import { Client } from './client.ts';
import { symbol, textOf } from './show.ts';

/** `gw status`: whether the gateway answers, and what it is made of. Any answer means that it can be reached. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const client = new Client(input, place);
  const { text, ms } = await client.send('GET', '/health');
  const body = tryParseJson(text);
  const health = isFields(body) ? body : {};
  io.out(`${healthLine(client.url, health['status'], ms, (name) => symbol(name, io.terminal))}\n`);
  if (typeof health['version'] === 'string') io.out(`Version: ${textOf(health['version'])}\n`);
  io.out(await providersLine(client));
};

/** `status` as it was answered. */
export function healthLine(url: string, status: unknown, ms: number, mark: (name: 'OK' | '!') => string): string {
  const word = typeof status === 'string' && status !== '' ? textOf(status) : 'unknown';
  return word === 'ok' ? `${mark('OK')} ${url} -- healthy (${ms}ms)` : `${mark('!')} ${url} -- ${word} (${ms}ms)`;
}

/** Nothing when they cannot be listed: that takes a credential, and this command works without. */
async function providersLine(client: Client): Promise<string> {
  const providers = await client.rows('/admin/providers').catch(() => []);
  const models = providers.reduce((sum, { models: one }) => sum + (Array.isArray(one) ? one.length : 0), 0);
  return providers.length === 0 ? '' : `Providers: ${providers.length} (${models} models)\n`;
}
