import { spawn } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  atEnd,
  BIN,
  eventsOf,
  inSoak,
  isSoak,
  MASTER_KEY,
  runGw,
  startGateway,
  temporaryFolder,
} from '../kit/index.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/custom-provider', import.meta.url));
const LONG = 'Tell me what you know of gateways, in a few sentences.';
const { PATH, HOME } = process.env;

interface Reply {
  readonly status: number;
  readonly target: string | null;
  readonly text: string;
  json(): any;
}

interface Upstream {
  readonly address: string;
  stop(): Promise<void>;
}

/** The stand-in service on a free port. */
async function startUpstream(folder: string): Promise<Upstream> {
  const child = spawn(process.execPath, [join(folder, 'upstream.js')], {
    env: { PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise<void>((resolve) => {
    child.on('close', () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await closed;
  };
  atEnd(stop);
  const address = await new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(/http\S+/.exec(line)?.[0] ?? ''));
  });
  return { address, stop };
}

/** The gateway on the example's configuration, and a way to ask it. */
async function startExample(
  folder: string,
  upstream: string,
): Promise<(content: string, more?: object) => Promise<Reply>> {
  const gateway = await startGateway({
    variables: { GATEWAY_CONFIG: join(folder, 'config.yaml'), ACME_API_KEY: 'acme-demo-key', ACME_BASE_URL: upstream },
    cwd: folder,
  });
  return async (content, more = {}) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content }], ...more }),
    });
    const text = await response.text();
    return {
      status: response.status,
      target: response.headers.get('x-gateway-target'),
      text,
      json: () => JSON.parse(text),
    };
  };
}

interface ScriptResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function runScript(folder: string, variables: Readonly<Record<string, string>> = {}): Promise<ScriptResult> {
  const child = spawn('sh', [join(folder, 'run.sh')], { env: { PATH, HOME, ...variables }, stdio: 'pipe' });
  atEnd(() => {
    child.kill('SIGKILL');
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return { code, stdout, stderr };
}

function describeExample(title: string, place: () => Promise<string>): void {
  describe(title, () => {
    it('is valid', async () => {
      const { code, stdout } = await runGw(['validate', join(await place(), 'config.yaml')]);
      expect(stdout).to.include('[OK] Config is valid').and.to.include('Providers: acme, echo');
      expect(code).to.equal(0);
    });

    it('serves by its own strategy, translates by its own provider and refuses by its own plugin', async () => {
      const folder = await place();
      const ask = await startExample(folder, (await startUpstream(folder)).address);
      const short = await ask('Hello, gateway!');
      expect([short.status, short.target]).to.deep.equal([200, 'echo']);
      const long = await ask(LONG, { seed: 7 });
      expect([long.status, long.target]).to.deep.equal([200, 'acme']);
      expect(long.json().choices[0].message.content).to.equal(`Acme heard ${LONG.length} characters and the seed 7.`);
      const refused = await ask('What runs on db1.corp.example?');
      expect([refused.status, refused.json().error.code]).to.deep.equal([400, 'request_rejected']);
      expect(refused.json().error.message).to.include('internal-names').and.to.include('it names an internal host');
    });

    it("streams, tells the provider's own refusal, and goes on to the next target when the provider is gone", async () => {
      const folder = await place();
      const upstream = await startUpstream(folder);
      const ask = await startExample(folder, upstream.address);
      const streamed = await ask(LONG, { stream: true });
      const words = eventsOf(streamed.text)
        .map((event) => event.choices?.[0]?.delta.content ?? '')
        .join('');
      expect(words).to.equal(`Acme heard ${LONG.length} characters.`);
      expect(streamed.text).to.match(/data: \[DONE\]\n\n$/);
      const refused = await ask(LONG, { temperature: 1.5 });
      expect([refused.status, refused.json().error.message]).to.deep.equal([400, 'temperature goes up to 1']);
      await upstream.stop();
      const helped = await ask(LONG);
      expect([helped.status, helped.target]).to.deep.equal([200, 'echo']);
    });

    it('needs no account: without the key the other target answers everything', async () => {
      const folder = await place();
      const gateway = await startGateway({ variables: { GATEWAY_CONFIG: join(folder, 'config.yaml') } });
      const { targets } = (await (await fetch(`${gateway.url}/readyz`)).json()) as { targets: object };
      expect(JSON.stringify(targets)).to.include('acme');
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: LONG }] }),
      });
      expect([response.status, response.headers.get('x-gateway-target')]).to.deep.equal([200, 'echo']);
    });
  });
}

async function copied(): Promise<string> {
  const folder = join(await temporaryFolder(), 'mine');
  await cp(EXAMPLE, folder, { recursive: true });
  return folder;
}

if (isSoak()) describeExample('the custom-provider example in the repository', async () => EXAMPLE);
describeExample('the custom-provider example copied elsewhere', copied);

describe('run.sh of the custom-provider example', () => {
  const shown = (stdout: string): string[] => [...stdout.matchAll(/\(status (\d+)/g)].map(([, status]) => status ?? '');

  it('plays every step, and exits 0', async () => {
    const { code, stdout, stderr } = await runScript(EXAMPLE);
    expect(shown(stdout), stderr).to.deep.equal(['200', '200', '400', '200']);
    expect(stdout).to.include('and the seed 7');
    expect(code).to.equal(0);
  });

  it('fails in a copied folder that has no runner beside it and no GW_EXAMPLES', async () => {
    expect((await runScript(await copied())).code).to.equal(1);
  });

  // test/build/pack.test.ts runs it so with the package.
  inSoak('runs in a copied folder when GW_EXAMPLES says where the runner is', async () => {
    const { stdout } = await runScript(await copied(), { GW_EXAMPLES: join(EXAMPLE, '..'), GW: BIN });
    expect(shown(stdout)).to.deep.equal(['200', '200', '400', '200']);
  });

  it("fails with the gateway's report when the configuration is refused", async () => {
    const folder = await copied();
    await cp(join(folder, 'plugins/internal-names.ts'), join(folder, 'plugins/other-name.ts'));
    const { code, stdout, stderr } = await runScript(folder, { GW_EXAMPLES: join(EXAMPLE, '..') });
    expect(code).to.equal(1);
    expect(shown(stdout)).to.deep.equal([]);
    expect(stderr).to.include('the gateway did not start').and.to.include('other-name');
  });
});
