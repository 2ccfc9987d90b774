import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite, MASTER_KEY, runGw, type RunResult } from '../../kit/index.ts';
import { writeTree } from '../../registry/support.ts';
import { strategy } from './bad-module.ts';
import { BESIDE, WHILE_LOADING } from './while-loading.ts';

/** Every one of them is named, so that a configuration that needs them says nothing of its own beside. */
const CONFIG = `strategy: { mode: no-create }
targets: [{ virtual_key: echo }, { virtual_key: waits }]
modules: [gw-absent, ./nowhere.js, gw-later]
plugins:
  - { name: guard, stage: before_request, enabled: true }
  - { name: throws, stage: before_request, enabled: true }
`;

const LATER = {
  'node_modules/gw-later/package.json':
    '{ "name": "gw-later", "type": "module", "exports": "./index.js", "gw": { "contract": "^2.0" } }',
  'node_modules/gw-later/index.js': "import { ofTomorrow } from 'gw/contract';\nexport default ofTomorrow;\n",
};

const TWICE = { 'strategies/twice.ts': strategy('twice', ''), 'strategies/twice/index.ts': strategy('twice', '') };

async function badFolder(): Promise<string> {
  const folder = await writeTree({
    'config.yaml': CONFIG,
    ...LATER,
    ...TWICE,
    ...BESIDE,
    ...Object.fromEntries(WHILE_LOADING.map(({ file, source }) => [file, source])),
  });
  await symlink(join(folder, 'gone.ts'), join(folder, 'plugins/dangling.ts'));
  await symlink('round.ts', join(folder, 'plugins/round.ts'));
  return folder;
}

/** Lines of the report about one file, or the folder that it stands in. */
function linesAbout(report: string, folder: string, file: string): string[] {
  const places = [join(folder, file), join(folder, file).replace(/\/[^/]+$/, '')];
  return report.split('\n').filter((line) => places.some((place) => line.startsWith(`  ${place}: `)));
}

describe('modules that are bad while they load', () => {
  const run = forSuite(async (): Promise<RunResult & { folder: string }> => {
    const folder = await badFolder();
    return { folder, ...(await runGw(['validate', join(folder, 'config.yaml')])) };
  });

  for (const { file, does, says, lines = says.length, shows } of WHILE_LOADING) {
    it(`${file}: one that ${does}`, () => {
      const { stderr, folder } = run();
      const found = linesAbout(stderr, folder, file);
      expect(found, stderr).to.have.lengthOf(lines);
      for (const pieces of says)
        expect(
          found.some((line) => pieces.every((piece) => line.includes(piece))),
          `${pieces.join(' … ')}\n${found.join('\n')}`,
        ).to.equal(true);
      for (const line of found) expect(line).to.match(/; fix: .+/);
      if (shows !== undefined) expect(stderr).to.include(shows);
    });
  }

  it('plugins/dangling.ts, plugins/round.ts: links that lead nowhere', () => {
    const { stderr, folder } = run();
    expect(linesAbout(stderr, folder, 'plugins/dangling.ts')[0]).to.include(
      'MV10: it is a link that leads nowhere; fix: correct the link',
    );
    expect(linesAbout(stderr, folder, 'plugins/round.ts')[0]).to.include(
      'MV10: it is a link that leads to itself; fix: correct the link',
    );
  });

  it('modules[i]: packages and files that are not there, and a package for another contract, each with its line', () => {
    const { stderr, folder } = run();
    expect(stderr).to.include(
      `  modules[0]: MV10: package gw-absent: it cannot be found from ${folder}; fix: run "npm install gw-absent"`,
    );
    expect(stderr).to.include(
      `  modules[1]: MV10: file ./nowhere.js: it cannot be found from ${folder}; fix: correct the path`,
    );
    expect(stderr).to.match(
      / {2}modules\[2\]: MV03: package gw-later: it was written for contract \^2\.0, this gateway has \d+\.\d+; fix: .* \(line 3\)\n/,
    );
  });

  it('strategies/twice.ts, strategies/twice/index.ts: of two modules of one name, one line names both', () => {
    const { stderr, folder } = run();
    const lines = stderr
      .split('\n')
      .filter(
        (line) =>
          line.includes(join(folder, 'strategies/twice.ts')) &&
          line.includes(join(folder, 'strategies/twice/index.ts')),
      );
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include('MV09').and.to.include('remove or rename one of the two');
  });

  it('end validate with exit code 1 and one report, which says nothing of what is sound or no module', () => {
    const { code, stdout, stderr } = run();
    expect(code).to.equal(1);
    expect(stdout).to.equal('');
    expect(stderr.match(/^Error:/gm)).to.deep.equal(['Error:']);
    for (const file of Object.keys(BESIDE))
      expect(
        stderr
          .split('\n')
          .filter((line) => line.startsWith('  /') && line.includes(`${file}:`) && !line.includes(' at /')),
        file,
      ).to.deep.equal([]);
    expect(stderr).not.to.match(/(BV01|BV02|CV13)/);
  });

  it('stop a start with the same report', async () => {
    const { folder, stderr } = run();
    const started = await runGw(['serve'], {
      variables: { GATEWAY_CONFIG: join(folder, 'config.yaml'), PORT: '0', MASTER_KEY },
    });
    expect([started.code, started.stderr]).to.deep.equal([1, stderr]);
    expect(started.stdout).not.to.include('gw started');
  });
});
