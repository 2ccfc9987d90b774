import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { atEnd, type RunResult } from '../kit/index.ts';

/** The commands that call the admin API, each with arguments that are right in a folder with a `config.yaml`. */
export const CALLS: readonly (readonly string[])[] = [
  ['plugins'],
  ['admin', 'keys', 'list'],
  ['admin', 'keys', 'get', 'one'],
  ['admin', 'keys', 'create', '--name', 'x'],
  ['admin', 'keys', 'revoke', 'one'],
  ['admin', 'keys', 'rotate', 'one'],
  ['admin', 'accounts', 'list'],
  ['admin', 'accounts', 'get', '/acme'],
  ['admin', 'accounts', 'set', '/acme', '--usd', '5'],
  ['admin', 'accounts', 'delete', '/acme'],
  ['admin', 'accounts', 'raise', '/acme', '--usd', '5', '--until', '2026-12-31T12:00:00Z'],
  ['admin', 'config', 'get'],
  ['admin', 'config', 'history'],
  ['admin', 'config', 'set', '--file', 'config.yaml'],
  ['admin', 'config', 'patch', '--unset', 'aliases.a'],
  ['admin', 'config', 'source'],
  ['admin', 'config', 'diff', '--file', 'config.yaml'],
  ['admin', 'config', 'rollback', '1'],
  ['admin', 'logs', 'list'],
  ['admin', 'logs', 'stats'],
  ['admin', 'providers', 'list'],
  ['admin', 'providers', 'health'],
  ['admin', 'sessions', 'list'],
  ['admin', 'sessions', 'revoke', 'one'],
  ['admin', 'audit', 'list'],
  ['admin', 'spend'],
];

interface Seen {
  readonly call: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface Stub {
  readonly url: string;
  readonly seen: Seen[];
}

/** A gateway that answers everything with one status and body, after a while where one is named. */
export async function stub(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  afterMs = 0,
): Promise<Stub> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request
      .setEncoding('utf8')
      .on('data', (part: string) => {
        text += part;
      })
      .on('end', () => {
        seen.push({
          call: `${request.method} ${request.url}`,
          authorization: request.headers.authorization,
          body: text,
        });
        const answer = (): void => void response.writeHead(status, headers).end(body);
        if (afterMs > 0) setTimeout(answer, afterMs).unref();
        else answer();
      });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.on('listening', resolve);
  });
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** One line on stderr that begins with `Error: ` and says this, and nothing on stdout. */
export function expectOneError({ code, stdout, stderr }: RunResult, ...said: readonly string[]): void {
  expect(stderr).to.match(/^Error: [^\n]+\n$/);
  for (const text of said) expect(stderr).to.contain(text);
  expect(stdout).to.equal('');
  expect(code).to.equal(1);
}
