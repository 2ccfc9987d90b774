import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const SUITE = 'trixie';
/** Packages of Debian, with their dependencies among each other. */
const PACKAGES = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1', 'ca-certificates', 'base-files'];
/** What Node and addons are linked with, and what glibc loads to resolve names. */
const LIBRARIES = [
  'libc.so.6',
  'libm.so.6',
  'libdl.so.2',
  'libpthread.so.0',
  'librt.so.1',
  'libresolv.so.2',
  'libnss_dns.so.2',
  'libnss_files.so.2',
  'libgcc_s.so.1',
  'libstdc++.so.6',
  'libatomic.so.1',
];
/** Name of Debian's folder of libraries, and path of the loader that programs name. */
const MACHINES: Readonly<Record<string, readonly [string, string]>> = {
  x64: ['x86_64-linux-gnu', 'lib64/ld-linux-x86-64.so.2'],
  arm64: ['aarch64-linux-gnu', 'lib/ld-linux-aarch64.so.1'],
};
const BUNDLE = 'etc/ssl/certs/ca-certificates.crt';

/** Writes the C library, its loader and the certificates of authorities. No script of a Debian package runs; apt checks the signatures. */
export function writeBase(root: string): void {
  const [triple, loader] = MACHINES[process.arch] ?? [];
  if (triple === undefined || loader === undefined) throw new Error(`there is no image for ${process.arch}`);
  const debian = mkdtempSync(join(tmpdir(), 'gw-base-'));
  try {
    extract(debian);
    for (const name of LIBRARIES) copy(debian, root, `usr/lib/${triple}/${name}`);
    copy(debian, root, `usr/${loader}`);
    for (const name of ['lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
    for (const name of ['etc/os-release', 'etc/debian_version']) copy(debian, root, name);
    for (const name of PACKAGES) copy(debian, root, `usr/share/doc/${name}/copyright`);
    writeCertificates(debian, root);
  } finally {
    rmSync(debian, { recursive: true, force: true });
  }
}

function extract(folder: string): void {
  const { status, error } = spawnSync(
    'mmdebstrap',
    ['--quiet', '--variant=extract', `--include=${PACKAGES.join(',')}`, SUITE, folder],
    { stdio: ['ignore', 2, 2] },
  );
  if (status !== 0) throw new Error(`mmdebstrap ended with ${status ?? 'a signal'}`, { cause: error });
}

/** A link is copied as the file that it names. */
function copy(from: string, to: string, path: string): void {
  mkdirSync(dirname(join(to, path)), { recursive: true });
  copyFileSync(realpathSync(join(from, path)), join(to, path));
}

/** Debian makes this file by a script of the package. */
function writeCertificates(from: string, to: string): void {
  const folder = join(from, 'usr/share/ca-certificates');
  const files = globSync('**/*.crt', { cwd: folder }).toSorted();
  if (files.length === 0) throw new Error('the package ca-certificates has no certificate');
  mkdirSync(dirname(join(to, BUNDLE)), { recursive: true });
  writeFileSync(
    join(to, BUNDLE),
    files.map((file) => readFileSync(join(folder, file), 'utf8').trimEnd() + '\n').join(''),
  );
  cpSync(join(from, 'usr/share/doc/ca-certificates'), join(to, 'usr/share/doc/ca-certificates'), { recursive: true });
}
