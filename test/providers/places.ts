import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MODULES } from '../../builtins/manifest.ts';
import { type Place, PLACES } from '../../builtins/cli/modules/shipped/shipped-places.ts';
import type { ProviderModule } from '../../host/contract/index.ts';
import { read, ROOT } from '../architecture/source.ts';
import { EXCLUDED } from '../contract/providers/own-facts.ts';

/** A place that lacks a provider, or names one that there is not. */
export interface Gap {
  readonly provider: string;
  readonly file: string;
  readonly message: string;
}

/** The files of a checkout, and the providers that its manifest lists. */
export interface Tree {
  /** The folders in `providers/`, without those that hold shared code. */
  readonly folders: readonly string[];
  readonly modules: readonly (Pick<ProviderModule, 'name' | 'wire' | 'offline'> &
    Partial<Pick<ProviderModule, 'connection'>>)[];
  read(file: string): string;
  exists(file: string): boolean;
}

const MANIFEST = 'builtins/manifest.ts';
/** Rows of the catalog stand for a reason; test/catalog/shipped.test.ts asks for one of the two. */
const CATALOG = 'test/catalog/providers-without-rows.ts';
/** What a row of `facts.ts` needs of golden files. */
const GOLDEN = ['reply.json', 'stream.txt', 'error-401.json', 'error-404.json'] as const;

/** Where the golden answers of a provider's chat lie. */
export const goldenFolder = (name: string): string =>
  `test/fixtures/${name}/chat${name === 'openai' ? '/conformance' : ''}`;

type Module = Tree['modules'][number];

const isNative = ({ wire }: Module): boolean => wire === 'native';
/** Providers whose refusals stand in test/kit/strict/index.ts. */
const OWN_RULES: ReadonlySet<string> = new Set(['anthropic', 'bedrock', 'cohere', 'gemini', 'mistral', 'replicate']);
/** Providers that a file does not list, beside those without a vendor. */
const ELSEWHERE: Readonly<Record<string, (module: Module) => boolean>> = {
  'test/contract/providers/facts.ts': ({ name }) => name in EXCLUDED,
  'test/e2e/support/vendors/vendors.ts': isNative,
  'test/kit/strict/vendors.ts': ({ name }) => OWN_RULES.has(name),
  [CATALOG]: () => true,
};
/** Where a provider without a vendor stands as well. */
const OF_ALL: ReadonlySet<string> = new Set([MANIFEST, 'row of the table "Providers"']);

const isAsked = ({ file, what }: Place, module: Module): boolean =>
  module.offline || module.connection?.onlyDeclared
    ? OF_ALL.has(file) || OF_ALL.has(what)
    : ELSEWHERE[file]?.(module) !== true;

const gap = (provider: string, file: string, message: string): Gap => ({ provider, file, message });

/** Every place that lacks a provider of the tree, or names one without a folder. A provider that the manifest lacks has this gap alone. */
export function gapsIn(tree: Tree): readonly Gap[] {
  const named = PLACES.map((place) => ({ place, names: new Set(place.names(tree.read(place.file))) }));
  return [
    ...tree.folders.flatMap((name) => gapsOf(name, tree, named)),
    ...named.flatMap(({ place: { file, what }, names }) =>
      [...names]
        .filter((name) => !tree.folders.includes(name))
        .map((name) => gap(name, file, `${name}: ${what} in ${file}, and no folder providers/${name}`)),
    ),
  ];
}

interface Named {
  readonly place: Place;
  readonly names: ReadonlySet<string>;
}

function gapsOf(name: string, tree: Tree, named: readonly Named[]): readonly Gap[] {
  const missing = ({ file, what }: Place): Gap => gap(name, file, `${name}: no ${what} in ${file}`);
  const module = tree.modules.find((each) => each.name === name);
  const lacking = named.filter(({ names }) => !names.has(name)).map(({ place }) => place);
  const unlisted = lacking.find(({ file }) => file === MANIFEST);
  if (unlisted) return [missing(unlisted)];
  if (!module)
    return [gap(name, MANIFEST, `${name}: ${MANIFEST} lists providers/${name}, whose module has another name`)];
  const golden = name in EXCLUDED ? [] : GOLDEN.map((file) => `${goldenFolder(name)}/${file}`);
  return [
    ...lacking.filter((place) => isAsked(place, module)).map(missing),
    ...[`test/providers/${name}.test.ts`, ...golden]
      .filter((file) => !tree.exists(file))
      .map((file) => gap(name, file, `${name}: no ${file}`)),
  ];
}

/** This checkout. */
export const CHECKOUT: Tree = {
  folders: readdirSync(join(ROOT, 'providers')).filter((name) => !/^[._]/.test(name)),
  modules: MODULES.filter((module) => module.kind === 'provider'),
  read,
  exists: (file) => existsSync(join(ROOT, file)),
};

/** The gaps of this checkout. `places.test.ts` says each once; other tests pass over what is missing. */
export const GAPS = gapsIn(CHECKOUT);

/** For `before` of a suite that starts from a checkout without gaps: `places.test.ts` has said what is missing. */
export function skipWithGaps(this: Mocha.Context): void {
  if (GAPS.length > 0) this.skip();
}

/** Whether a name is a provider of this checkout that the manifest lists, and that stands in this place. */
export function isHeld(name: string, file: string = MANIFEST): boolean {
  const gaps = new Set(GAPS.filter(({ provider }) => provider === name).map((each) => each.file));
  return CHECKOUT.folders.includes(name) && !gaps.has(MANIFEST) && !gaps.has(file);
}

/** Whether a provider has the golden answers that a row of `facts.ts` needs. */
export const hasGolden = (name: string): boolean =>
  GOLDEN.every((file) => isHeld(name, `${goldenFolder(name)}/${file}`));
