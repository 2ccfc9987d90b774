import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  ask,
  chatReply,
  forSuite,
  type GatewayProcess,
  replyJson,
  sseEvent,
  startGateway,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';

/** What a body may hold by default, but for a little. */
const BYTES = 10 * 1024 * 1024 - 4096;
/** Beyond it, a body under every limit keeps all other clients waiting. Milliseconds of CPU. */
const MOST_MS = 250;

/** Texts that guardrails look at longest, by what they hold again and again. */
const UNITS: Readonly<Record<string, string>> = {
  prose: 'The quick brown fox jumps over the lazy dog, and nothing of it is secret. ',
  digits: '1',
  'digits of other scripts': '\u0664',
  'digits beside letters of other scripts': '\u0664\u0627 ',
  'wide digits': '\uff11\uff12 ',
  'mathematical digits': '\u{1d7cf}',
  'what is not seen': '\u200b',
  'digits and what is not seen': '\u200b1',
  'runs like cards': '4111 1111 1111 1112 ',
  'one digit each': '1 ',
  'dialled numbers': '001 ',
  'numbers in groups': '0 1-',
  addresses: 'a@b.c ',
  'nearly addresses': 'a@',
  colons: ':',
  'groups of an address': 'f:',
  'one token': 'aB3dE5fG7h',
  'a name': 'AB_cd_12_',
  tokens: 'sk-',
  'beginnings of keys': '-----BEGIN ',
  'keys without an end': '-----BEGIN PRIVATE KEY-----!',
  'addresses with users': '://u:p',
  'blanks of typesetting': '\u00a01',
  Chinese: '\u4e2d\u6587',
  'escapes of JSON': '\\u0041',
  quotes: '"a",',
};

const PLUGINS: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  'pii-redact, mask': [{ name: 'pii-redact', config: {} }],
  'pii-redact, reject': [{ name: 'pii-redact', config: { action: 'reject', stream: 'window' } }],
  'secret-scan, mask': [{ name: 'secret-scan', config: { action: 'mask' } }],
  'secret-scan, reject': [{ name: 'secret-scan', config: { stream: 'window' } }],
  'regex-guard': [
    {
      name: 'regex-guard',
      config: { patterns: ['(?i)\\bproject[- ]?aurora\\b', '(?:a|b)*a(?:a|b){12}c', '\\d{400}x'], stream: 'window' },
    },
  ],
  'prompt-shield': [{ name: 'prompt-shield', config: {} }],
  'word-filter': [
    {
      name: 'word-filter',
      config: { blocked_words: Array.from({ length: 300 }, (_, at) => `never said ${at}`), stream: 'window' },
    },
  ],
};

const filled = (unit: string): string => unit.repeat(Math.floor(BYTES / Buffer.byteLength(unit)));
const inJson = (unit: string): string =>
  unit.repeat(Math.floor(BYTES / Buffer.byteLength(JSON.stringify(unit).slice(1, -1))));

interface Scene {
  readonly gateway: GatewayProcess;
  /** What the upstream says next, in so many events; a whole answer where it is 0. */
  readonly say: (text: string, events: number) => void;
}

async function sceneOf(plugins: readonly Readonly<Record<string, unknown>>[]): Promise<Scene> {
  let said = '';
  let count = 0;
  const upstream = await stubUpstream((_request, response) => {
    if (count === 0) {
      replyJson(response, 200, chatReply(said));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const size = Math.ceil(said.length / count);
    for (let at = 0; at < said.length; at += size)
      response.write(
        sseEvent({
          id: 'c',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          choices: [{ index: 0, delta: { content: said.slice(at, at + size) }, finish_reason: null }],
        }),
      );
    response.end(
      `${sseEvent({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`,
    );
  });
  const cwd = await temporaryFolder();
  await writeFile(
    join(cwd, 'config.yaml'),
    JSON.stringify({
      targets: [{ virtual_key: 'openai', models: ['m'] }],
      plugins: plugins.flatMap((plugin) =>
        (plugin['name'] === 'prompt-shield' ? ['before_request'] : ['before_request', 'after_request']).map(
          (stage) => ({ ...plugin, stage, enabled: true }),
        ),
      ),
    }),
  );
  const gateway = await startGateway({
    cwd,
    variables: {
      GATEWAY_CONFIG: join(cwd, 'config.yaml'),
      OPENAI_API_KEY: 'sk-of-this-test',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
    },
  });
  return {
    gateway,
    say: (text, events) => {
      said = text;
      count = events;
    },
  };
}

async function send({ gateway }: Scene, path: string, body: object): Promise<number> {
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.status;
}

/** Ways for a text of that size through a gateway. */
const WAYS: Readonly<Record<string, (scene: Scene, unit: string) => Promise<number>>> = {
  'a request': (scene, unit) => {
    scene.say('ok', 0);
    return send(scene, '/v1/chat/completions', ask(inJson(unit)));
  },
  'a forwarded request': (scene, unit) => {
    scene.say('ok', 0);
    return send(scene, '/v1/others', { model: 'm', input: inJson(unit) });
  },
  'an answer': (scene, unit) => {
    scene.say(filled(unit), 0);
    return send(scene, '/v1/chat/completions', ask('hi'));
  },
  'a stream of many events': (scene, unit) => {
    scene.say(filled(unit), 400);
    return send(scene, '/v1/chat/completions', { ...ask('hi'), stream: true });
  },
  'a stream of one event': (scene, unit) => {
    scene.say(filled(unit).slice(0, BYTES / 10), 1);
    return send(scene, '/v1/chat/completions', { ...ask('hi'), stream: true });
  },
  'a stream of few events': (scene, unit) => {
    scene.say(filled(unit).slice(0, BYTES / 10), 20);
    return send(scene, '/v1/chat/completions', { ...ask('hi'), stream: true });
  },
};

describe('how long guardrails hold everybody up with 10 MiB', function suite() {
  this.timeout(1_200_000);
  const table: string[] = [];

  for (const [name, plugins] of Object.entries(PLUGINS)) {
    describe(name, () => {
      const running = forSuite(() => sceneOf(plugins));

      for (const [way, go] of Object.entries(WAYS))
        it(`is bounded: ${way}`, async () => {
          const scene = running();
          const figures: (readonly [what: string, ms: number, status: number])[] = [];
          for (const [what, unit] of Object.entries(UNITS).filter(
            (_unit, at) => at % (way === 'a request' ? 1 : 4) === 0,
          )) {
            await scene.gateway.longestTurn();
            const status = await go(scene, unit);
            figures.push([what, await scene.gateway.longestTurn(), status]);
          }
          const worst = figures.toSorted(([, a], [, b]) => b - a);
          for (const [what, ms, status] of worst.slice(0, 3))
            table.push(`${ms.toFixed(0).padStart(6)} ms  ${status}  ${name}, ${way}: ${what}`);
          expect(
            worst.filter(([, ms]) => ms > MOST_MS),
            'texts that hold the loop for too long',
          ).to.deep.equal([]);
        });
    });
  }

  after(() => {
    process.stdout.write(`${table.join('\n')}\n`);
  });
});
