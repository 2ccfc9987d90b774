import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { bearer, defineProvider, type ProviderModule } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { parse } from 'yaml';
import { MODULES } from '../../builtins/manifest.ts';
import { runGw, temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';

const KEY = /gw_[0-9a-f]+/;

/** A provider for the order of targets; not one that is shipped already. */
function provider(name: string, variable: string): ProviderModule[] {
  if (MODULES.some((module) => module.kind === 'provider' && module.name === name)) return [];
  const connection = { env: [variable], baseUrl: 'http://localhost', authorize: bearer(variable) };
  return [
    defineProvider({ name, wire: 'common', connection, params: {}, translators: commonTranslators(['chat'], {}) }),
  ];
}

/** Takes the comment sign from lines that hold YAML, and leaves prose alone. */
function uncommented(text: string): string {
  return text.replaceAll(/^( *)# ?( *(?:- )?[a-z_]+:(?: .*)?)$/gm, '$1$2');
}

describe('gw init', () => {
  it('writes a valid config.yaml for its owner alone, and prints the key and the next steps on stderr', async () => {
    const cwd = await temporaryFolder();
    const { code, stdout, stderr } = await runGw(['init'], { cwd });
    expect(code).to.equal(0);
    expect(stdout).to.equal('');
    expect(await readdir(cwd)).to.deep.equal(['config.yaml']);
    const { mode } = await stat(join(cwd, 'config.yaml'));
    expect(mode & 0o777).to.equal(0o600);
    expect(stderr).to.match(/^gw init\n/);
    expect(stderr).to.contain('created config.yaml');
    expect(stderr).to.match(/^ *export MASTER_KEY=gw_[0-9a-f]{32}$/m);
    expect(stderr)
      .to.contain('export GATEWAY_CONFIG=config.yaml')
      .and.to.contain('OPENAI_API_KEY')
      .and.to.contain('/readyz');
    expect((await runCommand(['validate', 'config.yaml'], { cwd })).code).to.equal(0);
  });

  it('prints the key once and writes it nowhere', async () => {
    const cwd = await temporaryFolder();
    const { stderr } = await runCommand(['init'], { cwd });
    const key = KEY.exec(stderr)?.[0] ?? '';
    expect(key).to.match(/^gw_[0-9a-f]{32}$/);
    expect(stderr.split(key)).to.have.length(2);
    expect(await readFile(join(cwd, 'config.yaml'), 'utf8')).to.not.contain(key);
  });

  it('makes another key each time', async () => {
    const keys = [await runCommand(['init']), await runCommand(['init'])].map(({ stderr }) => KEY.exec(stderr)?.[0]);
    expect(keys[0]).to.not.equal(keys[1]);
  });

  it('writes a placeholder, and says so, without a provider credential', async () => {
    const cwd = await temporaryFolder();
    const { stderr } = await runCommand(['init'], { cwd });
    const text = await readFile(join(cwd, 'config.yaml'), 'utf8');
    expect(parse(text)).to.deep.equal({ strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'openai' }] });
    expect(text).to.match(/^ *## Placeholder/m);
    expect(stderr).to.contain('no provider credential found');
  });

  it('writes a target per credential of the environment, in alphabetical order', async () => {
    const cwd = await temporaryFolder();
    const variables = { OPENAI_API_KEY: 'a', MISTRAL_API_KEY: 'b', GROQ_API_KEY: 'c', MASTER_KEY: '' };
    const modules = [...provider('mistral', 'MISTRAL_API_KEY'), ...provider('groq', 'GROQ_API_KEY')];
    const { stderr } = await runCommand(['init'], { cwd, variables, modules });
    const text = await readFile(join(cwd, 'config.yaml'), 'utf8');
    expect(parse(text).targets).to.deep.equal([
      { virtual_key: 'groq' },
      { virtual_key: 'mistral' },
      { virtual_key: 'openai' },
    ]);
    expect(text).to.not.contain('Placeholder');
    expect(stderr).to.contain('groq, mistral, openai');
  });

  it('counts an empty credential as none', async () => {
    const cwd = await temporaryFolder();
    await runCommand(['init'], { cwd, variables: { OPENAI_API_KEY: '' } });
    expect(await readFile(join(cwd, 'config.yaml'), 'utf8')).to.contain('Placeholder');
  });

  it('shows weight, retry and plugins in comments that are valid when the signs are taken away', async () => {
    for (const OPENAI_API_KEY of ['', 'a']) {
      const cwd = await temporaryFolder();
      await runCommand(['init'], { cwd, variables: { OPENAI_API_KEY } });
      const text = uncommented(await readFile(join(cwd, 'config.yaml'), 'utf8'));
      expect(parse(text)).to.have.nested.property('targets[0].weight');
      expect(parse(text)).to.have.nested.property('targets[0].retry.attempts');
      expect(parse(text)).to.have.nested.property('plugins[0].name');
      await writeFile(join(cwd, 'config.yaml'), text);
      const { code, stderr } = await runCommand(['validate', 'config.yaml'], { cwd });
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
    }
  });

  it('stays valid when a sign is taken off every comment', async () => {
    const cwd = await temporaryFolder();
    await runCommand(['init'], { cwd });
    const text = (await readFile(join(cwd, 'config.yaml'), 'utf8')).replaceAll(/^( *)# ?/gm, '$1');
    expect(parse(text)).to.have.nested.property('targets[0].retry.attempts');
    expect(parse(text)).to.have.nested.property('plugins[0].name');
  });

  it('writes what the file name says when no format is named, so that the file is valid', async () => {
    const cwd = await temporaryFolder();
    await runCommand(['init', '-o', 'gateway.json'], { cwd });
    expect(JSON.parse(await readFile(join(cwd, 'gateway.json'), 'utf8'))).to.have.all.keys('strategy', 'targets');
    expect((await runCommand(['validate', 'gateway.json'], { cwd })).code).to.equal(0);
    await runCommand(['init', '-o', 'gateway.YML'], { cwd });
    expect(await readFile(join(cwd, 'gateway.YML'), 'utf8')).to.match(/^#/);
  });

  for (const format of ['JSON', 'Json', 'json']) {
    it(`reads --config-format ${format}`, async () => {
      const cwd = await temporaryFolder();
      await runCommand(['init', '--config-format', format], { cwd });
      expect(await readdir(cwd)).to.deep.equal(['config.json']);
      await runCommand(['init', '--config-format', format, '-o', 'Other.JSON'], { cwd });
      expect(JSON.parse(await readFile(join(cwd, 'Other.JSON'), 'utf8'))).to.have.all.keys('strategy', 'targets');
    });
  }

  const refused: [args: string[], words: RegExp][] = [
    [['-o', 'config'], /"config"[^\n]*\.yaml, \.yml or \.json/],
    [['-o', 'config.toml'], /"config\.toml"/],
    [['-o', '.yaml'], /"\.yaml"/],
    [['-o', ''], /""/],
    [['-o', 'config.yaml.txt', '--config-format', 'yaml'], /txt/],
    [['-o', 'config.json', '--config-format', 'yaml'], /json[^\n]*yaml/],
    [['-o', 'config.yaml', '--config-format', 'JSON'], /yaml[^\n]*json/],
    [['-o', 'a.yml', '--config-format', 'json'], /yaml[^\n]*json/],
    [['-o', 'config.json', '--config-format', 'toml'], /json[^\n]*yaml/],
  ];
  for (const [args, words] of refused) {
    it(`refuses ${args.join(' ')}, writes nothing and makes no key`, async () => {
      const cwd = await temporaryFolder();
      const { code, stdout, stderr } = await runCommand(['init', ...args], { cwd });
      expect(code).to.equal(1);
      expect(stdout).to.equal('');
      expect(stderr)
        .to.match(/^Error: [^\n]+\n$/)
        .and.match(words)
        .and.not.match(KEY);
      expect(await readdir(cwd)).to.deep.equal([]);
    });
  }

  it('writes JSON when asked, indented by two, with the line end and without comments', async () => {
    const cwd = await temporaryFolder();
    const { code } = await runCommand(['init', '--config-format', 'json'], { cwd });
    expect(code).to.equal(0);
    const text = await readFile(join(cwd, 'config.json'), 'utf8');
    expect(text).to.equal(
      `${JSON.stringify({ strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'openai' }] }, null, 2)}\n`,
    );
    expect((await stat(join(cwd, 'config.json'))).mode & 0o777).to.equal(0o600);
    expect((await runCommand(['validate', 'config.json'], { cwd })).code).to.equal(0);
  });

  it('writes YAML for a file format it does not know', async () => {
    const cwd = await temporaryFolder();
    await runCommand(['init', '--config-format', 'toml'], { cwd });
    expect(await readdir(cwd)).to.deep.equal(['config.yaml']);
  });

  for (const flag of ['-o', '--output']) {
    it(`writes to the file of ${flag}, and names it in the next steps`, async () => {
      const cwd = await temporaryFolder();
      const { stderr } = await runCommand(['init', flag, 'gateway.yml'], { cwd });
      expect(await readdir(cwd)).to.deep.equal(['gateway.yml']);
      expect(stderr).to.contain('created gateway.yml').and.to.contain('export GATEWAY_CONFIG=gateway.yml');
    });
  }

  it('takes the file name as it is written, also when it looks like a number', async () => {
    const cwd = await temporaryFolder();
    await runCommand(['init', '-o', '007.0.yaml'], { cwd });
    expect(await readdir(cwd)).to.deep.equal(['007.0.yaml']);
    expect((await runCommand(['init', '-o', '007'], { cwd })).stderr).to.contain('"007"');
  });

  it('leaves an existing file alone, makes no key, and shows the next steps all the same', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.yaml'), 'mine');
    const { code, stdout, stderr } = await runCommand(['init'], { cwd });
    expect(code).to.equal(0);
    expect(stdout).to.equal('');
    expect(await readFile(join(cwd, 'config.yaml'), 'utf8')).to.equal('mine');
    expect(stderr).to.contain('skipped').and.to.contain('export GATEWAY_CONFIG=config.yaml');
    expect(stderr).to.not.match(KEY);
  });

  it('drops only the title with --non-interactive', async () => {
    const strip = (text: string): string => text.replace(KEY, 'KEY');
    const [plain, quiet] = [await runCommand(['init']), await runCommand(['init', '--non-interactive'])];
    expect(strip(plain.stderr)).to.equal(`gw init\n\n${strip(quiet.stderr)}`);
  });

  it('tells in one line that it cannot write, and makes no key', async () => {
    const { code, stdout, stderr } = await runCommand(['init', '-o', 'no/such/folder/config.yaml']);
    expect(code).to.equal(1);
    expect(stdout).to.equal('');
    expect(stderr).to.not.match(KEY);
    expect(stderr).to.match(/^Error: [^\n]*no\/such\/folder\/config\.yaml[^\n]*\n$/);
  });

  for (const format of ['json', 'yaml', 'JSON', 'toml']) {
    it(`refuses --format ${format}, points at --config-format and writes nothing`, async () => {
      const cwd = await temporaryFolder();
      const { code, stdout, stderr } = await runCommand(['init', '--format', format], { cwd });
      expect(code).to.equal(1);
      expect(stdout).to.equal('');
      expect(stderr).to.match(/^Error: [^\n]+\n$/);
      expect(stderr.toLowerCase()).to.contain(`--format ${format.toLowerCase()}`).and.to.contain('--config-format');
      expect(await readdir(cwd)).to.deep.equal([]);
    });
  }

  it('takes --format table, which is what it prints', async () => {
    expect((await runCommand(['init', '--format', 'table'])).code).to.equal(0);
  });
});
