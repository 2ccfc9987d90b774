import { spawn } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atEnd, BIN, temporaryFolder } from '../kit/index.ts';
import { freePort } from '../kit/local-port.ts';

/** A block of a page that runs, and what it has to print. */
export interface Block {
  readonly line: number;
  readonly script: string;
  /** `…` stands for anything; `undefined` where nothing is said. */
  readonly out: string | undefined;
}

const FENCE = /^```(.*)$/;

/** The blocks of a page by the words behind their fences. */
function fences(page: string): { readonly info: string; readonly line: number; readonly text: string }[] {
  const found: { info: string; line: number; text: string }[] = [];
  let open: { info: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of page.split('\n').entries()) {
    const info = FENCE.exec(line.trimStart())?.[1];
    if (info === undefined) open?.lines.push(line);
    else if (open) {
      found.push({ info: open.info, line: open.line, text: open.lines.join('\n') });
      open = undefined;
    } else open = { info, line: index + 1, lines: [] };
  }
  return found;
}

/** Blocks marked `sh run`, each with the `text out` right behind it. */
export function runnableBlocks(page: string): Block[] {
  const all = fences(page);
  return all.flatMap(({ info, line, text }, at) => {
    if (info !== 'sh run') return [];
    const next = all[at + 1];
    return [{ line, script: text, out: next?.info === 'text out' ? next.text : undefined }];
  });
}

/** Whether a text is as a page shows it. */
export function isShown(shown: string, text: string): boolean {
  const pattern = shown
    .trim()
    .split('…')
    .map((part) => RegExp.escape(part))
    .join('[^]*');
  return new RegExp(`^${pattern}$`).test(text.trim());
}

/** Runs the blocks of a page in order, in one shell and an empty folder, at a free port in the place of 8080. What each printed. */
export async function runBlocks(blocks: readonly Block[]): Promise<readonly string[]> {
  const folder = await temporaryFolder();
  const port = await freePort();
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'work'));
  await writeFile(join(folder, 'bin/gw'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  await chmod(join(folder, 'bin/gw'), 0o755);
  const script = [
    'set -eum',
    "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT",
    ...blocks.map(({ script: text }) => `${text.replaceAll('localhost:8080', `localhost:${port}`)}\necho '${MARK}'`),
  ].join('\n');
  const { PATH, HOME } = process.env;
  const child = spawn('bash', ['-c', script], {
    cwd: join(folder, 'work'),
    env: { PATH: `${join(folder, 'bin')}:${PATH}`, HOME, PORT: String(port), GW_URL: `http://localhost:${port}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  atEnd(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  let said = '';
  const take = (text: string): void => {
    said += text;
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  await new Promise<void>((resolve) => {
    child.on('exit', () => resolve());
  });
  return said.split(`${MARK}\n`);
}

const MARK = '--- the end of a block ---';
