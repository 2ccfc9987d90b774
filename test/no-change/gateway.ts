import { join } from 'node:path';
import { seeded } from '../kit/random.ts';
import { variablesOf } from '../replay/scenes/vendors.ts';
import type { Code } from './code.ts';
import type { Case } from './documents.ts';
import { standingClock } from './standing-clock.ts';

export const KEY = 'gw_0123456789abcdef0123456789abcdef';

/** A gateway in this process, on a port of its own. */
export interface Gateway {
  readonly url: string;
  /** Rows of the request log so far. */
  readonly rows: readonly object[];
  /** Names and labels of figures so far. */
  readonly figures: ReadonlySet<string>;
  /** What is said of a document that is refused; `undefined` for one that applies. */
  apply(document: object): Promise<string | undefined>;
  close(): Promise<void>;
}

export async function openGateway(code: Code, given: Case, vendorUrl: string): Promise<Gateway> {
  const rows: object[] = [];
  const figures = new Set<string>();
  const host = createHost(code, { given, vendorUrl, rows });
  const keep = (name: string, labels: object): void => {
    figures.add(`${name} ${JSON.stringify(labels)}`);
  };
  host.counters.attach({ add: keep, observe: (name: string, _value: number, labels: object) => keep(name, labels) });
  host.registry.seal();
  await host.hooks.open.promise(host);
  await code.connectProviders(host, new Set());
  const server = code.createHttpServer(code.createApp(host), host);
  return {
    url: `http://127.0.0.1:${await code.listen(server, '0')}`,
    rows,
    figures,
    apply: (document) =>
      host.applier.applyStart({ own: code.decodeText(JSON.stringify(document), 'json') }).then(
        () => undefined,
        (error: Error) => error.message,
      ),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await host.close();
    },
  };
}

interface Surroundings {
  readonly given: Case;
  readonly vendorUrl: string;
  readonly rows: object[];
}

function createHost(code: Code, { given, vendorUrl, rows }: Surroundings): any {
  class StandingTime extends code.StoreClock {
    read(): void {}
  }
  return code.createHost({
    variables: variablesIn(given, vendorUrl),
    workingDirectory: code.root,
    installDirectory: join(code.root, 'test/fixtures'),
    build: { version: 'test', commit: 'none', built: 'unknown' },
    argv: [],
    platform: { node: 'any', os: 'any', arch: 'any' },
    clock: standingClock(),
    storeClock: (machine: unknown) => new StandingTime(machine),
    random: seeded(given.seed),
    lines: { write: () => {} },
    modules: code.modules,
    builtins: [...code.builtins, keepingRows(code, rows)],
  });
}

const keepingRows = (code: Code, rows: object[]): object =>
  code.defineBuiltin({
    name: 'test-log',
    apply: ({ hooks }) =>
      hooks.open.tapPromise('test-log', async ({ stores }: any) =>
        stores.requestLog.supply('sqlite', {
          append: (row: object) => rows.push(row),
          annotate: (stage: string, row: object) => rows.push({ stage, annotated: row }),
        }),
      ),
  });

function variablesIn({ registered }: Case, url: string): Record<string, string> {
  return {
    MASTER_KEY: KEY,
    RATE_LIMIT_RPS: '0',
    LOG_LEVEL: 'error',
    GW_SPEND: 'off', // it counts every request, and is on since the digests were recorded
    ...Object.assign({}, ...registered.map((vendor) => variablesOf(vendor, `${url}/${vendor}`))),
  };
}
