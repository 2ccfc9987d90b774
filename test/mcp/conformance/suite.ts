import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { atEnd, MASTER_KEY } from '../../kit/index.ts';

const SUITE = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
export const EXPECTED = fileURLToPath(new URL('expected-failures.yaml', import.meta.url));
export const CLIENT = `${process.execPath} ${fileURLToPath(new URL('client.ts', import.meta.url))}`;

export interface SuiteRun {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the official suite with these arguments; it fetches nothing, and what it finds is what it prints. */
export async function runSuite(args: readonly string[]): Promise<SuiteRun> {
  const child = spawn(process.execPath, [SUITE, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return { code, output };
}

/** Scenarios that the suite lists for servers or for clients. */
export async function scenarios(of: 'server' | 'client'): Promise<readonly string[]> {
  const { output } = await runSuite(['list', `--${of}`]);
  return Array.from(output.matchAll(/^ {2}- (\S+)/gm), ([, name = '']) => name);
}

/** The lines of the list of expected failures. */
export const expectedLines = (): readonly string[] =>
  readFileSync(EXPECTED, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('  - '));

/** Adds the master key to whatever is asked: the suite has no credential. Host and origin go on as they are. */
export async function withKey(url: string): Promise<string> {
  const proxy = createServer((request, response) => {
    const onward = httpRequest(
      `${url}${request.url}`,
      { method: request.method, headers: { ...request.headers, authorization: `Bearer ${MASTER_KEY}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => {
      response.destroy();
    });
    response.on('close', () => {
      onward.destroy();
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        proxy.closeAllConnections();
        proxy.close(() => {
          resolve();
        });
      }),
  );
  return `http://localhost:${(proxy.address() as AddressInfo).port}`;
}
