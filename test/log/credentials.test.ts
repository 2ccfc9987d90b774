import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin } from 'gw/contract';
import { defineBuiltin } from '../../host/builtin.ts';
import { GatewayError } from '../../host/contract/index.ts';
import { createLogger } from '../../host/log/logger.ts';
import { shippedRedactor } from '../kit/redactor.ts';
import { runCommand, runUntilExit } from '../cli/commands.ts';
import {
  ask,
  chatChunks,
  chatReply,
  openSse,
  replyJson,
  some,
  sseEvent,
  startHost,
  stubUpstream,
  type TestHost,
  temporaryFolder,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

/** Configured credentials, made up: one with the characters that encodings change, one in the shape that a vendor gives its own. */
const SECRETS = { STUB_API_KEY: 'Zq7/Tt4+Lm9=Xw2~Kp5.Vb8', OTHER_API_KEY: 'sk-proj-A1b2C3d4E5f6G7h8I9j0' };

interface Sample {
  readonly name: string;
  readonly text: string;
  /** The part of it that holds the credential and nothing else. */
  readonly part: string;
}

/** A credential in every way that an error, an address or a header may hold it. */
const SAMPLES: readonly Sample[] = Object.values(SECRETS).flatMap((secret, index) => {
  const whole = (name: string, text: string): Sample => ({ name: `${name} of credential ${index}`, text, part: text });
  const base64 = (before: string, after: string, encoding: 'base64' | 'base64url'): Sample => {
    const text = Buffer.from(before + secret + after).toString(encoding);
    const part = text.slice(Math.ceil((8 * before.length) / 6), Math.floor((8 * (before.length + secret.length)) / 6));
    return { name: `${encoding} behind "${before}" of credential ${index}`, text, part };
  };
  const hex = Buffer.from(secret).toString('hex');
  const around = [
    ['', ''],
    ['u:', ''],
    ['user:', ':x'],
    ['me:', '\n'],
  ] as const;
  const encoded = around.flatMap(([before, after]) =>
    (['base64', 'base64url'] as const).map((encoding) => base64(before, after, encoding)),
  );
  const basic = encoded.map(({ name, text, part }) => ({ name: `Basic with ${name}`, text: `Basic ${text}`, part }));
  return [
    whole('plain text', secret),
    { name: `Bearer with credential ${index}`, text: `Bearer ${secret}`, part: secret },
    ...encoded,
    ...basic,
    whole('hex', hex),
    whole('HEX', hex.toUpperCase()),
    whole('percent-encoding', encodeURIComponent(secret)),
    whole('percent-encoding throughout', hex.replaceAll(/../g, '%$&')),
    whole('percent-encoded base64', encodeURIComponent(Buffer.from(secret).toString('base64'))),
    whole('JSON with escapes throughout', hex.replaceAll(/../g, '\\u00$&')),
    whole('JSON within JSON with escapes throughout', hex.replaceAll(/../g, '\\\\u00$&')),
  ];
});

/** Nothing of a credential stands in a text, not even a piece of it. */
function expectNothing(text: string, { name, part }: Sample): void {
  for (let at = 0; at + 8 <= part.length; at += 1)
    expect(
      text.includes(part.slice(at, at + 8)),
      `${name}: "${part.slice(at, at + 8)}" in ${text.slice(0, 3000)}`,
    ).to.equal(false);
}

describe('a credential in the log', () => {
  const texts: string[] = [];
  const redactor = shippedRedactor(SECRETS);
  const log = createLogger(
    'debug',
    {
      write: (line) => {
        texts.push(line);
      },
    },
    redactor,
  );

  for (const sample of SAMPLES) {
    it(`is hidden at each level, in each place: ${sample.name}`, () => {
      const { text } = sample;
      texts.length = 0;
      for (const level of ['debug', 'info', 'warn', 'error'] as const) {
        log[level](text);
        log[level]('m', {
          text,
          list: [text],
          deep: { text, [text]: 1 },
          quoted: JSON.stringify({ text }),
          escaped: `"\n${text}\n"`,
        });
        log[level]('m', { error: new Error(text, { cause: new AggregateError([new Error(text)], text) }) });
        log[level]('m', {
          error: new GatewayError('upstream_error', 'm', { fault: { kind: 'reply', message: `said: ${text}` } }),
        });
        log[level]('m', {
          long: `${'x'.repeat(40_000)} ${text}`,
          cut: `${'x '.repeat(1018)}${text}${' x'.repeat(20_000)}`,
        });
      }
      expect(texts).to.have.length(20);
      expectNothing(texts.join(''), sample);
    });
  }
});

/** What the upstream of the tests says: an error, or a stream with an error in it. */
interface Said {
  text: string;
}

async function echoingHost(said: Said): Promise<TestHost> {
  const stub = await stubUpstream((request, response) => {
    const { stream, model } = request.json();
    if (model !== 'm' && model !== 'breaks') replyJson(response, 200, { ...chatReply('hello'), model: said.text });
    else if (stream !== true) replyJson(response, model === 'm' ? 400 : 500, { error: { message: said.text } });
    else {
      openSse(response);
      response.end(sseEvent(chatChunks(['one'])[0]) + sseEvent({ error: { message: said.text } }));
    }
  });
  const names = [...new Set(SAMPLES.map(({ text }) => text.trim()))];
  const panic = defineBuiltin({
    name: 'panics',
    apply: ({ hooks }) =>
      hooks.mount.tap('panics', (router) => {
        router.get('/panic', () => {
          throw new Error(said.text);
        });
      }),
  });
  const header = definePlugin({
    name: 'header',
    type: 'transform',
    summary: 'Adds a header',
    stages: ['before_request'],
    settings: Joi.object({}),
    keepsModel: true,
    create: (_settings, { log }) => ({
      before_request: (exchange) => {
        log.warn(`seen ${said.text}`, { text: said.text });
        exchange.setHeader('X-Gateway-Said', said.text.replaceAll(/[^\x20-\x7e]/g, ' '));
      },
    }),
  });
  const config = {
    strategy: { mode: 'single' },
    targets: [
      stub.target('a', {
        models: ['m', 'breaks', ...names],
        model_map: Object.fromEntries(names.map((name) => [name, name])),
      }),
    ],
    plugins: [{ name: 'header', stage: 'before_request', enabled: true }],
  };
  return startHost(config, { variables: SECRETS, builtins: [panic], modules: [header] });
}

describe('a credential that an upstream or a client sends back', () => {
  it('leaves in no error, event, header or log line, whatever its encoding', async function everyWay() {
    this.timeout(60_000);
    const said: Said = { text: '' };
    const t = await echoingHost(said);
    for (const sample of some(SAMPLES)) {
      said.text = sample.text;
      t.lines.length = 0;
      const answers = [
        await t.post(CHAT, ask()),
        await t.post(CHAT, ask('hi', { model: 'breaks' })),
        await t.post(CHAT, ask('hi', { stream: true })),
        await t.post(CHAT, ask('hi', { model: `no ${sample.text}` })),
        await t.post(CHAT, ask('hi', { model: sample.text.trim() })),
        await t.post(CHAT, ask('hi', { model: 'breaks', [sample.text]: 1 })),
        await t.post(CHAT, ask('hi', { n: sample.text, tool_choice: sample.text })),
        await t.get(`/v1/models/${encodeURIComponent(sample.text)}`),
        await t.get(`/${encodeURI(sample.text)}`),
        await t.get('/panic'),
      ];
      const [unary, , streamed] = answers;
      expect([unary?.status, streamed?.status]).to.deep.equal([400, 200]);
      expect(unary?.text).to.contain('[REDACTED');
      expect(streamed?.events().at(-1).error.message).to.contain('[REDACTED');
      for (const { text, headers, status } of answers) {
        const isAnswer = status === 200 && !text.includes('"error"'); // its body tells the client the model that it asked for
        expectNothing([...(isAnswer ? [] : [text]), ...[...headers].flat()].join('\n'), sample);
      }
      expect(t.lines.filter(({ msg }) => msg === 'http request')).to.have.length(answers.length);
      expect(t.lines.some(({ msg }) => msg === 'panic recovered')).to.equal(true);
      expectNothing(t.lines.map((line) => JSON.stringify(line)).join('\n'), sample);
    }
  });

  it('leaves no half of itself where a text is cut', async () => {
    const said: Said = { text: '' };
    const t = await echoingHost(said);
    const [sample] = SAMPLES as [Sample];
    for (let shift = -1; shift <= sample.text.length + 1; shift += 1) {
      const until = (length: number, filler: string): string =>
        filler.repeat(length).slice(0, length - shift) + sample.text;
      t.lines.length = 0;
      for (const filler of ['x', 'x ']) {
        said.text = `${until(2048, filler)}${filler.repeat(3000)}`;
        const answers = [
          await t.post(CHAT, ask()),
          await t.post(CHAT, ask('hi', { stream: true })),
          await t.post(CHAT, ask('hi', { model: `${until(256, 'x')}${'x'.repeat(300)}` })),
          await t.get(`/${until(1024 - 1, 'p')}${'p'.repeat(100)}`),
          await t.get(`/v1/models/${encodeURIComponent(`${until(256, 'x')}${'x'.repeat(300)}`)}`),
        ];
        for (const { text, headers } of answers) expectNothing(text + [...headers].flat().join('\n'), sample);
      }
      expectNothing(t.lines.map((line) => JSON.stringify(line)).join('\n'), sample);
    }
  });
});

describe('a credential in a configuration, a request or a setting', () => {
  /** What a command tells people: never the configuration itself, which `validate` prints with its secrets when it is asked to. */
  const outputOf = async (
    args: readonly string[],
    cwd: string,
    variables: Record<string, string> = {},
  ): Promise<string> => {
    const { stdout, stderr, lines } = await runCommand(args, {
      cwd,
      variables: { ...SECRETS, PORT: '0', ...variables },
    });
    return stdout + stderr + lines.map((line) => JSON.stringify(line)).join('\n');
  };

  it('stands in no report of validate and explain, and in none of a start that is refused', async function everyReport() {
    this.timeout(60_000);
    for (const sample of some(SAMPLES, { every: 10 })) {
      const { text } = sample;
      const cwd = await temporaryFolder();
      await mkdir(join(cwd, 'good'));
      const bad = {
        [text]: 1,
        strategy: { mode: text },
        targets: [{ virtual_key: text, weight: text, models: [` ${text} `] }],
        aliases: { [text]: text },
        plugins: [{ name: text, enabled: true }],
        request_timeout: text,
      };
      await writeFile(join(cwd, 'bad.json'), JSON.stringify(bad));
      await writeFile(join(cwd, 'broken.json'), `{"a": ${text}`);
      await writeFile(join(cwd, 'broken.yaml'), `a: [${text}\nb: *${text.replaceAll(/[^\w]/g, '')}\n`);
      await writeFile(
        join(cwd, 'request.json'),
        JSON.stringify({ model: text, messages: [{ role: 'user', content: text }] }),
      );
      const conditions = [{ key: 'model', value: text, target_key: 'echo' }];
      await writeFile(
        join(cwd, 'good.json'),
        JSON.stringify({
          strategy: { mode: 'conditional', conditions },
          targets: [{ virtual_key: 'echo', models: [text.trim()] }],
          aliases: { other: text },
        }),
      );
      const reports = [
        await outputOf(['validate', 'bad.json'], cwd),
        await outputOf(['validate', 'broken.json'], cwd),
        await outputOf(['validate', 'broken.yaml'], cwd),
        await outputOf(['validate', `${text}.json`], cwd),
        await outputOf(['explain', '--config', 'bad.json', '--request', 'request.json'], cwd),
        await outputOf(['explain', '--config', 'good.json', '--request', 'broken.json'], cwd),
        await outputOf(['explain', '--config', 'good.json', '--request', 'request.json'], cwd),
        await outputOf(['explain', '--config', 'good.json', '--request', 'request.json', '--format', 'json'], cwd),
        await outputOf(['explain', '--config', 'good.json', '--request', text], cwd),
        await outputOf(['explain', '--config', 'good.json', '--request', 'request.json', '--format', 'yaml'], cwd),
        await outputOf(['serve'], cwd, { GATEWAY_CONFIG: 'bad.json' }),
        await outputOf(['serve'], cwd, { TRUSTED_PROXIES: text, RATE_LIMIT_RPS: text, GW_SHUTDOWN_TIMEOUT: text }),
        await outputOf(['serve'], cwd, { CONFIG_STORE_BACKEND: text }),
        await outputOf(['init', '-o', `no/${text}.yaml`], cwd),
        await outputOf([text], cwd),
      ];
      for (const report of reports) expectNothing(report, sample);
    }
  });

  it('is not in the last lines of a process that fails', async () => {
    for (const name of ['plain text of credential 0', 'Basic with base64 behind "user:" of credential 0']) {
      const sample = SAMPLES.find((each) => each.name === name)!;
      const cwd = await temporaryFolder();
      await mkdir(join(cwd, 'plugins'));
      await writeFile(join(cwd, 'config.yaml'), 'targets: [{virtual_key: echo}]\n');
      await writeFile(
        join(cwd, 'plugins', 'bad.ts'),
        `setTimeout(() => { throw new Error(${JSON.stringify(sample.text)}); }, 100);\nPromise.reject(new Error(${JSON.stringify(sample.text)}));\nexport default {};\n`,
      );
      await writeFile(join(cwd, 'plugins', 'worse.ts'), `throw new Error(${JSON.stringify(sample.text)});\n`);
      const { stdout, stderr, code } = await runUntilExit(['serve'], { cwd, variables: SECRETS });
      expect(code).to.equal(1);
      expect(stdout + stderr).to.contain('[REDACTED');
      expectNothing(stdout + stderr, sample);
    }
  });
});
