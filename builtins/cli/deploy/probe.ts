import type { IncomingMessage, RequestOptions } from 'node:http';
import type { ConnectionOptions } from 'node:tls';
import { type CommandInput, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import type { Clock } from '../../../host/common/clock.ts';
import { request as requestHttp } from '../../../host/common/node-http.ts';
import { parseDuration } from '../../../host/contract/duration.ts';
import { isFields } from '../../../host/contract/json/fields.ts';
import { tryParseJson } from '../../../host/contract/json/json.ts';
import type { CommandPlace } from '../../../host/host.ts';

/** How long one question may take, and the time between two of them. */
const ASK_MS = 2000;
const AGAIN_MS = 250;
/** Longest answer that is read for its reason. */
const MOST_CHARACTERS = 1024 * 1024;

/** What can be asked, and how the answer is said. */
const PROBES: ReadonlyMap<string, string> = new Map([
  ['readyz', 'ready'],
  ['livez', 'live'],
  ['health', 'healthy'],
]);

/** `gw probe`: whether the gateway is ready, live or healthy, for orchestrators that run a command. No credential is sent. */
export const run: RunCommand<CommandPlace> = async (input, io, { variables, clock }) => {
  const [name = 'readyz'] = input.args;
  const word = PROBES.get(name);
  if (word === undefined)
    throw new UsageError(`"${name}" is not a probe; use one of: ${[...PROBES.keys()].join(', ')}`);
  const waitMs = waitOf(input.options['wait']);
  const asked = addressOf(input, variables, name);
  const endsAt = clock.monotonic() + waitMs;
  for (;;) {
    const reason = await ask(asked);
    if (reason === undefined) {
      io.out(`[OK] ${word}\n`);
      return 0;
    }
    if (clock.monotonic() + AGAIN_MS > endsAt) throw new UsageError(`not ${word}: ${reason}`);
    await elapsed(clock, AGAIN_MS);
  }
};

function waitOf(text: CommandInput['options'][string]): number {
  if (typeof text !== 'string') return 0;
  const ms = parseDuration(text.trim());
  if (ms === undefined || ms < 0) throw new UsageError(`--wait is "${text}", which is not a duration such as 30s`);
  return ms;
}

/** What is asked, and the file of the certificate that answers it, where the gateway of this machine speaks TLS. */
interface Asked {
  readonly url: URL;
  readonly cert?: string;
}

function addressOf({ options }: CommandInput, variables: CommandPlace['variables'], name: string): Asked {
  const { gatewayUrl, ignore } = options;
  const port = variables['PORT']?.trim() || '8080';
  const said = typeof gatewayUrl === 'string' && gatewayUrl !== '' ? gatewayUrl : variables['GW_URL']?.trim();
  const cert = said ? undefined : variables['GW_TLS_CERT']?.trim() || undefined;
  const root = said || `${cert === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  if (!URL.canParse(root) || !/^https?:$/.test(new URL(root).protocol))
    throw new UsageError('the address is not an http or https URL; name it with --gateway-url or GW_URL');
  const url = new URL(root);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${name}`;
  url.search = typeof ignore === 'string' && ignore !== '' ? `?ignore=${encodeURIComponent(ignore)}` : '';
  return { url, ...(cert !== undefined && { cert }) };
}

/** Why it is not so; `undefined` for a 200. */
async function ask({ url, cert }: Asked): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const request = await requestOf(url);
  const limit = AbortSignal.timeout(ASK_MS);
  const options = { agent: false, signal: limit, headers: { connection: 'close' }, ...(await trusting(cert)) } as const;
  const call = request(url, options, (response) => {
    readReason(response).then(resolve, resolve);
  });
  call.on('error', (error: NodeJS.ErrnoException) =>
    resolve(limit.aborted ? `no answer in ${ASK_MS / 1000}s` : (error.code ?? error.message)),
  );
  call.end();
  return promise;
}

/** The gateway's own certificate alone is trusted, whatever name stands in it: this machine asks itself. */
async function trusting(cert: string | undefined): Promise<TlsOptions> {
  if (cert === undefined) return {};
  const { readFile } = await import('node:fs/promises');
  const ca = await readFile(cert, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`GW_TLS_CERT cannot be read: ${(cause as Error).message}`, { cause });
  });
  return { ca, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
}

type TlsOptions = Pick<ConnectionOptions, 'ca' | 'allowPartialTrustChain' | 'checkServerIdentity'>;

type Request = (
  url: URL,
  options: RequestOptions & TlsOptions,
  answered: (response: IncomingMessage) => void,
) => ReturnType<typeof requestHttp>;

/** What speaks TLS is loaded where it is needed: this command runs every few seconds. */
const requestOf = async ({ protocol }: URL): Promise<Request> =>
  protocol === 'https:' ? (await import('node:https')).request : requestHttp;

async function readReason(response: IncomingMessage): Promise<string | undefined> {
  const { statusCode = 0 } = response;
  if (statusCode === 200) {
    response.resume();
    return undefined;
  }
  let text = '';
  for await (const piece of response.setEncoding('utf8')) if (text.length < MOST_CHARACTERS) text += piece;
  const body = tryParseJson(text);
  const reason = isFields(body) ? body['reason'] : undefined;
  return typeof reason === 'string' && reason !== '' ? reason : `status ${statusCode}`;
}

const elapsed = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.timer(ms, resolve);
  });
