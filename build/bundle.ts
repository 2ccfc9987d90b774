import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

/**
 * Loaded by few gateways, and large: they stay dependencies of the package. Everything else is in the bundle, because a start
 * is mostly the finding and reading of several hundred files.
 */
export const EXTERNAL = [
  '@aws-sdk/credential-providers',
  '@grpc/grpc-js',
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-grpc',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  '@smithy/eventstream-codec',
  '@smithy/signature-v4',
  'google-auth-library',
  'http-proxy-middleware',
  'knex',
  'multer',
  'pg',
  'prom-client',
  'sqlite3',
] as const;

/** What `main` must share with third-party modules is an entry of its own: every module that imports it gets the bundle's own instance. */
const ENTRIES = {
  main: 'host/main.ts',
  'stop-signal': 'host/stop-signal.ts',
  contract: 'host/contract/index.ts',
  'common-wire': 'providers/_common/index.ts',
  testing: 'host/testing/testing.ts',
  register: 'host/registry/register.ts',
  index: 'host/embed/create-gateway.ts',
  joi: 'host/contract/joi.ts',
} as const;

/** CommonJS libraries in the bundle require Node's own modules. */
const REQUIRE =
  "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);";

/** Writes the gateway into `folder`, flat: files find each other, and the catalog, beside themselves. */
export async function bundle(root: string, folder: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES,
    outdir: folder,
    entryNames: '[name]',
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: [...EXTERNAL, 'typescript'], // cosmiconfig's loader of TypeScript files, which the gateway never asks for
    alias: { 'gw/contract': join(root, ENTRIES.contract), 'gw/common-wire': join(root, ENTRIES['common-wire']) },
    plugins: [expressRouter(root), fewChunks(root), withLateFiles(root), withoutHttp2()],
    banner: { js: REQUIRE },
    legalComments: 'none', // build/licenses.ts collects the texts
    metafile: true,
    logLevel: 'warning',
  });
  refuseLateLibraries(metafile);
  for (const output of Object.keys(metafile.outputs)) compileLibrariesAtOnce(join(root, output));
  return metafile;
}

/** A CommonJS file as esbuild wraps it: its name, its function, the end. */
const WRAPPED = /(__commonJS\(\{\n {2}"[^"\n]+")(\([^)\n]*\) \{\n[^]*?\n {2}\})\n\}\);/g;

/**
 * Each CommonJS file of the bundle is a function, which V8 would compile at each start when it is called: what it compiles with the script, and so
 * keeps in the compile cache, is the script itself and each function in parentheses.
 */
function compileLibrariesAtOnce(path: string): void {
  const source = readFileSync(path, 'utf8');
  const changed = source.replace(WRAPPED, (_wrapped, name: string, body: string) => `${name}: (function${body})\n});`);
  const left =
    changed.split('__commonJS({').length - changed.split(/__commonJS\(\{\n {2}"[^"\n]+": \(function\(/).length;
  if (left !== 0) throw new Error(`${path} has ${left} CommonJS files that build/bundle.ts does not recognize`);
  if (changed !== source) writeFileSync(path, changed);
}

/** Loaded late, and asked for by its default. */
const BY_DEFAULT = ['node_modules/cosmiconfig/dist/Explorer.js'];

/**
 * A CommonJS library that is in the bundle and imported with `import()` has no named exports there, as it has in Node. What
 * loads one must be written for that, and be listed above.
 */
function refuseLateLibraries({ outputs }: Metafile): void {
  for (const [output, { entryPoint }] of Object.entries(outputs)) {
    const library = entryPoint !== undefined && entryPoint.includes('node_modules/');
    if (library && !BY_DEFAULT.some((known) => entryPoint.endsWith(known)))
      throw new Error(`${output} is ${entryPoint}, loaded with import(): import it statically, or by its default`);
  }
}

/** `host/http/router.ts` asks for the router as Express itself has it, at run time; here the bundler learns where that is. */
function expressRouter(root: string): Plugin {
  return {
    name: 'express router',
    setup: (setup) => {
      setup.onLoad({ filter: /host[\\/]http[\\/]router\.ts$/ }, ({ path }) => {
        const express = createRequire(path).resolve('express');
        const router = createRequire(express).resolve('router');
        const source = readFileSync(path, 'utf8');
        const asked = "createRequire(import.meta.resolve('express'))('router')";
        if (!source.includes(asked)) throw new Error(`${path} does not ask for the router as build/bundle.ts knows it`);
        const contents = `import expressRouter from ${JSON.stringify(router)};\n${source.replace(asked, 'expressRouter')}`;
        return { contents, loader: 'ts', resolveDir: dirname(path), watchFiles: [join(root, 'package.json')] };
      });
    },
  };
}

/**
 * Code that two parts share, of which one is loaded late, is a chunk of its own, and every chunk of a start is a file to find and to compile.
 * So of what is loaded late one part holds the whole gateway, and another one every command that runs none.
 */
function fewChunks(root: string): Plugin {
  const parts: ReadonlyMap<string, readonly string[]> = new Map([
    [
      'gateway',
      [
        'host/create-host.ts',
        'builtins/manifest.ts',
        'host/registry/resolve-hook.ts',
        'host/embed/embedded-gateway.ts',
        'host/upstream/secrets/variable-files.ts',
        'builtins/cli/serve.ts',
      ],
    ],
    [
      'commands',
      lateImports(join(root, 'builtins/cli/commands.ts'))
        .filter((path) => path !== 'serve')
        .map((path) => `builtins/cli/${path}.ts`),
    ],
  ]);
  const partOf = new Map([...parts].flatMap(([part, files]) => files.map((file) => [file, part])));
  return {
    name: 'few chunks',
    setup: (setup) => {
      setup.onLoad(
        { filter: /(?:host[\\/]main|host[\\/]embed[\\/]create-gateway|builtins[\\/]cli[\\/]commands)\.ts$/ },
        ({ path }) => {
          const contents = readFileSync(path, 'utf8').replace(LATE_IMPORT, (written, file: string) => {
            const name = relative(root, join(dirname(path), file)).replaceAll('\\', '/');
            const part = partOf.get(name);
            return part === undefined ? written : `import('gw:${part}').then((part) => part[${JSON.stringify(name)}])`;
          });
          return { contents, loader: 'ts', resolveDir: dirname(path), watchFiles: [path] };
        },
      );
      setup.onResolve({ filter: /^gw:/ }, ({ path }) => ({ path: path.slice('gw:'.length), namespace: 'part' }));
      setup.onLoad({ filter: /.*/, namespace: 'part' }, ({ path }) => {
        const files = parts.get(path) ?? [];
        return {
          contents: files
            .map((file) => `export * as ${JSON.stringify(file)} from ${JSON.stringify(`./${file}`)};`)
            .join('\n'),
          loader: 'js',
          resolveDir: root,
        };
      });
    },
  };
}

const LATE_IMPORT = /\bimport\('(\.[^']+)'\)/g;

/** Files beside this one that it loads late, without their ending. */
function lateImports(path: string): string[] {
  return Array.from(readFileSync(path, 'utf8').matchAll(LATE_IMPORT), ([, file = '']) =>
    file.replace(/^\.\/|\.ts$/g, ''),
  );
}

const LATE_FILE = /\blateFile<typeof \w+>\(\s*import\.meta,\s*'(\.[^']+)',?\s*\)/;

/** What a checkout loads when it is first needed is part of the bundle. */
function withLateFiles(root: string): Plugin {
  const folders = ['host', 'builtins', 'providers', 'plugins', 'strategies'].map((folder) => join(root, folder, sep));
  return {
    name: 'late files',
    setup: (setup) => {
      setup.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const source = folders.some((folder) => path.startsWith(folder)) ? readFileSync(path, 'utf8') : '';
        if (!source.includes('lateFile<typeof ')) return undefined;
        const file = LATE_FILE.exec(source)?.[1];
        if (file === undefined) throw new Error(`${path} names a late file in another way than build/bundle.ts knows`);
        const contents = `import { loadedFile } from ${JSON.stringify(join(root, 'host/contract/late.ts'))};\nimport * as lateParts from '${file}';\n${source.replace(LATE_FILE, 'loadedFile(lateParts)')}`;
        return { contents, loader: 'ts', resolveDir: dirname(path), watchFiles: [path] };
      });
    },
  };
}

/** As `host/own-files.ts` does it in a checkout: undici goes on without. */
function withoutHttp2(): Plugin {
  return {
    name: 'without http2',
    setup: (setup) => {
      setup.onResolve({ filter: /^node:http2$/ }, ({ importer }) =>
        /undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/.test(importer)
          ? { path: 'http2', namespace: 'none' }
          : undefined,
      );
      setup.onLoad({ filter: /^http2$/, namespace: 'none' }, () => ({
        contents: 'module.exports = { constants: {} };',
        loader: 'js',
      }));
    },
  };
}
