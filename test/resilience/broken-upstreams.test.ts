import { writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  cases,
  chatReply,
  eventually,
  faultUpstream,
  type FaultUpstream,
  forSuite,
  type GatewayProcess,
  sized,
  some,
  startGateway,
  temporaryFolder,
  write,
} from '../kit/index.ts';
import { BODIES } from './broken/bodies.ts';
import { CONNECTIONS } from './broken/connections.ts';
import { HEADS } from './broken/heads.ts';
import { ANSWERED, bodyOf, type BrokenKind, type Expected, type Seen } from './broken/kind.ts';
import { readOutcome } from './support/map.ts';
import { type Ask, askFor, tagOf } from './support/surfaces.ts';

/** One slot at each: what is not given back is missing at the next call. An upstream that goes silent has a time limit of its own. */
const CONFIG = `strategy: { mode: fallback }
targets:
  - { virtual_key: openai, models: [m], concurrency: { max_concurrency: 1, queue_size: 1 } }
  - { virtual_key: groq, models: [silent], concurrency: { max_concurrency: 1, queue_size: 1 }, request_timeout: 150ms }
request_timeout: 20s
`;

interface Scene {
  readonly gateway: GatewayProcess;
  readonly upstream: FaultUpstream;
  readonly agent: Agent;
  /** What the next request meets. */
  kind: BrokenKind | undefined;
}

/** Connections that wait for the next of hundreds of calls: one, and another where a call came before the last had been let go. */
const MOST_IDLE = 4;

/** How long a client stays on a stream that has begun and gone silent. */
const STAY_MS = 50;

const ASKS: Readonly<Record<keyof Expected, Ask>> = { whole: 'chat', stream: 'stream', speech: 'speech' };

async function open(): Promise<Scene> {
  const scene: { current: Scene | undefined } = { current: undefined };
  const upstream = await faultUpstream({
    script: () => ({ fault: 'ok' }),
    remembers: false,
    keyOf: ({ text }) => tagOf(text),
    play: (_call, answer) => scene.current?.kind?.play(answer),
  });
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'config.yaml'), CONFIG);
  const gateway = await startGateway({
    cwd: folder,
    variables: {
      GATEWAY_CONFIG: join(folder, 'config.yaml'),
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      GROQ_API_KEY: 'k',
      GROQ_BASE_URL: `${upstream.url}/v1`,
    },
  });
  scene.current = { gateway, upstream, agent: new Agent({ keepAlive: true }), kind: undefined };
  return scene.current;
}

/** The time limit of the silent is short: on a busy machine it may be over before the answer has begun. */
async function seenOnceOrMore(scene: Scene, ask: Ask, kind: BrokenKind, expected: Seen): Promise<Seen> {
  let triesLeft = kind.isSilent && expected !== 'timeout' ? 10 : 1;
  for (;;) {
    const what = await seen(scene, ask, kind, expected);
    triesLeft -= 1;
    if (what !== 'timeout' || triesLeft === 0) return what;
  }
}

/** Asks once, and says in one word what came back. */
async function seen(
  { gateway, agent }: Scene,
  ask: Ask,
  { isSilent = false }: BrokenKind,
  expected: Seen,
): Promise<Seen> {
  const leaving = new AbortController();
  const waiting: { timer?: NodeJS.Timeout } = {};
  // A stream that has begun is bounded by two minutes of silence: the client leaves before.
  const onData = (): void => {
    if (expected === 'waits') waiting.timer = setTimeout(() => leaving.abort(), STAY_MS);
  };
  const asked = askFor(ask, {
    url: gateway.url,
    agent,
    model: isSilent ? 'silent' : 'm',
    onData,
    signal: leaving.signal,
  });
  const outcome = await asked.catch((error: Error) => error);
  clearTimeout(waiting.timer);
  if (leaving.signal.aborted) return 'waits';
  if (outcome instanceof Error) throw outcome;
  const verdict = readOutcome(ask, outcome);
  if (verdict.kind !== 'error') return verdict.kind;
  if (verdict.status === 502) return 'failed';
  return verdict.code === 'gateway_timeout' ? 'timeout' : `error ${verdict.status}`;
}

async function expectNothingLeft({ gateway, upstream }: Scene): Promise<void> {
  await eventually(() => upstream.busy === 0 && upstream.sockets.size <= MOST_IDLE);
  expect(
    [upstream.busy, await gateway.leftover()],
    'calls that are answered, and what the process holds',
  ).to.deep.equal([0, {}]);
  expect(upstream.sockets.size, 'idle connections').to.be.at.most(MOST_IDLE);
}

describe('broken upstreams, before a gateway process', function suite() {
  this.timeout(120_000);
  const opened = forSuite(open);

  for (const [group, kinds] of Object.entries({ heads: HEADS, bodies: BODIES, connections: CONNECTIONS })) {
    for (const [at, way] of (Object.keys(ASKS) as (keyof Expected)[]).entries()) {
      const asked = some(kinds, { every: 6, from: (2 * at + group.length) % 6 });
      it(`${group}: each of ${asked.length} is answered as it is documented, and leaves nothing behind: ${way}`, async () => {
        const scene = opened();
        const wrong: string[] = [];
        for (const kind of asked) {
          scene.kind = kind;
          const what = await seenOnceOrMore(scene, ASKS[way], kind, kind.expected[way]);
          if (what !== kind.expected[way]) wrong.push(`${kind.name}: ${what}, not ${kind.expected[way]}`);
          scene.kind = undefined;
          const after = await seenOnceOrMore(scene, ASKS[way], kind, 'answer');
          if (after !== 'answer') wrong.push(`after ${kind.name}: ${after}`);
        }
        expect(wrong).to.deep.equal([]);
        await expectNothingLeft(scene);
      });
    }
  }

  it('that answer twice: the second answer is thrown away', async () => {
    const scene = opened();
    const smuggled = Buffer.from(JSON.stringify(chatReply('smuggled')));
    for (const between of ['', '\r\n', 'HTTP/1.1 100 Continue\r\n\r\n']) {
      scene.kind = {
        name: 'twice',
        expected: ANSWERED,
        play: (answer) => [
          ...sized(200, answer.contentType, bodyOf(answer)),
          write(between),
          ...sized(200, 'application/json', smuggled),
        ],
      };
      for (let turn = 0; turn < cases(20, 4); turn += 1) {
        const { status, body } = await askFor('chat', { url: scene.gateway.url, agent: scene.agent });
        expect([status, body.includes('smuggled')]).to.deep.equal([200, false]);
      }
    }
    scene.kind = undefined;
    await expectNothingLeft(scene);
  });

  it('end no process, cause no more than an error each, and cost no slot', async () => {
    const { gateway } = opened();
    expect(gateway.child.exitCode).to.equal(null);
    const strange = gateway.lines.filter(
      ({ level, msg }) => level === 'ERROR' && !/request failed$|^http request$/.test(String(msg)),
    );
    expect(strange).to.deep.equal([]);
  });
});
