import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { BIN, MASTER_KEY } from '../../kit/index.ts';
import { FAILING, VendorServer } from './vendors/server.ts';
import { VENDORS } from './vendors/vendors.ts';

/** A gateway process in front of every vendor, for all tests of a suite. */
export interface VendorGateway {
  readonly baseURL: string;
  readonly key: string;
  readonly client: OpenAI;
  readonly vendors: VendorServer;
}

export interface VendorGatewayOptions {
  /** Beside those that lead to the vendors. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Beside the targets. */
  readonly config?: object;
}

/**
 * Starts the gateway before the tests of the suite it is called in, and ends it after them. Each vendor's models are
 * asked for as `<vendor>/<surface>`, which `model_map` turns into the vendor's own names.
 */
export function withVendors({ variables = {}, config = {} }: VendorGatewayOptions = {}): () => VendorGateway {
  const vendors = new VendorServer();
  let child: ChildProcess | undefined;
  let folder = '';
  let gateway: VendorGateway | undefined;

  before(async () => {
    await vendors.listen();
    folder = await mkdtemp(join(tmpdir(), 'gw-e2e-'));
    const path = join(folder, 'config.json');
    await writeFile(path, JSON.stringify({ strategy: { mode: 'fallback' }, targets: Object.keys(VENDORS).map(targetOf), ...config }));
    const { PATH, HOME } = process.env;
    child = spawn(process.execPath, [BIN, 'serve'], {
      cwd: folder, stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, HOME, PORT: '0', MASTER_KEY, RATE_LIMIT_RPS: '0', GATEWAY_CONFIG: path, ...vendors.variables(), ...variables },
    });
    const baseURL = `http://127.0.0.1:${await listening(child)}/v1`;
    gateway = { baseURL, key: MASTER_KEY, vendors, client: new OpenAI({ baseURL, apiKey: MASTER_KEY, maxRetries: 0, timeout: 5000 }) };
  });
  beforeEach(() => vendors.forget());
  after(async () => {
    if (child && child.exitCode === null) {
      const closed = new Promise((resolve) => { child?.once('close', resolve); });
      child.kill('SIGKILL');
      await closed;
    }
    await vendors.close();
    await rm(folder, { recursive: true, force: true });
  });

  return () => {
    if (!gateway) throw new Error('the gateway has not started');
    return gateway;
  };
}

function targetOf(name: string): object {
  const own = Object.entries(VENDORS[name]?.surfaces ?? {}).map(([surface, { model }]) => [`${name}/${surface}`, model]);
  const failing = Object.keys(FAILING).map((model) => [`${name}/${model}`, model]);
  const second = name === 'openai' ? [['openai/dall-e', 'dall-e-3']] : [];
  return { virtual_key: name, model_map: Object.fromEntries([...own, ...failing, ...second]) };
}

/** The port of a gateway, as soon as it listens. */
function listening(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let out = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    const started = out.split('\n').slice(0, -1).find((line) => line.includes('"gw started"'));
    if (started) resolve(Number((JSON.parse(started) as { addr: string }).addr.split(':').at(-1)));
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => { errors += text; });
  child.once('close', (code) => reject(new Error(`the gateway exited with ${code}:\n${errors}`)));
  return promise;
}
