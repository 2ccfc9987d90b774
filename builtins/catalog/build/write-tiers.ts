import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isFields } from '../../../host/contract/index.ts';
import { type Tiered, tieredModel } from './litellm.ts';
import { TIERS_FILE } from './tiers.ts';

/**
 * `npm run catalog:tiers -- <file> <version>`: makes `tiers.json` anew from `model_prices_and_context_window_backup.json` of the
 * wheel of LiteLLM. Only models that the catalog lists, and only what it takes of them.
 */
const [file, version] = parseArgs({ allowPositionals: true }).positionals;
if (file === undefined || version === undefined) throw new Error('usage: npm run catalog:tiers -- <file> <version>');
const text = readFileSync(file, 'utf8');
const source: unknown = JSON.parse(text);
const listed: unknown = JSON.parse(readFileSync(new URL('../models.json', import.meta.url), 'utf8'));
if (!isFields(source) || !isFields(listed)) throw new Error(`${file} is not an object of models`);

const models = Object.keys(listed).flatMap((key) => {
  const tiered = tieredModel(key, source);
  return tiered ? [[key, tiered] as const] : [];
});
const about = {
  package: 'litellm (PyPI)',
  version,
  file: 'litellm/model_prices_and_context_window_backup.json',
  sha256: hash('sha256', text),
  licence: 'MIT, © 2023 Berri AI; of files outside of enterprise/',
};
const line = ([key, tiered]: readonly [string, Tiered]): string => `${JSON.stringify(key)}:${JSON.stringify(tiered)}`;
writeFileSync(TIERS_FILE, `{"source":${JSON.stringify(about)},"models":{\n${models.map(line).join(',\n')}\n}}\n`);
process.stdout.write(`${models.length} models with tiers in ${fileURLToPath(TIERS_FILE)}\n`);
