import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolders } from './licenses.ts';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
}

interface Component {
  readonly type: 'library';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly object[];
  readonly hashes?: readonly object[];
  readonly properties: readonly { readonly name: string; readonly value: string }[];
}

/** What a bill of materials is of. */
export interface Materials {
  readonly root: string;
  readonly name: string;
  readonly version: string;
  /** When it was built, as the package is stamped. */
  readonly built: string;
  /** Files that are in the bundle. */
  readonly inputs: readonly string[];
  /** Packages that an install brings, by their folders. */
  readonly installed: Readonly<Record<string, Locked>>;
}

/** A bill of materials in CycloneDX 1.6: every package that is in the bundle, and every one that an install brings. */
export function sbomOf({ root, name, version, built, inputs, installed }: Materials): object {
  const bundled = packageFolders(inputs).map((folder) => ofManifest(join(root, folder)));
  const others = Object.entries(installed).flatMap(([folder, locked]) =>
    folder === '' ? [] : ofLock(root, folder, locked),
  );
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: built,
      component: { type: 'application', name, version, purl: purlOf(name, version), 'bom-ref': purlOf(name, version) },
    },
    components: [...bundled, ...others].toSorted((one, other) => (one.purl < other.purl ? -1 : 1)),
  };
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  /** As older packages say it. */
  readonly licenses?: readonly { readonly type: string }[];
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

function ofManifest(folder: string): Component {
  const { name, version, license } = manifestIn(folder);
  return component(name, version, { license, place: 'bundle' });
}

function ofLock(root: string, folder: string, { version = '', integrity, license }: Locked): Component {
  const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const said = license ?? manifestIn(join(root, folder)).licenses?.[0]?.type;
  return component(name, version, { license: said, integrity, place: 'node_modules' });
}

interface Facts {
  readonly license: string | undefined;
  readonly integrity?: string | undefined;
  readonly place: 'bundle' | 'node_modules';
}

function component(name: string, version: string, { license, integrity, place }: Facts): Component {
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? '') ?? [];
  return {
    type: 'library',
    name,
    version,
    purl: purlOf(name, version),
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    ...(digest !== undefined && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    properties: [{ name: 'gw:in', value: place }],
  };
}

const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;
