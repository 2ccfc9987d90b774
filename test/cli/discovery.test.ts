import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { startGateway, temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';

/** A configuration whose number of targets' models tells which file it came from. */
const marked = (bytes: number): string =>
  JSON.stringify({ targets: [{ virtual_key: 'echo' }], max_request_bytes: bytes });

const ORDER = ['config.yaml', 'config.yml', 'config.json', 'gw.config.yaml', 'gw.config.yml', 'gw.config.json'];

async function write(folder: string, name: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), text);
}

/** The log line that says where the configuration came from. */
async function source(cwd: string, variables: Record<string, string> = {}): Promise<Record<string, any>> {
  const { code, stderr, lines } = await runCommand(['serve'], { cwd, variables: { PORT: '0', ...variables } });
  expect(code, stderr).to.equal(0);
  return lines.find(({ msg }) => msg === 'active config resolved') ?? {};
}

describe('without GATEWAY_CONFIG', () => {
  it('the working directory is searched, in a fixed order', async () => {
    const cwd = await temporaryFolder();
    for (const [index, name] of ORDER.entries()) await write(cwd, name, marked(index + 1));
    for (const [index, name] of ORDER.entries()) {
      expect(await source(cwd)).to.include({ source: 'file', file: join(cwd, name), max_request_bytes: index + 1 });
      await rm(join(cwd, name));
    }
    expect(await source(cwd)).to.include({ source: 'defaults' });
  });

  it('no other folder is searched: neither the parent nor one below', async () => {
    const parent = await temporaryFolder();
    const cwd = join(parent, 'inner');
    for (const name of [
      'config.yaml',
      'inner/deeper/config.yaml',
      'inner/.config/config.yaml',
      'inner/config/config.yaml',
    ])
      await write(parent, name, marked(1));
    expect(await source(cwd)).to.include({ source: 'defaults' });
  });

  it('nothing that a program could run is read, and other names are not either', async () => {
    const cwd = await temporaryFolder();
    const run = `throw new Error('a configuration was executed');\n`;
    for (const name of [
      'config.js',
      'config.ts',
      'config.mjs',
      'gw.config.js',
      'gw.config.ts',
      'gw.config.mjs',
      'gw.config.cjs',
      '.gwrc.js',
    ])
      await write(cwd, name, run);
    for (const name of ['.gwrc', '.gwrc.json', '.gwrc.yaml', 'gw.yaml', 'config.example.yaml'])
      await write(cwd, name, marked(1));
    await write(cwd, 'package.json', JSON.stringify({ name: 'x', gw: JSON.parse(marked(1)) }));
    expect(await source(cwd)).to.include({ source: 'defaults' });
  });

  it('a folder with the name of a configuration file is none', async () => {
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, 'config.yaml'));
    await write(cwd, 'config.json', marked(7));
    expect(await source(cwd)).to.include({ source: 'file', max_request_bytes: 7 });
  });

  // The library that searches reads settings of its own from the working directory; a gateway must not.
  it('no script in the working directory runs', async () => {
    const cwd = await temporaryFolder();
    const trace = join(cwd, 'executed');
    await write(
      cwd,
      '.config/config.cjs',
      `require('node:fs').writeFileSync(${JSON.stringify(trace)}, ''); module.exports = {};\n`,
    );
    const gateway = await startGateway({ cwd });
    expect(gateway.lines.find(({ msg }) => msg === 'active config resolved')).to.include({ source: 'defaults' });
    expect(
      await access(trace).then(
        () => 'executed',
        () => 'not executed',
      ),
    ).to.equal('not executed');
  });

  it('no other file of the working directory says what is searched for', async () => {
    const cwd = await temporaryFolder();
    await write(cwd, 'elsewhere.json', marked(1));
    await write(cwd, 'config.yaml', marked(2));
    await write(
      cwd,
      '.config/config.json',
      JSON.stringify({ cosmiconfig: { searchPlaces: ['elsewhere.json'], mergeSearchPlaces: false } }),
    );
    const gateway = await startGateway({ cwd });
    expect(gateway.lines.find(({ msg }) => msg === 'active config resolved')).to.include({
      file: join(cwd, 'config.yaml'),
      max_request_bytes: 2,
    });
  });
});

describe('GATEWAY_CONFIG', () => {
  it('wins over a file that would be found', async () => {
    const cwd = await temporaryFolder();
    await write(cwd, 'config.yaml', marked(1));
    await write(cwd, 'other.json', marked(2));
    const gateway = await startGateway({ cwd, variables: { GATEWAY_CONFIG: 'other.json' } });
    expect(gateway.lines.find(({ msg }) => msg === 'active config resolved')).to.include({
      source: 'file',
      file: join(cwd, 'other.json'),
      max_request_bytes: 2,
    });
  });

  it('may be absolute, and blanks around it do not count', async () => {
    const folder = await temporaryFolder();
    await write(folder, 'other.json', marked(3));
    expect(await source(await temporaryFolder(), { GATEWAY_CONFIG: ` ${join(folder, 'other.json')} ` })).to.include({
      source: 'file',
      max_request_bytes: 3,
    });
  });

  it('is as unset when it is blank', async () => {
    const cwd = await temporaryFolder();
    await write(cwd, 'config.yaml', marked(4));
    expect(await source(cwd, { GATEWAY_CONFIG: '  ' })).to.include({ max_request_bytes: 4 });
  });
});
