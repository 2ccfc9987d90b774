import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { atEnd, startGateway, stubUpstream, temporaryFolder } from '../kit/index.ts';
import { scripted, type Step } from './scripted.ts';

/** The version that was looked at. */
const VERSION = '0.169.0';
const INSTALLED = join(tmpdir(), `gw-agents-codex-${VERSION}`);
const CODEX = join(INSTALLED, 'node_modules', '.bin', 'codex');
const INSTALL_MS = 240_000;
const RUN_MS = 90_000;

const PATCH = '*** Begin Patch\n*** Add File: patched.txt\n+patched\n*** End Patch\n';
const COMMAND = 'echo made > made.txt && cat made.txt';

/** A command, then a patch. Newer models get both inside a tool that runs a script. */
function stepsOf(tools: readonly string[]): readonly Step[] {
  const done = { say: 'all is done' };
  if (!tools.includes('functions__exec')) return [{ tool: 'exec_command', args: { cmd: COMMAND } }, { tool: 'apply_patch', args: { input: PATCH } }, done];
  const script = (call: string): Step => ({ tool: 'functions__exec', args: { input: `text(JSON.stringify(await tools.${call}))` } });
  return [script(`exec_command(${JSON.stringify({ cmd: COMMAND })})`), script(`apply_patch(${JSON.stringify(PATCH)})`), done];
}

/** Codex knows two models by name: one takes `apply_patch` as a tool, for the other all tools come with the input. */
const MODELS = ['gpt-5.5', 'gpt-5.6-sol'];
const TARGETS = { openai: 'gpt-own', deepseek: 'deepseek-chat', anthropic: 'claude-sonnet-4-6' };

async function run(home: string, work: string, key: string): Promise<string> {
  const child = spawn(CODEX, ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-C', work, 'make the files'], {
    env: { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: home, GATEWAY_KEY: key }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  atEnd(() => { child.kill('SIGKILL'); });
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => { said += bytes.toString('utf8'); });
  const [code] = await once(child, 'close') as [number | null];
  clearTimeout(timer);
  expect(code, said).to.equal(0);
  return said;
}

describe(`Codex ${VERSION}`, () => {
  before(async function install() {
    this.timeout(INSTALL_MS);
    if (existsSync(CODEX)) return;
    await mkdir(INSTALLED, { recursive: true });
    const installing = promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--prefix', INSTALLED, `@openai/codex@${VERSION}`], { timeout: INSTALL_MS });
    if (!await installing.then(() => true, () => false)) this.skip();
  });

  for (const [target, model] of Object.entries(TARGETS)) {
    for (const name of MODELS) {
      it(`finishes a task with a command and a patch as ${name} through ${target}`, async () => {
        const upstream = await stubUpstream(scripted(stepsOf));
        const folder = await temporaryFolder();
        const [home, work, config] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'config.yaml')];
        await mkdir(join(home, '.codex'), { recursive: true });
        await mkdir(work);
        await writeFile(config, `targets:\n  - virtual_key: ${target}\n    models: [${model}]\naliases:\n  ${name}: ${model}\nresponses:\n  translate: auto\n`);
        const variable = target.toUpperCase();
        const gateway = await startGateway({ cwd: folder, variables: { GATEWAY_CONFIG: config, [`${variable}_API_KEY`]: 'upstream-key', [`${variable}_BASE_URL`]: upstream.url } });
        await writeFile(join(home, '.codex', 'config.toml'), [
          `model = "${name}"`, 'model_provider = "gateway"', '[model_providers.gateway]', 'name = "gateway"', `base_url = "${gateway.url}/v1"`, 'wire_api = "responses"', 'env_key = "GATEWAY_KEY"',
          'request_max_retries = 0', 'stream_max_retries = 0', '',
        ].join('\n'));
        const said = await run(home, work, gateway.key);
        expect(said).to.include('all is done');
        expect(await readFile(join(work, 'made.txt'), 'utf8')).to.equal('made\n');
        expect(await readFile(join(work, 'patched.txt'), 'utf8')).to.equal('patched\n');
        expect(upstream.seen).to.have.length(3);
      });
    }
  }
});
