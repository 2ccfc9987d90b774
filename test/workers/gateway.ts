import { writeFile } from 'node:fs/promises';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { eventually, type GatewayProcess, MASTER_KEY, startGateway, temporaryFolder } from '../kit/index.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: any;
}

export interface Asking {
  readonly method?: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Each request on a connection of its own, so that requests are dealt out to all workers. */
export async function send(url: string, { method, key = MASTER_KEY, body, headers = {} }: Asking = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const call = request(
    url,
    {
      agent: new Agent({ keepAlive: false }),
      method: method ?? (payload === undefined ? 'GET' : 'POST'),
      headers: {
        authorization: `Bearer ${key}`,
        ...(payload !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
        }),
        ...headers,
      },
    },
    (answer) => {
      textOf(answer).then((text) => {
        let json: unknown;
        try {
          json = JSON.parse(text);
        } catch {
          json = undefined;
        }
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json });
      }, reject);
    },
  );
  call.on('error', reject);
  call.end(payload);
  return promise;
}

/** A gateway of three workers with this configuration. */
export async function startWorkers(
  config: object,
  variables: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'config.json'), JSON.stringify(config));
  return startGateway({
    cwd,
    variables: {
      GATEWAY_CONFIG: join(cwd, 'config.json'),
      GW_WORKERS: '3',
      STUB_KEY: 'sk-stub-of-tests',
      ...variables,
    },
  });
}

export const CHAT = '/v1/chat/completions';
export const chat = (more: object = {}): object => ({
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
});

/** An instance that calls a stub. */
export const instance = (url: string, more: object = {}): object => ({
  kind: 'openai-compatible',
  base_url: url,
  api_key: '${STUB_KEY}',
  models: ['m'],
  ...more,
});

export async function makeKey(url: string, more: object = {}): Promise<{ id: string; key: string }> {
  const { status, json, text } = await send(`${url}/admin/keys`, { body: { name: 'k', scopes: [], ...more } });
  if (status !== 201) throw new Error(`a key could not be made: ${status} ${text}`);
  return { id: json.id, key: json.key };
}

export const counted = (replies: readonly Reply[], status: number): number =>
  replies.filter((reply) => reply.status === status).length;

/** So many at the same time. */
export const atOnce = <T>(count: number, run: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => run(at)));

/** Waits longer than `eventually`: several processes start on a machine that has other work. */
export async function patiently(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 6 && !(await holds()); tries += 1) await eventually(holds);
}

/** Which workers have answered. */
export const workersIn = ({ lines }: GatewayProcess): Set<number> =>
  new Set(
    lines.filter(({ msg, worker }) => msg === 'http request' && worker !== undefined).map(({ worker }) => worker),
  );
