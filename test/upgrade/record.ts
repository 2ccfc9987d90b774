/**
 * Records what a gateway of this checkout keeps, for every later one to open: `node test/upgrade/record.ts <version>`. It writes
 * test/upgrade/recorded/<version>, and never into a folder that is there. Run it for each release.
 */
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decisionsOf } from './decisions.ts';
import { answersOf, openRecorded, type Recorded } from './answers.ts';
import { sqlOf } from './sqlite-text.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [version = ''] = process.argv.slice(2);
const out = fileURLToPath(new URL(`recorded/${version}`, import.meta.url));
if (!/^\d+\.\d+\.\d+$/.test(version) || existsSync(out))
  throw new Error('use: record.ts <version>, of a release that is not recorded');

const folder = mkdtempSync(join(tmpdir(), 'gw-record-'));
mkdirSync(join(out, 'configurations'), { recursive: true });
const recorded = await openRecorded(folder);
await use(recorded);
await recorded.close();
const again = await openRecorded(folder); // what a next start shows, and not what memory still knew
writeJson('answers.json', await answersOf(again));
await again.close();
for (const name of readdirSync(folder).filter((each) => each.endsWith('.db')))
  writeFileSync(join(out, name.replace(/db$/, 'sql')), sqlOf(join(folder, name)));
rmSync(folder, { recursive: true });

copyFileSync(join(ROOT, 'config.example.yaml'), join(out, 'configurations/everything.yaml'));
for (const path of globSync('examples/*/config.yaml', { cwd: ROOT }))
  copyFileSync(join(ROOT, path), join(out, `configurations/${path.split('/')[1] ?? ''}.yaml`));
const decisions: Record<string, unknown> = {};
for (const name of readdirSync(join(out, 'configurations')).toSorted()) {
  if (name === 'everything.yaml') continue; // it names servers that would be called
  decisions[name] = await decisionsOf(readFileSync(join(out, 'configurations', name), 'utf8'));
}
writeJson('decisions.json', decisions);

function writeJson(name: string, value: unknown): void {
  writeFileSync(join(out, name), `${JSON.stringify(value, undefined, 1)}\n`);
}

/** Keys, accounts, budgets, versions of the configuration, requests that end well and badly. */
async function use({ ask }: Recorded): Promise<void> {
  const config = {
    strategy: { mode: 'fallback' },
    targets: [{ virtual_key: 'echo', models: ['demo', 'gpt-4o-mini'] }],
  };
  const logger = ['before_request', 'after_request', 'on_error'].map((stage) => ({
    name: 'request-logger',
    stage,
    enabled: true,
    config: { persist: true },
  }));
  await ask('PUT', '/admin/config', { ...config, plugins: logger });
  await ask('PUT', '/admin/config', { ...config, plugins: logger, aliases: { fast: 'demo' } });
  await ask('POST', '/admin/accounts', { path: '/acme', title: 'Acme', budgets: [{ requests: 5, every: 'total' }] });
  const { body: ada } = await ask('POST', '/admin/keys', {
    name: 'ada',
    account: '/acme',
    access: 'inference',
    rpm: 600,
  });
  const { body: bo } = await ask('POST', '/admin/keys', { name: 'bo', budget_usd: 10, scopes: ['read_only'] });
  const { body: eve } = await ask('POST', '/admin/keys', { name: 'eve' });
  await ask('POST', `/admin/keys/${eve.id}/revoke`);
  for (const [model, key] of [
    ['demo', ada.key],
    ['fast', ada.key],
    ['gpt-4o-mini', bo.key],
    ['nothing', bo.key],
    ['demo', eve.key],
  ] as const)
    await ask('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] }, key as string);
}
