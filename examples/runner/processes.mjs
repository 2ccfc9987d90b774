// Starts what an example needs as processes of its own, and ends them.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';

/** Where gw is: named, in the checkout above, or installed beside. */
export function findGw(folder) {
  const places = [
    process.env.GW,
    join(import.meta.dirname, '../../host/gw.js'),
    join(folder, 'node_modules/gw/dist/gw.js'),
    resolve('node_modules/gw/dist/gw.js'),
  ];
  const found = places.find((place) => place !== undefined && existsSync(place));
  if (found === undefined)
    throw new Error('there is no gw: set GW to host/gw.js of a checkout, or to dist/gw.js of the package');
  return resolve(found);
}

export async function freePort() {
  const server = createServer();
  await new Promise((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const { port } = server.address();
  await new Promise((done) => {
    server.close(done);
  });
  return port;
}

/** Ends a process and waits for it; one that does not end by itself is killed. */
function ending(child) {
  const closed = new Promise((done) => {
    child.once('close', done);
  });
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
    await closed;
    clearTimeout(timer);
  };
}

/** A program that prints its address. */
export async function startFile(path, env, args = []) {
  const child = spawn(process.execPath, [path, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = ending(child);
  let said = '';
  const url = await new Promise((done, fail) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      const found = /http:\/\/[^\s]+/.exec(said)?.[0];
      if (found !== undefined) done(found.replace(/\/$/, ''));
    });
    child.once('close', () => fail(new Error(`${path} ended before it said where it listens: ${said}`)));
  });
  return { url, stop };
}

/** `gw serve`, once it answers. */
export async function startGateway({ folder, config, env }) {
  const port = env.PORT ?? String(await freePort());
  const child = spawn(process.execPath, [findGw(folder), 'serve'], {
    cwd: folder,
    env: { ...process.env, ...env, PORT: port, ...(config && { GATEWAY_CONFIG: config }) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = ending(child);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    if (child.exitCode !== null) throw new Error(`the gateway did not start:\n${said}`);
    if (
      await fetch(`${url}/livez`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return { url, stop };
    if (tries > 200) throw new Error('the gateway does not answer');
    await new Promise((done) => {
      setTimeout(done, 50);
    });
  }
}

/** A command of gw, to its end. */
export function runGw({ folder, env, args }) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [findGw(folder), ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return { status, text: stdout + stderr };
}
