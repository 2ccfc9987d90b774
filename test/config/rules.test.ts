import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { expect } from 'chai';
import { ACCOUNT_FIXES } from '../../host/config/rules/account-rules.ts';
import { runGw, some, temporaryFolder } from '../kit/index.ts';
import { commandHost, readReport, ROOT, runCommand } from '../cli/commands.ts';
import { BAD_DOCUMENTS, type BadDocument } from './bad-documents.ts';

/** Ids of the decoding rules, which are not taps: as they stand in the code that reports them. */
function decodeRules(): string[] {
  const folder = join(ROOT, 'host/config');
  const sources = readdirSync(folder)
    .filter((name) => extname(name) === '.ts')
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  return [...new Set(sources.flatMap((source) => source.match(/(?<=')DC\d\d(?=')/g) ?? []))];
}

/** Ids of the rules that strategies bring for their own settings, as they stand there. */
function strategyRules(): string[] {
  const folder = join(ROOT, 'strategies');
  const sources = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return [...new Set(sources.flatMap((source) => source.match(/(?<=')CV\d{2,3}[a-z]?(?=')/g) ?? []))];
}

/** Writes a bad document where `gw validate` can find it; returns folder and file name. */
async function place({ document, file, isMissing }: BadDocument): Promise<{ cwd: string; name: string }> {
  const cwd = await temporaryFolder();
  const name = file ?? (typeof document === 'string' ? 'config.yaml' : 'config.json');
  if (!isMissing)
    await writeFile(join(cwd, name), typeof document === 'string' ? document : JSON.stringify(document, null, 2));
  return { cwd, name };
}

function expectRefusal(
  rule: string,
  { at, says, fix }: BadDocument,
  { code, stdout, stderr }: { code: number | null; stdout: string; stderr: string },
): void {
  expect(code, stderr).to.equal(1);
  expect(stdout).to.equal('');
  const { heading, problems } = readReport(stderr);
  expect(heading).to.equal(rule.startsWith('DC') ? 'Error: load config:' : 'Error: validation failed:');
  expect(problems.map((problem) => problem.rule)).to.deep.equal(at.map(() => rule));
  expect(problems.map(({ path }) => (rule === 'DC05' ? basename(path) : path))).to.have.members([...at]);
  const messages = problems.map(({ message }) => message).join('\n');
  for (const text of says) expect(messages).to.contain(text);
  if (fix !== undefined) expect(problems[0]?.fix).to.contain(fix);
}

describe('configuration rules', () => {
  it('each have a document here that breaks them, and no document breaks a rule that is not there', async () => {
    const tapped = commandHost({ cwd: await temporaryFolder() }).hooks.checkConfig.taps.map(({ name }) => name);
    expect(Object.keys(BAD_DOCUMENTS)).to.have.members([
      ...new Set([...decodeRules(), ...tapped, ...strategyRules(), ...Object.keys(ACCOUNT_FIXES)]),
    ]);
  });

  for (const [rule, documents] of Object.entries(BAD_DOCUMENTS)) {
    for (const [index, bad] of documents.entries()) {
      it(`${rule} refuses ${bad.at.join(', ')} (${index + 1} of ${documents.length})`, async () => {
        const { cwd, name } = await place(bad);
        expectRefusal(
          rule,
          bad,
          await runCommand(['validate', name], { cwd, ...(bad.modules && { modules: bad.modules }) }),
        );
      });
    }
  }

  for (const rule of some(['DC01', 'CV09', 'BV06'])) {
    it(`${rule} is reported in the same way by the program itself`, async () => {
      const bad = BAD_DOCUMENTS[rule]![0]!;
      const { cwd, name } = await place(bad);
      expectRefusal(rule, bad, await runGw(['validate', name], { cwd }));
    });
  }

  it('do not call a wrong type an unknown key', async () => {
    for (const bad of BAD_DOCUMENTS['DC02']!) {
      const { cwd, name } = await place(bad);
      expect((await runCommand(['validate', name], { cwd })).stderr).to.not.contain('unknown');
    }
  });
});
