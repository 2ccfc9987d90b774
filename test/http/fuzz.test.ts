import { isUtf8 } from 'node:buffer';
import { Agent, request as httpRequest } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { MAX_DEPTH } from '../../host/contract/json/json-shape.ts';
import { atEnd } from '../kit/cleanup.ts';
import {
  cases,
  chatReply,
  Dice,
  MASTER_KEY,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const BODIES = cases(4000, 20);
const WARM_UP = cases(400, 4);
const CONNECTIONS = 8;
const MAX_GROWTH_BYTES = 5 * 1024 * 1024;

const FIELDS = [
  'model',
  'messages',
  'temperature',
  'top_p',
  'n',
  'seed',
  'max_tokens',
  'max_completion_tokens',
  'presence_penalty',
  'frequency_penalty',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'logprobs',
  'top_logprobs',
  'stream',
  'stream_options',
  'user',
  'logit_bias',
  '__proto__',
  'constructor',
  'x',
  '',
];
const NUMBERS = [
  '0',
  '-0',
  '1',
  '1.5',
  '9007199254740993',
  '-9223372036854775808',
  '123456789012345678901234567890',
  '1e400',
  '-1e400',
  '1e-400',
  '0.1e1',
  '4.9e-324',
  '12',
  '0.5',
  '2',
];
const TEXTS = [
  '""',
  '"hi"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u00e9\\n\\"\\\\"',
  '"\u2028"',
  '"\ud83d\ude00"',
  '"m"',
  '"user"',
  '"text"',
  '"data:,"',
];
/** What is not JSON at all. */
const BROKEN = [
  '01',
  '1.',
  '.5',
  'NaN',
  '0x1',
  '1e',
  '--1',
  '"\\x"',
  '"a\nb"',
  'undefined',
  'nul',
  '',
  "'x'",
  '[1,,2]',
  '[1',
  '{"a"}',
  '{"a":1,}',
  '"open',
];

/** Some JSON text, not always right, never deep. */
function value(dice: Dice, depth = 0): string {
  if (dice.below(40) === 0) return dice.pick(BROKEN);
  const kind = dice.below(depth > 4 ? 4 : 7);
  if (kind === 0) return dice.pick(['null', 'true', 'false']);
  if (kind === 1) return dice.pick(NUMBERS);
  if (kind <= 3) return dice.pick(TEXTS);
  const members = Array.from({ length: dice.below(5) }, () => value(dice, depth + 1));
  if (kind === 4) return `[${members.join(',')}]`;
  return `{${members.map((member) => `${JSON.stringify(dice.pick(['role', 'content', 'type', 'function', 'name', 'arguments', 'image_url', 'url', ...FIELDS]))}:${member}`).join(',')}}`;
}

const messages = '[{"role":"user","content":"hi"}]';
const valid = (dice: Dice, more = ''): string =>
  `{"model":"m","messages":${messages}${more}${dice.below(3) === 0 ? ',"stream":true' : ''}}`;

/** The kinds of bodies that hostile and broken clients send. */
const KINDS: readonly ((dice: Dice) => string | Buffer)[] = [
  (dice) => dice.bytes(dice.below(2000)),
  (dice) => valid(dice, `,"user":${value(dice)}`).slice(0, dice.below(60)),
  (dice) => `${valid(dice)}${dice.pick([' ', '}', '{}', 'x', ',', '\0', '[]', '\n\n'])}`,
  (dice) => {
    const levels = dice.below(20) === 0 ? 200_000 : dice.pick([MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 1000, 20_000]);
    const [open, close] = dice.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const);
    return valid(dice, `,"x":${open.repeat(levels)}1${close.repeat(dice.below(4) === 0 ? levels - 1 : levels)}`);
  },
  (dice) => valid(dice, `,${JSON.stringify(dice.pick(FIELDS))}:${value(dice)}`),
  (dice) => valid(dice, `,${JSON.stringify(dice.pick(FIELDS))}:${dice.pick(NUMBERS)}`),
  (dice) =>
    valid(
      dice,
      Array.from({ length: 1 + dice.below(8) }, () => `,${JSON.stringify(dice.pick(FIELDS))}:${value(dice)}`).join(''),
    ),
  (dice) => `{"model":"m","messages":[${Array.from({ length: dice.below(4) }, () => value(dice)).join(',')}]}`,
  (dice) => {
    const bytes = Buffer.from(valid(dice, `,"user":"${'ä'.repeat(dice.below(20))}"`));
    for (let flips = 1 + dice.below(3); flips > 0; flips -= 1) bytes[dice.below(bytes.length)] = dice.below(256);
    return bytes;
  },
  (dice) => value(dice),
];

/** Whether a body is one JSON object of allowed depth in UTF-8, judged apart from the gateway. */
function isWellFormed(body: Buffer): boolean {
  if (!isUtf8(body)) return false;
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return (
      typeof parsed === 'object' &&
      parsed !== null &&
      !Array.isArray(parsed) &&
      depthOf(body.toString('utf8')) <= MAX_DEPTH
    );
  } catch {
    return false;
  }
}

function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [mark] of json.replace(/"(?:[^"\\]|\\.)*"/g, '').matchAll(/[[\]{}]/g)) {
    depth += mark === '[' || mark === '{' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

interface Fuzzing {
  readonly t: TestHost;
  readonly stub: StubUpstream;
  readonly agent: Agent;
  readonly statuses: Map<number, number>;
}

async function startFuzzing(): Promise<Fuzzing & { connections(): number }> {
  const stub = await stubUpstream((request, response) => {
    if (request.json()['stream'] === true) replyStream(response, ['hi']);
    else replyJson(response, 200, chatReply('hello'));
  });
  const t = await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] });
  let connections = 0;
  t.server.on('connection', () => {
    connections += 1;
  });
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  atEnd(() => {
    agent.destroy();
  });
  return { t, stub, agent, statuses: new Map(), connections: () => connections };
}

function post({ t, agent }: Fuzzing, body: Buffer): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-length': body.length };
  const call = httpRequest(`${t.url}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
    let text = '';
    response
      .setEncoding('utf8')
      .on('data', (piece: string) => {
        text += piece;
      })
      .on('error', reject)
      .on('end', () => resolve({ status: response.statusCode ?? 0, text }));
  });
  call.on('error', reject).end(body);
  return promise;
}

async function check(fuzzing: Fuzzing, body: Buffer, seed: number): Promise<void> {
  const { status, text } = await post(fuzzing, body);
  const label = `seed ${seed}: ${body.subarray(0, 300).toString('latin1')}`;
  fuzzing.statuses.set(status, (fuzzing.statuses.get(status) ?? 0) + 1);
  expect(status, label).to.be.oneOf(isWellFormed(body) ? [200, 400, 404] : [400]);
  if (status === 200) return;
  const { error } = JSON.parse(text) as { error: Record<string, unknown> };
  expect(error, label).to.have.all.keys('message', 'type', 'code');
  expect(error, label).to.include({
    type: 'invalid_request_error',
    code: status === 404 ? 'model_not_found' : 'invalid_request',
  });
}

/** Sends the bodies of the seeds from `first` on, over all connections at once. */
async function run(fuzzing: Fuzzing, first: number, count: number): Promise<void> {
  let next = first;
  const worker = async (): Promise<void> => {
    while (next < first + count) {
      const seed = next++;
      await check(fuzzing, Buffer.from(KINDS[seed % KINDS.length]!(new Dice(seed))), seed);
      fuzzing.stub.seen.length = 0;
      fuzzing.t.lines.length = 0;
      fuzzing.t.samples.length = 0;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

/** Bytes in use once everything that can go is gone. */
async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 4; round += 1) {
    collect();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  return process.memoryUsage().heapUsed;
}

describe('malformed bodies', () => {
  it(`are refused ${BODIES} times over kept connections, without a fault, a lost connection or a lasting byte`, async function hostileBodies() {
    this.timeout(60_000);
    const fuzzing = await startFuzzing();
    const { t } = fuzzing;
    await run(fuzzing, 1_000_000, WARM_UP);
    const before = await heapBytes();
    await run(fuzzing, 1, BODIES);
    expect([t.host.activity.count, t.host.slot.leases]).to.deep.equal([0, 0]);
    const { statuses } = fuzzing;
    expect([...statuses.keys()].every((status) => status < 500)).to.equal(true);
    expect(statuses.get(200), 'some bodies are right').to.be.above(BODIES / 20);
    expect(statuses.get(400), 'most are not').to.be.above(BODIES / 2);
    expect(fuzzing.connections()).to.equal(CONNECTIONS);
    const growth = (await heapBytes()) - before;
    expect(growth, `heap grew by ${growth} bytes`).to.be.below(MAX_GROWTH_BYTES);
    expect((await t.get('/readyz')).status).to.equal(200);
  });
});
