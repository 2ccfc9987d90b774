import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { atEnd, type RunResult, temporaryFolder } from '../kit/index.ts';
import { readReport, runCommand, runUntilExit } from './commands.ts';

/** A folder with these files. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

async function busyPort(): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, resolve);
  });
  atEnd(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Log lines of a refused start: JSON all of them, one with level ERROR. */
function expectJsonLog({ stdout }: RunResult): void {
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ level }) => level)).to.include('ERROR');
}

const ECHO = 'targets: [{virtual_key: echo}]\n';

describe('gw serve with a broken configuration', () => {
  it('prints every problem of the file that GATEWAY_CONFIG names, and exits with 1', async () => {
    const cwd = await folderWith({
      'broken.yaml': 'targets: [{virtual_key: nosuch, retry: {attempts: -1}, weightt: 1}]\nrequest_timeout: soon\n',
    });
    const result = await runUntilExit(['serve'], { cwd, variables: { GATEWAY_CONFIG: 'broken.yaml' } });
    expect(result.code).to.equal(1);
    const { heading, problems } = readReport(result.stderr);
    expect(heading).to.equal('Error: load config:');
    expect(problems.map(({ rule, line }) => `${rule} ${line}`)).to.have.members([
      'DC01 1',
      'BV01 1',
      'CV09 1',
      'CV19 2',
    ]);
    expectJsonLog(result);
  });

  it('prints every problem of a file it finds, without a command too', async () => {
    const cwd = await folderWith({ 'config.yaml': 'targets: []\nmax_request_bytes: -1\n' });
    const result = await runUntilExit([], { cwd });
    expect(result.code).to.equal(1);
    const { heading, problems } = readReport(result.stderr);
    expect(heading).to.equal('Error: validation failed:');
    expect(problems.map(({ rule }) => rule)).to.deep.equal(['CV01', 'CV34']);
  });

  it('refuses an address of spans that the environment names, unless traces are off', async () => {
    const file = (enabled: string): string =>
      `${ECHO}observability: {tracing: {endpoint: "http://localhost:4318"${enabled}}}\n`;
    for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) {
      const { code, stderr } = await runCommand(['serve'], {
        cwd: await folderWith({ 'config.yaml': file('') }),
        variables: { [name]: 'grpc://c:4317', PORT: '0' },
      });
      expect([code, readReport(stderr).problems.map(({ path, rule }) => `${path} ${rule}`)]).to.deep.equal([
        1,
        [`${name} CV22d`],
      ]);
    }
    const { code, lines } = await runCommand(['serve'], {
      cwd: await folderWith({ 'config.yaml': file(', enabled: false') }),
      variables: { OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://c:4317', PORT: '0' },
    });
    expect([code, lines.some(({ msg }) => msg === 'gw started')]).to.deep.equal([0, true]);
  });

  for (const [what, name] of [
    ['is not there', 'absent.yaml'],
    ['has another extension', 'config.toml'],
  ] as const) {
    it(`refuses a named file that ${what}`, async () => {
      const cwd = await folderWith({ 'config.toml': '', 'config.yaml': ECHO });
      const { code, stderr } = await runCommand(['serve'], { cwd, variables: { GATEWAY_CONFIG: name, PORT: '0' } });
      expect(code).to.equal(1);
      expect(stderr).to.contain('DC05').and.to.contain(name);
    });
  }

  it('refuses a plugin that names an undefined variable', async () => {
    const cwd = await folderWith({
      'config.yaml': `${ECHO}plugins: [{name: word-filter, stage: before_request, enabled: true, config: {blocked_words: ["\${NO_SUCH_WORD}"]}}]\n`,
    });
    const { code, stderr } = await runCommand(['serve'], { cwd, variables: { PORT: '0' } });
    expect(code).to.equal(1);
    expect(stderr).to.contain('NO_SUCH_WORD').and.to.contain('word-filter');
  });
});

describe('gw serve in production', () => {
  const production = { GATEWAY_ENV: 'production', MASTER_KEY: 'gw_0123456789abcdef0123456789abcdef', PORT: '0' };

  it('refuses an open proxy and a wildcard origin in one line that names both, before it reads the configuration', async () => {
    const cwd = await folderWith({ 'config.yaml': 'targets: []\n' });
    const result = await runUntilExit(['serve'], {
      cwd,
      variables: {
        ...production,
        GATEWAY_ENV: ' Production ',
        ALLOW_UNAUTHENTICATED_PROXY: 'TRUE',
        CORS_ORIGINS: 'https://a.example, *',
      },
    });
    expect(result.code).to.equal(1);
    expect(result.stderr).to.match(/^Error: [^\n]+\n$/);
    expect(result.stderr).to.contain('ALLOW_UNAUTHENTICATED_PROXY').and.to.contain('CORS_ORIGINS');
    expect(result.stderr).to.not.contain('CV01');
    expectJsonLog(result);
  });

  for (const [name, value] of [
    ['ALLOW_UNAUTHENTICATED_PROXY', 'true'],
    ['ALLOW_UNAUTHENTICATED_PROXY', ' True '],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', ' "*" '],
    ['CORS_ORIGINS', "https://a.example,'*'"],
  ] as const) {
    it(`refuses ${name}=${value}`, async () => {
      const { code, stderr } = await runCommand(['serve'], { variables: { ...production, [name]: value } });
      expect(code).to.equal(1);
      expect(stderr).to.match(/^Error: [^\n]+\n$/);
      expect(stderr).to.contain(name);
    });
  }

  for (const [name, value] of [
    ['CORS_ORIGINS', 'https://*.example.com'],
    ['ALLOW_UNAUTHENTICATED_PROXY', 'yes'],
    ['ALLOW_UNAUTHENTICATED_PROXY', '1'],
  ] as const) {
    it(`starts with ${name}=${value}`, async () => {
      expect((await runCommand(['serve'], { variables: { ...production, [name]: value } })).code).to.equal(0);
    });
  }

  it('allows both outside production, each with a warning', async () => {
    const { code, lines } = await runCommand(['serve'], {
      variables: { ...production, GATEWAY_ENV: 'staging', ALLOW_UNAUTHENTICATED_PROXY: 'true', CORS_ORIGINS: '*' },
    });
    expect(code).to.equal(0);
    const warnings = lines
      .filter(({ level }) => level === 'WARN')
      .map(({ msg }) => msg as string)
      .join('\n');
    expect(warnings).to.contain('ALLOW_UNAUTHENTICATED_PROXY').and.to.contain('CORS_ORIGINS');
  });

  it('warns of a limiter that is off, judged by what the variable means and not by how it is written', async () => {
    const warns = async (rate: string): Promise<boolean> => {
      const { lines } = await runCommand(['serve'], { variables: { ...production, RATE_LIMIT_RPS: rate } });
      return lines.some(({ level, msg }) => level === 'WARN' && (msg as string).startsWith('RATE_LIMIT_RPS=0'));
    };
    for (const off of ['0', '0.0', '00']) expect(await warns(off), off).to.equal(true);
    for (const on of ['', '5', ' 0 ']) expect(await warns(on), on).to.equal(false);
  });
});

describe('gw serve', () => {
  for (const value of ['10.0.0.1', '10.0.0.0/8,nonsense', '10.0.0.0/33', '::1/129']) {
    it(`refuses TRUSTED_PROXIES=${value}, naming the entry`, async () => {
      const { code, stderr } = await runCommand(['serve'], { variables: { TRUSTED_PROXIES: value, PORT: '0' } });
      expect(code).to.equal(1);
      expect(stderr).to.match(/^Error: [^\n]+\n$/);
      expect(stderr)
        .to.contain('TRUSTED_PROXIES')
        .and.to.contain(`"${value.split(',').at(-1)}"`);
    });
  }

  it('takes a TRUSTED_PROXIES of blanks as none given', async () => {
    expect((await runCommand(['serve'], { variables: { TRUSTED_PROXIES: ' , ', PORT: '0' } })).code).to.equal(0);
  });

  it('names a busy port and the way out', async () => {
    const port = await busyPort();
    const result = await runUntilExit(['serve'], {
      cwd: await folderWith({ 'config.yaml': ECHO }),
      variables: { PORT: String(port) },
    });
    expect(result.code).to.equal(1);
    expect(result.stderr).to.match(/^Error: [^\n]+\n$/);
    expect(result.stderr)
      .to.contain(String(port))
      .and.to.contain('in use')
      .and.to.match(/set PORT/);
    expectJsonLog(result);
  });

  for (const port of ['http', '-1', '65536', '80.5']) {
    it(`refuses PORT=${port}`, async () => {
      const { code, stderr } = await runCommand(['serve'], { variables: { PORT: port } });
      expect(code).to.equal(1);
      expect(stderr).to.match(/^Error: [^\n]+\n$/);
      expect(stderr).to.contain('PORT').and.to.contain(port);
    });
  }

  it('shows no secret in what it refuses to start with', async () => {
    const secret = 'a-secret-of-some-length';
    const { stderr, lines } = await runCommand(['serve'], {
      variables: { SOME_API_KEY: secret, TRUSTED_PROXIES: secret, PORT: '0' },
    });
    expect(stderr).to.contain('TRUSTED_PROXIES');
    expect(stderr + JSON.stringify(lines)).to.not.contain(secret);
  });
});
