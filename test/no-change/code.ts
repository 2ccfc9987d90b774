import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What is used of a checkout. All that are compared have it, by these names. */
export interface Code {
  readonly root: string;
  readonly modules: readonly object[];
  /** With a catalog that stays, whatever becomes of the shipped one. */
  readonly builtins: readonly object[];
  readonly createHost: (deps: object) => any;
  readonly createApp: (host: object) => any;
  readonly createHttpServer: (app: object, host: object) => any;
  readonly listen: (server: object, port: string) => Promise<number>;
  readonly defineBuiltin: (builtin: { readonly name: string; readonly apply: (host: any) => unknown }) => object;
  readonly decodeText: (text: string, format: 'json') => object;
  readonly connectProviders: (host: object, declared: ReadonlySet<string>) => Promise<void>;
  readonly StoreClock: new (machine: unknown) => object;
}

const FILES = {
  createHost: 'host/create-host.ts',
  createApp: 'host/http/app.ts',
  createHttpServer: 'host/http/server.ts',
  listen: 'host/http/server.ts',
  defineBuiltin: 'host/builtin.ts',
  decodeText: 'host/config/decode.ts',
  connectProviders: 'host/start/steps.ts',
  StoreClock: 'host/stores/replicas/store-clock.ts',
} as const;

/** Loads a checkout into this process. */
export async function loadCode(root: string): Promise<Code> {
  const load = (file: string): Promise<any> => import(pathToFileURL(join(root, file)).href);
  const { MODULES: modules, BUILTINS } = await load('builtins/manifest.ts');
  const catalog = await keptCatalog(load);
  const used = await Promise.all(
    Object.entries(FILES).map(async ([name, file]) => [name, (await load(file))[name]] as const),
  );
  const builtins = (BUILTINS as readonly { readonly name: string }[]).map((builtin) =>
    builtin.name === catalog.name ? catalog : builtin,
  );
  return { root, modules, builtins, ...(Object.fromEntries(used) as Omit<Code, 'root' | 'modules' | 'builtins'>) };
}

/** A part of the catalog and its rules as they were on 2026-11-21. */
async function keptCatalog(load: (file: string) => Promise<any>): Promise<{ readonly name: string }> {
  const { models, rules } = JSON.parse(await readFile(new URL('catalog.json', import.meta.url), 'utf8'));
  const { catalogBuiltin } = await load('builtins/catalog/catalog.ts');
  const { loadCatalog } = await load('builtins/catalog/load.ts');
  const { readRules } = await load('builtins/catalog/read-rules.ts');
  return catalogBuiltin(async (overlay: unknown, chains: unknown) =>
    loadCatalog(JSON.stringify(models), overlay, { chains, rules: readRules(rules) }),
  );
}
