import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { priceChanges } from '../../builtins/cli/catalog/price-changes.ts';
import { temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';

const flex = { service_tier: 'flex', input_above: 100 };
const OLD = {
  'acme/a': {
    pricing: {
      input_per_m_tokens: 1,
      output_per_m_tokens: 2,
      lines: [{ when: flex, set: { input_per_m_tokens: 0.5 } }],
    },
  },
  'acme/gone': { pricing: { input_per_m_tokens: 1 } },
  'acme/same': { pricing: { input_per_m_tokens: 1, images: [{ usd: 1 }] }, display_name: 'old' },
};
const NEW = {
  'acme/a': {
    pricing: {
      input_per_m_tokens: 1.5,
      web_search_per_k: 10,
      lines: [
        { when: { input_above: 100, service_tier: 'flex' }, set: { input_per_m_tokens: 0.75 } },
        { when: { speed: 'fast' }, times: 6 },
      ],
    },
  },
  'acme/fresh': { pricing: {} },
  'acme/same': { pricing: { images: [{ usd: 1 }], input_per_m_tokens: 1 }, display_name: 'new' },
};
const CHANGES = [
  { model: 'acme/a', line: 'standard', price: 'input_per_m_tokens', old: 1, new: 1.5 },
  { model: 'acme/a', line: 'standard', price: 'output_per_m_tokens', old: 2, new: null },
  { model: 'acme/a', line: 'input_above=100 service_tier=flex', price: 'input_per_m_tokens', old: 0.5, new: 0.75 },
  { model: 'acme/a', line: 'standard', price: 'web_search_per_k', old: null, new: 10 },
  { model: 'acme/a', line: 'speed=fast', price: 'times', old: null, new: 6 },
  { model: 'acme/fresh', line: '', price: '', old: null, new: 'listed' },
  { model: 'acme/gone', line: '', price: '', old: 'listed', new: null },
];

describe('gw catalog diff', () => {
  it('names each price that differs, by model and line, and models that are new or gone', () => {
    expect(priceChanges(OLD, NEW)).to.deep.equal(CHANGES);
    expect(priceChanges(NEW, NEW)).to.deep.equal([]);
  });

  it('reads both files, JSON or YAML, and prints a table or data', async () => {
    const folder = await temporaryFolder();
    const [old, now] = [join(folder, 'old.json'), join(folder, 'new.yaml')];
    await writeFile(old, JSON.stringify(OLD));
    await writeFile(now, JSON.stringify(NEW)); // which is YAML too
    const data = await runCommand(['catalog', 'diff', old, now, '--format', 'json']);
    expect([data.code, JSON.parse(data.stdout)]).to.deep.equal([0, CHANGES]);
    const table = await runCommand(['catalog', 'diff', old, now]);
    expect(table.stdout).to.match(/^MODEL +LINE +PRICE +OLD +NEW/);
    expect(table.stdout).to.match(/acme\/a +standard +output_per_m_tokens +2 +-/);
    expect((await runCommand(['catalog', 'diff', now, now])).stdout).to.equal('No price differs.\n');
  });

  it('fails for a file that is missing, or is not a catalog', async () => {
    const file = join(await temporaryFolder(), 'list.json');
    await writeFile(file, '[]');
    for (const [one, other] of [
      [file, '/nowhere.json'],
      ['/nowhere.json', file],
      [file, file],
    ] as const) {
      const { code, stderr } = await runCommand(['catalog', 'diff', one, other]);
      expect(code).to.equal(1);
      expect(stderr).to.match(/^Error: .*(list|nowhere)\.json/);
    }
  });
});
