import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { EXTERNAL } from '../bundle.ts';
import { type Lock, lockedPackages } from './locked-packages.ts';

/** Tools that build addons when a package is installed; a program that runs never loads them. */
const INSTALLERS: ReadonlySet<string> = new Set(['node-gyp', 'tar', 'prebuild-install', 'node-abi', 'node-addon-api']);
/** Sources of an addon, below its package. */
const SOURCES = ['sqlite3/deps', 'sqlite3/src'];
/** What only authors and readers of the package use. */
const UNUSED = ['dist/types', 'docs', 'npm-shrinkwrap.json'];
const LICENCE = /^(?:licen[cs]e|copying|notice)/i;

/** Writes Node, the gateway as `npm pack` made it, and the locked packages that it loads, from the checkout's own `node_modules`. */
export function writeProgram(root: string, checkout: string, archive: string): void {
  const home = join(root, 'opt/gw');
  mkdirSync(home, { recursive: true });
  const { status } = spawnSync('tar', ['-xzf', archive, '--strip-components=1', '--no-same-owner', '-C', home], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error(`${archive} could not be unpacked`);
  for (const name of UNUSED) rmSync(join(home, name), { recursive: true, force: true });
  const lock = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8')) as Lock;
  for (const folder of lockedPackages(lock, EXTERNAL, INSTALLERS))
    copyPackage(join(checkout, folder), join(home, folder));
  writeCommands(root, checkout);
}

/** Packages within it are copied for themselves, where they are needed. */
function copyPackage(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    filter: (path) => path === from || (basename(path) !== 'node_modules' && !isUnused(path)),
  });
}

function isUnused(path: string): boolean {
  if (SOURCES.some((source) => path.endsWith(`/node_modules/${source}`))) return true;
  return /\.(?:map|d\.m?ts|d\.cts|md)$/i.test(path) && !LICENCE.test(basename(path));
}

/** Without a shell in the image, `gw` is a script of Node. */
function writeCommands(root: string, checkout: string): void {
  const folder = join(root, 'usr/bin');
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(checkout, 'node_modules/node/bin/node'), join(folder, 'node'));
  writeFileSync(join(folder, 'gw'), '#!/usr/bin/node\nimport("/opt/gw/dist/gw.js")\n');
  for (const name of globSync('*', { cwd: folder })) chmodSync(join(folder, name), 0o755);
}
