import { execFileSync } from 'node:child_process';
import { rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findConfigFile } from '../../host/config/load.ts';
import { MAX_FILE_BYTES, readPlainFile } from '../../host/config/plain-file.ts';
import { runUntilExit } from '../cli/commands.ts';
import { ask, some, startGateway, temporaryFolder } from '../kit/index.ts';

/** What stands at a path and can never be read to its end, or not within reason. */
const KINDS: Readonly<Record<string, { readonly make: (path: string) => Promise<void>; readonly says: RegExp }>> = {
  'a pipe': {
    make: async (path) => {
      execFileSync('mkfifo', [path]);
    },
    says: /not a file/,
  },
  'a device': { make: (path) => symlink('/dev/zero', path), says: /not a file/ },
  'a link to a pipe': {
    make: async (path) => {
      execFileSync('mkfifo', [`${path}.pipe`]);
      await symlink(`${path}.pipe`, path);
    },
    says: /not a file/,
  },
  'a file of more than 16 MiB': {
    make: async (path) => {
      await writeFile(path, '');
      await truncate(path, MAX_FILE_BYTES + 1);
    },
    says: /larger than 16 MiB/,
  },
};

for (const [kind, { make, says }] of some(Object.entries(KINDS), { every: 4 })) {
  describe(`${kind} as a configuration`, () => {
    it('is refused at once by every command that reads one', async () => {
      const cwd = await temporaryFolder();
      await make(join(cwd, 'odd.yaml'));
      await writeFile(join(cwd, 'request.json'), JSON.stringify(ask()));
      const results = await Promise.all([
        runUntilExit(['serve'], { cwd, variables: { GATEWAY_CONFIG: 'odd.yaml' } }),
        runUntilExit(['validate', 'odd.yaml'], { cwd }),
        runUntilExit(['explain', '--config', 'odd.yaml', '--request', 'request.json'], { cwd }),
        runUntilExit(['explain', '--request', 'request.json'], { cwd, variables: { GATEWAY_CONFIG: 'odd.yaml' } }),
      ]);
      for (const { code, stderr } of results) {
        expect(code).to.equal(1);
        expect(stderr)
          .to.match(/^Error: load config:\n {2}\S*odd\.yaml: DC05: /)
          .and.match(says);
      }
    });

    for (const name of ['config.yaml', 'gw.config.json']) {
      it(`is refused at once where it is found: ${name}`, async () => {
        const cwd = await temporaryFolder();
        await make(join(cwd, name));
        const { code, stderr } = await runUntilExit([], { cwd });
        expect(code).to.equal(1);
        expect(stderr).to.contain('DC05').and.match(says);
      });
    }

    it('does not hide a configuration that is looked for before it', async () => {
      const cwd = await temporaryFolder();
      await make(join(cwd, 'config.yml'));
      await writeFile(join(cwd, 'config.yaml'), 'targets: []\n');
      expect(await findConfigFile(cwd)).to.equal(join(cwd, 'config.yaml'));
    });

    it('takes the place of the file that is watched, and changes nothing', async () => {
      const cwd = await temporaryFolder();
      await writeFile(join(cwd, 'config.yaml'), 'targets: [{virtual_key: echo}]\n');
      const gateway = await startGateway({ cwd, variables: { GW_CONFIG_WATCH: 'true' } });
      await make(join(cwd, 'odd.yaml'));
      await rename(join(cwd, 'odd.yaml'), join(cwd, 'config.yaml'));
      while (!gateway.lines.some(({ msg }) => String(msg).startsWith('config file refused')))
        await new Promise((resolve) => {
          setTimeout(resolve, 20);
        });
      const serves = async (model: string): Promise<number> =>
        (
          await fetch(`${gateway.url}/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${gateway.key}` },
            body: JSON.stringify(ask('hi', { model })),
          })
        ).status;
      expect(await serves('echo')).to.equal(200);
      await rm(join(cwd, 'config.yaml'));
      await writeFile(join(cwd, 'config.yaml'), 'targets: [{virtual_key: echo}]\naliases: {other: echo}\n');
      while ((await serves('other')) !== 200)
        await new Promise((resolve) => {
          setTimeout(resolve, 20);
        });
      expect(await gateway.stop()).to.equal(0);
    });
  });
}

describe('a configuration file', () => {
  it('is read whole, up to the bound', async () => {
    const path = join(await temporaryFolder(), 'config.yaml');
    await writeFile(path, `# ${'é'.repeat(400_000)}\ntargets: []\n`);
    expect(await readPlainFile(path)).to.equal(`# ${'é'.repeat(400_000)}\ntargets: []\n`);
    await writeFile(path, Buffer.alloc(MAX_FILE_BYTES, 0x20));
    expect(await readPlainFile(path)).to.have.length(MAX_FILE_BYTES);
  });
});
