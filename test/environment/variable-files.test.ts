import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import type { Variables } from '../../host/environment/variables.ts';
import { secretVariables, withVariableFiles } from '../../host/upstream/secrets/variable-files.ts';
import { inSoak, MASTER_KEY, runGw, temporaryFolder } from '../kit/index.ts';

const SECRETS = secretVariables(MODULES);
const NAMES = [
  'MASTER_KEY',
  'GW_API_KEY',
  'GW_SEAL_KEY',
  'GW_STATE_URL',
  'API_KEY_STORE_DSN',
  'API_KEY_STORE_LISTEN_DSN',
  'CONFIG_STORE_DSN',
  'REQUEST_LOG_STORE_DSN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  ...SECRETS,
];

async function read(variables: Variables, workingDirectory: string): Promise<Variables | string> {
  return withVariableFiles(variables, { workingDirectory, providerSecrets: async () => SECRETS }).catch(
    ({ message }: Error) => message,
  );
}

describe('secrets in files', () => {
  it('are read for every secret of the gateway and of shipped providers', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'secret'), 'of-a-file\n');
    expect(SECRETS.size).to.be.greaterThan(25);
    for (const name of NAMES)
      expect(await read({ [`${name}_FILE`]: ' secret ' }, folder), name).to.include({ [name]: 'of-a-file' });
  });

  it('are not read for other names, whose files may not even exist', async () => {
    for (const name of [
      'AWS_WEB_IDENTITY_TOKEN',
      'SSL_CERT',
      'OTEL_EXPORTER_OTLP_CERTIFICATE',
      'PORT',
      'ACME_API_KEY',
      '',
    ]) {
      const variables = { [`${name}_FILE`]: '/nowhere' };
      expect(await read(variables, '/')).to.equal(variables);
    }
  });

  it('refuse a variable that is set both ways, and take one that is blank', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'secret'), 'x');
    for (const name of NAMES) {
      const both = { [name]: 'a', [`${name}_FILE`]: 'secret' };
      expect(await read(both, folder)).to.equal(`${name} and ${name}_FILE are both set; keep one`);
      expect(await read({ ...both, [name]: ' ' }, folder)).to.include({ [name]: 'x' });
      expect(await read({ ...both, [`${name}_FILE`]: ' ' }, folder)).to.include({ [name]: 'a' });
    }
  });

  it('are cut at their ends as other secrets are, and an empty file is none', async () => {
    const folder = await temporaryFolder();
    const texts: Readonly<Record<string, string | undefined>> = {
      'a\r\n': 'a',
      'a\n\n': 'a',
      '\ufeffa': 'a',
      ' a ': ' a ',
      '': undefined,
      '\n': undefined,
    };
    for (const [text, value] of Object.entries(texts)) {
      await writeFile(join(folder, 'secret'), text);
      const found = (await read({ MASTER_KEY_FILE: 'secret' }, folder)) as Variables;
      expect(found['MASTER_KEY'], JSON.stringify(text)).to.equal(value);
    }
  });

  it('name the file, and what is wrong with it, and nothing of its text', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'folder'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await writeFile(join(folder, 'large'), 'x'.repeat(64 * 1024 + 1));
    await writeFile(join(folder, 'fits'), 'x'.repeat(64 * 1024));
    await writeFile(join(folder, 'nul'), 'canary\0');
    await writeFile(join(folder, 'bytes'), Buffer.from([0xff, 0xfe, 0xff]));
    const refused = {
      absent: 'no such file',
      folder: 'is not a regular file',
      pipe: 'is not a regular file',
      large: 'is too large',
      nul: 'is not text',
      bytes: 'is not text',
    };
    for (const [path, why] of Object.entries(refused))
      expect(await read({ OPENAI_API_KEY_FILE: path }, folder)).to.equal(`OPENAI_API_KEY_FILE: ${path} ${why}`);
    expect(await read({ OPENAI_API_KEY_FILE: 'fits' }, folder)).to.include.keys('OPENAI_API_KEY');
  });

  it('stop a command with one line, and gw probe reads none', async () => {
    const variables = { MASTER_KEY, MASTER_KEY_FILE: '/nowhere' };
    const { code, stderr } = await runGw(['version'], { variables });
    expect([code, stderr]).to.deep.equal([1, 'Error: MASTER_KEY and MASTER_KEY_FILE are both set; keep one\n']);
    const probe = await runGw(['probe'], { variables: { ...variables, GW_URL: 'http://127.0.0.1:9' } });
    expect(probe.stderr).to.equal('Error: not ready: ECONNREFUSED\n');
  });

  inSoak('give a provider its key', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'key'), 'sk-of-a-file\n');
    const { stdout } = await runGw(['doctor'], {
      cwd: folder,
      variables: { OPENAI_API_KEY_FILE: 'key', GW_URL: 'http://127.0.0.1:9' },
    });
    expect(stdout)
      .to.match(/\[OK\] openai/)
      .and.to.not.include('sk-of-a-file');
  });
});
