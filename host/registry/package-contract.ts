import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONTRACT_VERSION, isFields, tryParseJson } from '../contract/index.ts';
import { isInRange } from './contract-range.ts';

/**
 * What is wrong with the range that a package states under `"gw": { "contract": "^1.0" }`. Asked before it is imported: a
 * package for another contract fails with whatever it misses first.
 */
export function statedContract(file: string): { readonly message: string; readonly fix: string } | undefined {
  const range = manifestOf(file)?.['gw'];
  const stated = isFields(range) ? range['contract'] : undefined;
  if (stated === undefined) return undefined;
  const isIn = typeof stated === 'string' ? isInRange(CONTRACT_VERSION, stated) : undefined;
  if (typeof stated !== 'string' || isIn === undefined)
    return {
      message: `its package.json states "gw.contract" ${JSON.stringify(stated)}, which is not a range of versions`,
      fix: 'write a range such as "^1.0"',
    };
  if (isIn) return undefined;
  return {
    message: `it was written for contract ${stated}, this gateway has ${CONTRACT_VERSION}`,
    fix: 'install a version of the package, or of the gateway, that fits the other',
  };
}

/** The version of the package that a file belongs to. */
export function packageVersion(file: string): string | undefined {
  const version = manifestOf(file)?.['version'];
  return typeof version === 'string' ? version : undefined;
}

function manifestOf(file: string): Readonly<Record<string, unknown>> | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = readManifest(join(folder, 'package.json'));
    if (found && 'name' in found) return found; // folders of built files hold manifests that say only their type
    if (folder === dirname(folder)) return undefined;
  }
}

function readManifest(path: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const read = tryParseJson(readFileSync(path, 'utf8'));
    return isFields(read) ? read : undefined;
  } catch {
    return undefined;
  }
}
