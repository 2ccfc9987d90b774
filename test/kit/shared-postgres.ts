import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { errorMessage } from '../../host/common/error-message.ts';
import { Missing } from './missing.ts';

/** The address at which the files of a parallel run ask for the server that they share. */
const VARIABLE = 'GW_TEST_SHARED_POSTGRES';

/** The DSN of the server that the files of a parallel run share; undefined in another run. Throws a `Missing` where there can be none. */
export async function sharedDsn(): Promise<string | undefined> {
  const address = process.env[VARIABLE];
  if (!address) return undefined;
  const [reply] = (await once(get(address, { agent: false }), 'response')) as [IncomingMessage];
  const answer = await text(reply);
  if (reply.statusCode !== 200) throw new Missing('Postgres', answer);
  return answer;
}

interface Launched {
  readonly dsn: string;
  remove(): Promise<void>;
}

/** The server of the process that starts the files of a parallel run: launched when the first of them asks, and removed after the last. */
export class SharedPostgres {
  readonly #server: Server;
  #launched: Promise<Launched> | undefined;

  constructor(launch: () => Promise<Launched>) {
    this.#server = createServer((_, response) => {
      this.#launched ??= launch();
      this.#launched.then(
        ({ dsn }) => response.end(dsn),
        (error: unknown) => response.writeHead(503).end(error instanceof Missing ? error.why : errorMessage(error)),
      );
    });
  }

  /** Processes that are started from here on can ask. */
  async open(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    process.env[VARIABLE] = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    await (await this.#launched?.catch(() => undefined))?.remove();
  }
}
