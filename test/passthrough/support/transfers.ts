import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { peakResidentMb, residentMb } from '../../bench/usage.ts';
import { atEnd, type GatewayProcess, startGateway, temporaryFolder } from '../../kit/index.ts';

const MIB = 1024 * 1024;

/** What every transfer consists of, again and again: random, so that no byte stands for another. Cuts of it are never copied. */
const PATTERN = randomBytes(64 * 1024);

/** So many bytes of the pattern, as fast as they are taken. */
function bytesOf(length: number): Readable {
  return Readable.from(
    (function* pieces() {
      for (let left = length; left > 0; left -= PATTERN.length)
        yield PATTERN.subarray(0, Math.min(left, PATTERN.length));
    })(),
    { objectMode: false },
  );
}

/** How many bytes came; throws at the first that is not the one that was sent. */
async function counted(body: Readable): Promise<number> {
  let at = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    for (let from = 0; from < piece.length;) {
      const place = at % PATTERN.length;
      const length = Math.min(piece.length - from, PATTERN.length - place);
      if (PATTERN.compare(piece, from, from + length, place, place + length) !== 0)
        throw new Error(`the bytes from ${at} on are others`);
      from += length;
      at += length;
    }
  }
  return at;
}

export interface Transfers {
  readonly gateway: GatewayProcess;
  /** Sends so many MiB; resolves with how many bytes the upstream got. */
  readonly upload: (mib: number) => Promise<number>;
  /** Asks for so many MiB; resolves with how many bytes came. */
  readonly download: (mib: number) => Promise<number>;
  /** What a transfer made the process grow by at the most, in MB of resident memory. */
  readonly growthOf: (transfer: () => Promise<unknown>) => Promise<number>;
}

/** A gateway process before an upstream that counts what it gets, and sends what it is asked for. */
export async function transfers(): Promise<Transfers> {
  const server = createServer((request, response) => {
    const asked = Number(new URL(request.url ?? '', 'http://h').searchParams.get('mib'));
    if (request.method === 'GET')
      pipeline(bytesOf(asked * MIB), response.writeHead(200, { 'content-length': asked * MIB })).catch(() => {});
    else
      counted(request).then(
        (bytes) => response.end(`${bytes}`),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const cwd = await temporaryFolder();
  await writeFile(
    join(cwd, 'config.yaml'),
    'strategy: {mode: single}\ntargets: [{virtual_key: openai, models: [m], concurrency: {max_concurrency: 1}}]\nbatch_target: openai\n',
  );
  const gateway = await startGateway({
    cwd,
    variables: {
      OPENAI_API_KEY: 'upstream-key-3f91c2d4',
      OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    },
  });
  const headers = { authorization: `Bearer ${gateway.key}` };
  const answered = async (path: string, method: string, body: Readable): Promise<IncomingMessage> => {
    const call = httpRequest(`${gateway.url}${path}`, { method, headers, agent: false });
    const [[answer]] = await Promise.all([once(call, 'response') as Promise<[IncomingMessage]>, pipeline(body, call)]);
    if (answer.statusCode !== 200) throw new Error(`${path} is answered with ${answer.statusCode}`);
    return answer;
  };
  return {
    gateway,
    upload: async (mib) => Number((await (await answered('/v1/files', 'POST', bytesOf(mib * MIB))).toArray()).join('')),
    download: async (mib) => counted(await answered(`/v1/files/file-1/content?mib=${mib}`, 'GET', bytesOf(0))),
    growthOf: async (transfer) => {
      const pid = Number(gateway.child.pid);
      const before = residentMb(pid);
      if (existsSync(`/proc/${pid}/clear_refs`)) writeFileSync(`/proc/${pid}/clear_refs`, '5'); // the peak is counted from here on (man 5 proc)
      await transfer();
      return peakResidentMb(pid) - before;
    },
  };
}
