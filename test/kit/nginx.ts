import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atEnd } from './cleanup.ts';
import { freePort, untilOpen } from './local-port.ts';
import { temporaryFolder } from './process.ts';

/** An nginx of the test's own, with its default settings in front of these addresses, unless its locations say otherwise. Resolves with its address; gone after the test. */
export async function startNginx(
  program: string,
  upstreams: readonly string[],
  locations = 'location / { proxy_pass http://gateway; }',
): Promise<string> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ');
  await writeFile(
    join(folder, 'nginx.conf'),
    `
    daemon off; ${user} pid ${folder}/pid; error_log ${folder}/error.log;
    events {}
    http {
      access_log off; ${paths}
      upstream gateway { ${upstreams.map((address) => `server ${address};`).join(' ')} }
      server { listen 127.0.0.1:${port}; ${locations} }
    }`,
  );
  const child = spawn(program, ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  atEnd(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  await untilOpen(port, child, 'nginx');
  return `http://127.0.0.1:${port}`;
}
