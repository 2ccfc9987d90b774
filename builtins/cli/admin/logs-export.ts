import { open, rm } from 'node:fs/promises';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client, readText } from '../client.ts';
import { logFilters } from '../logs/log-filters.ts';

const PATH = '/admin/logs/export';

/** `gw admin logs export`: written as it arrives. What could not be read whole is an error, and its file is not left behind. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const path = `${PATH}?${queryOf(input)}`;
  const client = new Client(input, place);
  const { output } = input.options;
  const response = await answerOf(client, path);
  const isTruncated = response.headers['x-gateway-export-truncated'] === 'true';
  if (typeof output === 'string') await writeFile(output, response, client);
  else await print(io, response, client);
  if (isTruncated)
    io.err('there are more rows than were written; ask for a shorter time, or for more with --max-rows\n');
};

function queryOf(input: CommandInput): string {
  const { as: form = 'csv', maxRows, columns } = input.options;
  if (form !== 'csv' && form !== 'jsonl') throw new UsageError(`--as "${String(form)}" is none of csv and jsonl`);
  const own = new URLSearchParams({ format: form });
  if (maxRows !== undefined) own.set('max_rows', String(maxRows));
  if (columns !== undefined) own.set('columns', String(columns));
  return `${own.toString()}${logFilters(input)}`;
}

async function answerOf(client: Client, path: string): Promise<IncomingMessage> {
  let response: IncomingMessage;
  try {
    [response] = (await once(client.open('GET', path), 'response')) as [IncomingMessage];
  } catch (error) {
    throw client.unreachable(error);
  }
  const { statusCode: status = 0, headers } = response;
  if (status === 200) return response;
  throw client.refusal('GET', path, { status, location: headers.location, text: await readText(response) });
}

async function print(io: CommandIo, response: IncomingMessage, client: Client): Promise<void> {
  response.setEncoding('utf8');
  for await (const piece of whole(response, client)) {
    if (io.isOutputLost?.() === true) return;
    io.out(String(piece));
  }
}

async function writeFile(path: string, response: IncomingMessage, client: Client): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    response.destroy();
    throw error.code === 'EEXIST' ? new UsageError(`${path} exists already`) : error;
  });
  let isWhole = false;
  try {
    for await (const piece of whole(response, client)) await file.write(piece as Buffer);
    isWhole = true;
  } finally {
    await file.close();
    if (!isWhole) await rm(path, { force: true });
  }
}

/** The gateway ends the connection of an export that it cannot finish. */
async function* whole(response: IncomingMessage, client: Client): AsyncGenerator {
  try {
    yield* response;
  } catch (error) {
    throw new UsageError(`the export of ${client.url} broke off: it is not whole`, { cause: error });
  }
}
