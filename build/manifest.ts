import { EXTERNAL } from './bundle.ts';
import { DECLARATIONS, TYPES } from './types.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** What `gw version` prints. */
export interface Stamp {
  readonly version: string;
  readonly commit: string;
  readonly built: string;
}

/** The manifest of the package, as far as what is made beside it asks. */
interface Packed {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly exports: object;
  readonly [field: string]: unknown;
}

/** The `package.json` of the package: built files in the place of the sources, and only what is not in the bundle as a dependency. */
export function packedManifest(source: Manifest, stamp: Omit<Stamp, 'version'>): Packed {
  const { devDependencies: _, allowScripts: __, files: ___, ...kept } = source;
  return {
    ...kept,
    gw: { version: source.version, ...stamp },
    bin: { gw: 'dist/gw.js' },
    exports: {
      ...Object.fromEntries(
        Object.entries(DECLARATIONS).map(([name, file]) => [
          name,
          { types: `./dist/${TYPES}/${file}`, default: `./dist/${name.slice(2) || 'index'}.js` },
        ]),
      ),
      './register': './dist/register.js',
      './joi': './dist/joi.js',
      './package.json': './package.json',
    },
    files: [
      'dist',
      'builtins/dashboard/dist',
      'docs',
      'config.example.yaml',
      'CHANGELOG.md',
      'SECURITY.md',
      'npm-shrinkwrap.json',
    ],
    scripts: { postpack: source.scripts['postpack'] }, // npm still has to run it
    dependencies: Object.fromEntries(EXTERNAL.map((name) => [name, versionOf(source, name)])),
  };
}

function versionOf({ dependencies }: Manifest, name: string): string {
  const version = dependencies[name];
  if (version === undefined) throw new Error(`${name} is external to the bundle and not a dependency`);
  return version;
}
