import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { variablesOf } from '../replay/scenes/vendors.ts';
import { standingClock } from './standing-clock.ts';
import { seeded } from '../kit/random.ts';
import type { Case } from './documents.ts';

export const KEY = 'gw_0123456789abcdef0123456789abcdef';

/** The code of one checkout; what is used of it has been the same for all that are compared. */
export interface Code {
  open(given: Case, vendorUrl: string): Promise<Gateway>;
}

export interface Gateway {
  readonly url: string;
  /** Rows of the request log so far. */
  readonly rows: readonly object[];
  /** Names and labels of figures so far. */
  readonly figures: ReadonlySet<string>;
  apply(document: object): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Loads a checkout into this process. */
export async function loadCode(root: string): Promise<Code> {
  const load = (file: string): Promise<any> => import(pathToFileURL(join(root, file)).href);
  const [{ createHost }, { createApp }, { createHttpServer, listen }, { MODULES }, { TEST_BUILTINS }] =
    await Promise.all(
      [
        'host/create-host.ts',
        'host/http/app.ts',
        'host/http/server.ts',
        'builtins/manifest.ts',
        'test/kit/builtins.ts',
      ].map(load),
    );
  const [{ defineBuiltin }, { decodeText }, { connectProviders }, { StoreClock }] = await Promise.all(
    ['host/builtin.ts', 'host/config/decode.ts', 'host/start/steps.ts', 'host/stores/replicas/store-clock.ts'].map(
      load,
    ),
  );
  class StandingTime extends StoreClock {
    override read(): void {}
  }
  const open = async (given: Case, vendorUrl: string): Promise<Gateway> => {
    const rows: object[] = [];
    const figures = new Set<string>();
    const log = defineBuiltin({
      name: 'test-log',
      apply: ({ hooks }: any) =>
        hooks.open.tapPromise('test-log', async ({ stores }: any) =>
          stores.requestLog.supply('sqlite', {
            append: (row: object) => rows.push(row),
            annotate: (stage: string, row: object) => rows.push({ stage, annotated: row }),
          }),
        ),
    });
    const host = createHost({
      variables: variablesIn(given, vendorUrl),
      workingDirectory: root,
      installDirectory: join(root, 'test/fixtures'),
      build: { version: 'test', commit: 'none', built: 'unknown' },
      argv: [],
      platform: { node: 'any', os: 'any', arch: 'any' },
      clock: standingClock(),
      storeClock: (machine: unknown) => new StandingTime(machine),
      random: seeded(given.seed),
      lines: { write: () => {} },
      modules: MODULES,
      builtins: [...TEST_BUILTINS, log],
    });
    const keep = (name: string, labels: object): void => {
      figures.add(`${name} ${JSON.stringify(labels)}`);
    };
    host.counters.attach({
      add: (name: string, labels: object) => keep(name, labels),
      observe: (name: string, _value: number, labels: object) => keep(name, labels),
    });
    host.registry.seal();
    await host.hooks.open.promise(host);
    await connectProviders(host, new Set());
    const server = createHttpServer(createApp(host), host);
    const url = `http://127.0.0.1:${await listen(server, '0')}`;
    return {
      url,
      rows,
      figures,
      apply: async (document) => {
        try {
          await host.applier.applyStart({ own: decodeText(JSON.stringify(document), 'json') });
          return undefined;
        } catch (error) {
          return String((error as Error).message);
        }
      },
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        await host.close();
      },
    };
  };
  return { open };
}

function variablesIn({ registered }: Case, url: string): Record<string, string> {
  return {
    MASTER_KEY: KEY,
    RATE_LIMIT_RPS: '0',
    LOG_LEVEL: 'error',
    ...Object.assign({}, ...registered.map((vendor) => variablesOf(vendor, `${url}/${vendor}`))),
  };
}
