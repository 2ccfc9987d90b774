// Runs an example: `node run.mjs <folder> [--keep] [--update]`. It starts what example.json names, plays its steps, prints what
// came of each, and ends everything. An answer that is not as the example says ends it with exit code 1.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { at, problemsOf, shareProblems } from './runner/expect.mjs';
import { readExample } from './runner/example.mjs';
import { runGw, startFile, startGateway } from './runner/processes.mjs';
import { startStandIn } from './stand-in.mjs';

/** The key of every example, and of nothing else. */
const MASTER_KEY = 'gw_00000000000000000000000000000000';
const SHOWN_HEADERS = ['target', 'attempts', 'cache', 'affinity', 'budget', 'ignored-params'];
const MOST_LINES = 12;
const MOST_CHARACTERS = 240;

/** What changes from run to run. */
const CHANGES =
  /gw_[0-9a-f]{8,}|[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f-]{27}|127\.0\.0\.1:\d+|localhost:\d+|ends=\d+|\d{4}-\d\d-\d\dT[\d:.]+Z?/g;
export const steady = (text) => text.replace(CHANGES, '…');

/** Plays one example. `services` may put others in the place of processes: tests have gateways of their own process. */
export async function runExample(folder, { print, keep = false, services = { startGateway } }) {
  const example = readExample(folder);
  const run = {
    folder,
    example,
    print,
    env: { MASTER_KEY, RATE_LIMIT_RPS: '0', ...example.env },
    upstreams: new Map(),
    gateways: new Map(),
    saved: new Map(),
    keys: new Map([['admin', MASTER_KEY]]),
    closing: [],
  };
  const end = async () => {
    for (const close of run.closing.splice(0).toReversed()) await close();
  };
  const interrupted = () => void end().then(() => process.exit(130));
  process.once('SIGINT', interrupted);
  try {
    await startUpstreams(run);
    await startGateways(run, services);
    for (const [name, body] of Object.entries(example.keys)) await makeKey(run, name, body);
    let failures = 0;
    for (const step of example.steps) failures += await play(run, step);
    if (keep) await stayUp(run);
    return failures;
  } finally {
    process.off('SIGINT', interrupted);
    await end();
  }
}

async function startUpstreams(run) {
  for (const upstream of run.example.upstreams) {
    const { name, as, file, args, env = {}, ...more } = upstream;
    const started = file
      ? await startFile(join(run.folder, file), { PORT: '0', ...env }, args)
      : await startStandIn({ name, models: more.models, orders: more.orders });
    run.closing.push(started.stop);
    run.upstreams.set(name, started);
    if (as) run.env = { [`${as}_API_KEY`]: `${name}-demo-key`, ...run.env, [`${as}_BASE_URL`]: started.url };
  }
}

async function startGateways(run, services) {
  const { folder, example } = run;
  if (example.server) {
    const server = await startFile(join(folder, example.server), { ...run.env, PORT: '0' });
    run.closing.push(server.stop);
    run.gateways.set('server', server);
    return;
  }
  const config = example.config && configAt(run, join(folder, example.config));
  for (const { name, env = {} } of example.gateways) {
    const gateway = await services.startGateway({ folder, config, env: { ...run.env, ...env } });
    run.closing.push(gateway.stop);
    run.gateways.set(name, gateway);
    await untilReady(gateway.url);
  }
}

/** Tool servers are connected to while the gateway serves already; whether targets can be reached is shown by the steps. */
async function untilReady(url) {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await fetch(`${url}/readyz?ignore=targets`)).ok) return;
    await new Promise((done) => {
      setTimeout(done, 50);
    });
  }
  throw new Error(`${url} does not become ready`);
}

/** A configuration that names addresses of stand-ins gets those that they have, in a copy beside it. */
function configAt({ example, upstreams, closing }, path) {
  const moved = example.upstreams.filter(({ at: port }) => port !== undefined);
  if (moved.length === 0) return path;
  const text = moved.reduce(
    (config, { name, at: port }) => config.replaceAll(`http://127.0.0.1:${port}`, upstreams.get(name).url),
    readFileSync(path, 'utf8'),
  );
  const copy = path.replace(/(\.\w+)$/, '.running$1');
  writeFileSync(copy, text);
  closing.push(() => rmSync(copy, { force: true }));
  return copy;
}

async function makeKey(run, name, body) {
  const made = await ask(run, { method: 'POST', path: '/admin/keys', body: { name, ...body } });
  if (made.status !== 201) throw new Error(`the key ${name} could not be made: ${made.raw}`);
  run.keys.set(name, made.body.key);
  run.saved.set(name, made.body);
}

/** Prints what a step did; 1 where it was not as the example says. */
async function play(run, step) {
  const { say, stop, order, run: args, expect = {}, share, calls } = step;
  run.print(`\n== ${say}`);
  const problems = [];
  if (stop) {
    await run.upstreams.get(stop).stop();
  } else if (order) {
    run.upstreams.get(order.to).order(order);
  } else if (args) {
    const { status, text } = runGw({ folder: run.folder, env: run.env, args });
    show(run, text, `exit ${status}`);
    for (const problem of problemsOf(expect, { status, text, raw: text })) problems.push(problem);
    if (expect.file && !text.includes(readFileSync(join(run.folder, expect.file), 'utf8')))
      problems.push(`what was printed is not what stands in ${expect.file}`);
  } else {
    for (const problem of await playRequest(run, step, share)) problems.push(problem);
  }
  for (const [name, count] of Object.entries(calls ?? {})) {
    const got = run.upstreams.get(name).calls();
    if (got !== count) problems.push(`calls of ${name}: expected ${count}, got ${got}`);
  }
  for (const problem of problems) run.print(`!! ${problem}`);
  return problems.length > 0 ? 1 : 0;
}

async function playRequest(run, step, share) {
  const { method = 'POST', path = '/v1/chat/completions', body, times = 1, save, expect = {}, quiet = false } = step;
  run.print(
    `${method} ${filled(run, path)}${body === undefined ? '' : ` ${JSON.stringify(body)}`}${times > 1 ? `, ${times} times` : ''}`,
  );
  const answers = [];
  for (let count = 0; count < times; count += 1) answers.push(await ask(run, step));
  const [last] = answers.slice(-1);
  if (save) run.saved.set(save, last.body);
  if (!quiet) show(run, shownAnswer(step, last), facts(last));
  const problems = new Set(answers.flatMap((answer) => problemsOf(expect, answer)));
  if (share) for (const problem of shareProblems(share, answers)) problems.add(problem);
  return problems;
}

/** `{name.member}` stands for what an earlier answer, or the making of a key, brought. */
function filled({ saved }, text) {
  return text.replace(/\{(\w+)\.([\w.]+)\}/g, (_whole, name, path) => String(at(saved.get(name), path)));
}

async function ask(run, { as = 'admin', on, method = 'POST', path = '/v1/chat/completions', headers = {}, body }) {
  const gateway = on ? run.gateways.get(on) : run.gateways.values().next().value;
  const key = run.keys.get(as);
  const response = await fetch(gateway.url + filled(run, path), {
    method,
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: filled(run, JSON.stringify(body)) }),
  });
  const raw = await response.text();
  const parsed = parse(raw);
  return { status: response.status, headers: response.headers, raw, body: parsed, text: saidIn(raw, parsed) };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The words of an answer, whole or streamed, whatever its wire. */
function saidIn(raw, body) {
  if (raw.startsWith('data: ')) {
    const events = raw
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => parse(line.slice(6)));
    return events.map((event) => at(event, 'choices.0.delta.content') ?? '').join('');
  }
  return (
    at(body, 'choices.0.message.content') ??
    at(body, 'content.0.text') ??
    at(body, 'candidates.0.content.parts.0.text') ??
    at(body, 'error.message') ??
    raw
  );
}

function facts({ status, headers }) {
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers.get(`x-gateway-${name}`);
    return value === null ? [] : [`${name} ${value}`];
  });
  return [`status ${status}`, ...shown].join(', ');
}

/** What the step asks for, else the words of the answer. */
function shownAnswer({ show: paths }, { body, text }) {
  return paths ? paths.map((path) => `${path}: ${JSON.stringify(at(body, path))}`).join('\n') : text;
}

function show({ print }, text, said) {
  print(`(${said})`);
  const lines = text.trimEnd().split('\n');
  for (const line of lines.slice(0, MOST_LINES))
    print(line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line);
  if (lines.length > MOST_LINES) print('…');
}

async function stayUp({ gateways, print }) {
  for (const [name, { url }] of gateways) print(`${name}: ${url}, with the key ${MASTER_KEY}`);
  await new Promise(() => setInterval(() => {}, 60_000)); // until Ctrl-C
}

const BEGIN = '<!-- out -->';
const END = '<!-- /out -->';

/** The README with what was printed between its marks. */
export function withOutput(readme, output) {
  const [start, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`the README has no ${BEGIN} and ${END}`);
  return `${readme.slice(0, start + BEGIN.length)}\n\n\`\`\`text\n${steady(output.trim())}\n\`\`\`\n\n${readme.slice(end)}`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  const [folder = '.', ...flags] = process.argv.slice(2);
  let output = '';
  const print = (line) => {
    output += `${line}\n`;
    process.stdout.write(`${line}\n`);
  };
  const failures = await runExample(resolve(folder), { print, keep: flags.includes('--keep') });
  const readme = join(folder, 'README.md');
  if (failures === 0 && flags.includes('--update'))
    writeFileSync(readme, withOutput(readFileSync(readme, 'utf8'), output));
  process.exitCode = failures === 0 ? 0 : 1;
}
