import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { examineRules } from '../../builtins/catalog/build/rules.ts';
import { examineCatalog } from '../../builtins/catalog/examine.ts';
import { readBundle } from '../../builtins/catalog/load.ts';
import { systemClock } from '../../host/common/clock.ts';
import type { Finding } from '../../host/host-hooks.ts';
import { temporaryFolder } from '../kit/index.ts';

const TODAY = Date.parse('2026-11-27');
const RULE = {
  id: 'a',
  providers: ['openai'],
  models: ['gpt-5*'],
  set: { summaries: true },
  source: ['https://acme.example'],
  checked: '2026-11-26',
};
const reasons = { capabilities: { reasoning: true } };

/** What is said of a file of these rules, beside a catalog of these models. */
async function examined(rules: readonly object[], models: object, aliases: readonly string[] = []): Promise<string[]> {
  const path = join(await temporaryFolder(), 'rules.json');
  await writeFile(path, JSON.stringify({ format: 1, aliases, rules }));
  return examineRules(JSON.stringify(models), TODAY, pathToFileURL(path));
}

describe('what the makers of a release read of the rules of models', () => {
  it('is that a pattern fits no model, unless it is listed', async () => {
    const models = { 'openai/gpt-4o': {} };
    expect(await examined([RULE], models)).to.deep.equal([
      'unmatched: no model of the catalog fits gpt-5* of the rule a; list it in aliases',
    ]);
    expect(await examined([RULE], models, ['gpt-5*'])).to.deep.equal([]);
    expect(await examined([RULE], { 'vertex_ai/gpt-5-x': {} })).to.deep.equal([]);
  });

  it('is that a reasoning model is known by its family alone', async () => {
    const models = {
      'openai/gpt-5': reasons,
      'openai/gpt-5-mini': reasons,
      'together/gpt-5': reasons,
      'openai/gpt-5.1': {},
    };
    const family = { ...RULE, id: 'openai-family' };
    expect(await examined([family, { ...RULE, models: ['gpt-5-*'] }], models)).to.deep.equal([
      'unlisted: openai/gpt-5 is known by its family alone',
    ]);
  });

  it('is that a rule was checked long ago', async () => {
    const models = { 'openai/gpt-5': {} };
    expect(await examined([{ ...RULE, checked: '2026-07-31' }], models)).to.deep.equal([]); // 119 days
    expect(await examined([{ ...RULE, checked: '2026-07-29' }], models)).to.deep.equal([
      'old: the rule a was checked on 2026-07-29',
    ]);
  });

  const UNUSABLE: readonly (readonly [what: string, rules: readonly object[]])[] = [
    ['a fact of another shape', [{ ...RULE, set: { efforts: 'low' } }]],
    ['a fact that is not known', [{ ...RULE, set: { moods: true } }]],
    ['no page', [{ ...RULE, source: undefined }]],
    ['no day', [{ ...RULE, checked: undefined }]],
    ['an id twice', [RULE, RULE]],
  ];
  for (const [what, rules] of UNUSABLE)
    it(`is an error for ${what}`, async () => {
      const thrown = await examined(rules, {}).then(
        () => 'nothing',
        (error: Error) => error.message,
      );
      expect(thrown).to.match(/^unusable rules of models:\nmodel rule "a"/);
    });

  it('is nothing of what is shipped but models that are known by their family alone', async () => {
    const lines = examineRules(await readBundle(), TODAY);
    expect(lines.filter((line) => !line.startsWith('unlisted: '))).to.deep.equal([]);
  });
});

describe('gw doctor', () => {
  it('warns of rules that are old, unless newer ones are fetched', async () => {
    const clock = { ...systemClock, now: () => Date.parse('2028-01-01') };
    const shown = async (variables: Readonly<Record<string, string>>): Promise<Finding | undefined> =>
      (await examineCatalog({ variables, workingDirectory: '.', services: { clock } as never })).find(({ text }) =>
        text.includes('rules of models'),
      );
    const old = await shown({});
    expect(old?.level).to.equal('warning');
    expect(old?.text).to.match(/\d+ days ago; set GW_MODEL_RULES_URL, or install a newer gw$/);
    expect((await shown({ GW_MODEL_RULES_URL: 'https://rules.example/r.json' }))?.level).to.equal('good');
  });
});
