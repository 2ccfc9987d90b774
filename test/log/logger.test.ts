import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import { errorText as errorTextOf } from '../../host/log/error-text.ts';
import { createLogger, isSilent, type Level, logLevel } from '../../host/log/logger.ts';
import { createRedactor } from '../../host/log/redact.ts';
import type { Log } from '../../host/contract/index.ts';

const errorText = (error: unknown): unknown => errorTextOf(error, createRedactor({}));

function lined(
  level: Level = 'debug',
  variables: Record<string, string> = {},
): { log: Log; lines: () => Record<string, unknown>[]; texts: string[] } {
  const texts: string[] = [];
  const log = createLogger(
    level,
    {
      write: (line) => {
        texts.push(line);
      },
    },
    createRedactor(variables),
  );
  return { log, texts, lines: () => texts.map((text) => JSON.parse(text) as Record<string, unknown>) };
}

describe('log lines', () => {
  it('are JSON objects with time, level, message and attributes, one a line', () => {
    const { log, lines, texts } = lined();
    log.debug('one');
    log.info('two', { a: 1, b: 'x', c: null, d: [1], e: { f: true } });
    log.warn('three\nlines', { msg_part: 'y' });
    log.error('four');
    for (const text of texts) expect(text).to.match(/^\{[^\n]*\}\n$/);
    expect(lines().map(({ time: _time, ...rest }) => rest)).to.deep.equal([
      { level: 'DEBUG', msg: 'one' },
      { level: 'INFO', msg: 'two', a: 1, b: 'x', c: null, d: [1], e: { f: true } },
      { level: 'WARN', msg: 'three\nlines', msg_part: 'y' },
      { level: 'ERROR', msg: 'four' },
    ]);
    for (const { time } of lines()) expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('say the time as ISO 8601 does, to the millisecond, whichever way the clock goes', () => {
    const { log, lines } = lined();
    const start = Date.UTC(2026, 11, 31, 23, 59, 58, 997);
    const times = [0, 1, 2, 3, 3, 12, 102, 1002, 1003, 2003, 999, 0, 86_400_000, 1];
    const { now } = Date;
    try {
      for (const ms of times) {
        Date.now = () => start + ms;
        log.info('x');
      }
    } finally {
      Date.now = now;
    }
    expect(lines().map(({ time }) => time)).to.deep.equal(times.map((ms) => new Date(start + ms).toISOString()));
  });

  it('are left out below the level', () => {
    for (const [level, expected] of [
      ['debug', 4],
      ['info', 3],
      ['warn', 2],
      ['error', 1],
    ] as const) {
      const { log, texts } = lined(level);
      for (const say of ['debug', 'info', 'warn', 'error'] as const) log[say]('x');
      expect(texts, level).to.have.length(expected);
    }
  });

  it('hold no credential in the message, in an attribute, in an error or in its causes', () => {
    const { log, texts } = lined('debug', { MASTER_KEY: 'the-master-key-value' });
    log.error('the-master-key-value', {
      a: 'the-master-key-value',
      b: { c: ['the-master-key-value'] },
      error: new Error('the-master-key-value', { cause: new Error('the-master-key-value') }),
    });
    expect(texts.join('')).not.to.include('the-master-key-value');
    expect(texts[0]?.match(/\[REDACTED:MASTER_KEY\]/g)).to.have.length(5);
  });

  it('hold what JSON cannot, in some form', () => {
    const { log, lines } = lined();
    const circle: Record<string, unknown> = { a: 1 };
    circle['self'] = circle;
    log.info('round', { circle, trace_id: 't' });
    log.info('big', { count: 2n ** 70n, trace_id: 't' });
    expect(lines().map(({ msg, level, trace_id }) => [msg, level, trace_id])).to.deep.equal([
      ['round', 'INFO', 't'],
      ['big', 'INFO', 't'],
    ]);
  });

  it('tell an error that was given instead of attributes', () => {
    const { log, lines } = lined();
    log.error('failed', new Error('why') as never);
    expect(lines()[0]).to.include({ msg: 'failed', error: 'why' });
  });

  it('stay JSON whatever a module gives against the types', () => {
    const { log, lines, texts } = lined();
    log.info('b', 'text' as never);
    log.info('c', [1] as never);
    log.info(undefined as never, { a: 1 });
    log.info('d', { toJSON: () => 5 });
    log.info('e', null as never);
    log.info('f', { error: new Error('x'), err: 'y' });
    expect(texts).to.have.length(6);
    expect(lines().at(-1)).to.include({ msg: 'f', error: 'x', err: 'y' });
  });

  it('stay JSON when what is hidden follows an escape', () => {
    const { log, lines } = lined();
    log.info('mail', { a: 'x\nbob@example.com', b: 'x\u0001bob@example.com', c: 'x\\bob@example.com' });
    expect(lines()[0]).to.deep.include({
      a: 'x\n[REDACTED_EMAIL]',
      b: 'x\u0001[REDACTED_EMAIL]',
      c: 'x\\[REDACTED_EMAIL]',
    });
  });

  it('hide a bearer and a web token at the beginning of a line of text', () => {
    const { log, texts } = lined();
    log.info('echoed', { a: 'headers:\nBearer abcdefghijklmnop', b: 'token:\neyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl' });
    expect(texts[0]).not.to.match(/abcdefghijklmnop|c2lnbmF0dXJl/);
  });
});

describe('an error in a log line', () => {
  it('is one text with its causes, its code and what the provider said', () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    const error = new GatewayError('upstream_error', 'the provider failed', {
      cause: reset,
      fault: { kind: 'status', status: 500, message: 'overloaded' },
    });
    expect(errorText(error)).to.equal(
      'the provider failed (upstream_error) [upstream: 500 overloaded]: read ECONNRESET (ECONNRESET)',
    );
    expect(errorText(new Error(''))).to.equal('Error');
    expect(errorText(new Error('a', { cause: 'text' }))).to.equal('a: text');
    expect(errorText('text')).to.equal('text');
  });

  it('ends although its causes go in a circle', () => {
    const error = new Error('a');
    error.cause = error;
    expect(errorText(error)).to.equal('a: a: a: a: a');
  });
});

describe('an error with several reasons', () => {
  const refused = (address: string): Error =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });

  it('tells each of them, and their causes', () => {
    const tried = Object.assign(new AggregateError([refused('::1:80'), refused('127.0.0.1:80')]), {
      code: 'ECONNREFUSED',
    });
    expect(errorText(new Error('no connection', { cause: tried }))).to.equal(
      'no connection: AggregateError (ECONNREFUSED) [connect ECONNREFUSED ::1:80 (ECONNREFUSED); connect ECONNREFUSED 127.0.0.1:80 (ECONNREFUSED)]',
    );
    expect(
      errorText(
        new AggregateError([new Error('a', { cause: new Error('b') }), 'c', null], 'plugins could not be closed'),
      ),
    ).to.equal('plugins could not be closed [a: b; c; ]');
  });

  it('tells no more than a line can hold, however many there are and however deep', () => {
    const wide = new AggregateError(
      Array.from({ length: 1000 }, (_, index) => new Error(`reason ${index}`)),
      'wide',
    );
    expect(errorText(wide)).to.equal(
      `wide [${Array.from({ length: 8 }, (_, index) => `reason ${index}`).join('; ')}; and 992 more]`,
    );
    let deep = new AggregateError([new Error('x')], 'level');
    for (let level = 0; level < 1000; level += 1) deep = new AggregateError([deep, deep], 'level', { cause: deep });
    expect(String(errorText(deep)).length).to.be.below(3000);
    const round = new AggregateError([], 'round');
    round.errors.push(round, round);
    expect(errorText(round)).to.be.a('string');
    expect(String(errorText(new Error('x'.repeat(1_000_000)))).length).to.be.at.most(2049);
  });

  it('is written whatever was thrown', () => {
    const odd = new Error('odd');
    Object.defineProperty(odd, 'message', {
      get: () => {
        throw new Error('no');
      },
    });
    Object.defineProperty(odd, 'cause', {
      get: () => {
        throw new Error('no');
      },
    });
    expect(errorText(odd)).to.be.a('string');
    for (const cause of [
      Symbol('s'),
      Object.create(null),
      () => {},
      5n,
      {
        toString: () => {
          throw new Error('no');
        },
      },
    ])
      expect(errorText(new Error('a', { cause })))
        .to.be.a('string')
        .and.match(/^a: ./);
    const { log, texts } = lined();
    log.error('m', { error: odd });
    log.error('m', { error: new Error('a', { cause: Object.create(null) as object }) });
    expect(texts).to.have.length(2);
  });
});

describe('LOG_LEVEL', () => {
  it('is taken in any case and with blanks; anything else is info', () => {
    const cases: [text: string, level: Level][] = [
      ['debug', 'debug'],
      [' INFO ', 'info'],
      ['warn', 'warn'],
      ['Warning', 'warn'],
      ['ERROR\n', 'error'],
      ['', 'info'],
      ['fatal', 'info'],
      ['trace', 'info'],
      ['de bug', 'info'],
    ];
    for (const [text, level] of cases) expect(logLevel(text), text).to.equal(level);
    expect(logLevel(undefined)).to.equal('info');
  });

  it('says of a log which lines go nowhere', () => {
    const levels: Level[] = ['debug', 'info', 'warn', 'error'];
    for (const [least, level] of levels.entries()) {
      const { log, texts } = lined(level);
      for (const each of levels) log[each]('m');
      expect(texts).to.have.length(levels.length - least);
      expect(levels.filter((each) => isSilent(log, each))).to.deep.equal(levels.slice(0, least));
    }
  });

  it('is info for the names that every object has', () => {
    for (const text of ['constructor', 'toString', '__proto__', 'valueOf'])
      expect(logLevel(text), text).to.equal('info');
  });
});
