import { expect } from 'chai';
import { readEnvironment, type Settings } from '../../host/environment/settings.ts';
import { filesIn, read } from '../architecture/source.ts';
import { runGw, temporaryFolder } from '../kit/index.ts';

const notesOf = (variables: Record<string, string>, level: 'warn' | 'fatal'): string[] =>
  readEnvironment(variables)
    .notes.filter((note) => note.level === level)
    .map(({ message }) => message);
const ranges = ({ trustedProxies }: Settings): string[] =>
  trustedProxies.map(([address, bits]) => `${address.toString()}/${bits}`);

describe('settings', () => {
  it('have the documented defaults', () => {
    const settings = readEnvironment({});
    expect(settings).to.deep.include({
      port: '8080',
      isProduction: false,
      logLevel: 'info',
      configPath: undefined,
      watchesConfig: false,
      masterKey: undefined,
      allowUnauthenticated: false,
      corsOrigins: [],
      rateLimit: { ratePerSecond: 20, burst: 40 },
      shutdownTimeoutMs: 15_000,
      drainDelayMs: 0,
      secretDirectories: ['/run/secrets'],
      notes: [],
    });
    expect(ranges(settings)).to.deep.equal(['127.0.0.0/8', '::1/128']);
  });

  it('take empty values for none', () => {
    const names = [
      'PORT',
      'GW_ADDRESS',
      'GW_ADMIN_PORT',
      'GW_ADMIN_ADDRESS',
      'GATEWAY_CONFIG',
      'GATEWAY_ENV',
      'MASTER_KEY',
      'LOG_LEVEL',
      'ALLOW_UNAUTHENTICATED_PROXY',
      'CORS_ORIGINS',
      'TRUSTED_PROXIES',
      'RATE_LIMIT_RPS',
      'RATE_LIMIT_BURST',
      'GW_SHUTDOWN_TIMEOUT',
      'GW_DRAIN_DELAY',
      'GW_SECRET_DIRS',
      'GW_PG_CONNECTIONS',
      'GW_KEY_ACCESS_DEFAULT',
      'GW_STATE_URL',
      'GW_STATE_PREFIX',
      'GW_STATE_FAILURE',
    ];
    expect(readEnvironment(Object.fromEntries(names.map((name) => [name, ''])))).to.deep.equal(readEnvironment({}));
  });

  for (const [variable, setting, more = []] of [
    ['ALLOW_UNAUTHENTICATED_PROXY', 'allowUnauthenticated'],
    ['ENABLE_PPROF', 'hasPprof', ['1', 'yes']],
    ['GW_ADMIN_STDIO', 'allowsAdminStdio'],
    ['GW_CONFIG_WATCH', 'watchesConfig'],
  ] as const) {
    it(`read ${variable} as every switch is read`, () => {
      const unknown = (text: string): string[] =>
        notesOf({ [variable]: text }, 'warn').filter((message) => message.includes('counts as off'));
      for (const text of ['true', 'TRUE', ' true\n', ...more]) {
        expect([readEnvironment({ [variable]: text })[setting], unknown(text)], text).to.deep.equal([true, []]);
      }
      for (const text of ['false', '0', 'No', ' off ', '', ' ']) {
        expect([readEnvironment({ [variable]: text })[setting], unknown(text)], text).to.deep.equal([false, []]);
      }
      for (const text of ['truely', '2', 'on', 'enabled', 'true false']) {
        expect([readEnvironment({ [variable]: text })[setting], unknown(text)], text).to.deep.equal([
          false,
          [
            `${variable} is "${text}", which counts as off; use one of: ${['true', ...more].join(', ')}, or false, 0, no, off`,
          ],
        ]);
      }
      expect(readEnvironment({})[setting]).to.equal(false);
    });
  }

  it('are the only place that compares the words of a switch', () => {
    const files = filesIn('host', 'builtins').filter((file) => /\bvariables\b/.test(read(file)));
    const comparing = files.filter((file) => /variables\[[^\]]+\][^;\n]*=== '(true|1|yes|on)'/i.test(read(file)));
    expect(files.length).to.be.above(10);
    expect(comparing).to.deep.equal([]);
  });

  it('trim the path, the key and the lists', () => {
    const settings = readEnvironment({
      GATEWAY_CONFIG: ' /etc/x.yaml\n',
      MASTER_KEY: ' key ',
      CORS_ORIGINS: ' https://a.example , ,https://b.example,',
      TRUSTED_PROXIES: ' 10.0.0.0/8 , ,fd00::/8',
    });
    expect(settings).to.deep.include({
      configPath: '/etc/x.yaml',
      masterKey: 'key',
      corsOrigins: ['https://a.example', 'https://b.example'],
    });
    expect(ranges(settings)).to.deep.equal(['10.0.0.0/8', 'fd00::/8']);
    expect(readEnvironment({ MASTER_KEY: '  ' }).masterKey).to.equal(undefined);
  });

  for (const [text, expected] of [
    ['true', true],
    [' TRUE\n', true],
    ['1', false],
    ['yes', false],
    ['truely', false],
    ['false', false],
  ] as const) {
    it(`${expected ? 'open' : 'keep closed'} /v1 with ALLOW_UNAUTHENTICATED_PROXY=${JSON.stringify(text)}`, () => {
      expect(readEnvironment({ ALLOW_UNAUTHENTICATED_PROXY: text }).allowUnauthenticated).to.equal(expected);
    });
  }

  for (const [text, expected] of [
    ['production', true],
    [' Production ', true],
    ['prod', false],
    ['staging', false],
    ['production2', false],
  ] as const) {
    it(`are ${expected ? '' : 'not '}those of production with GATEWAY_ENV=${JSON.stringify(text)}`, () => {
      expect(readEnvironment({ GATEWAY_ENV: text }).isProduction).to.equal(expected);
    });
  }

  const durations: [text: string, ms: number, isWarned: boolean][] = [
    ['30s', 30_000, false],
    ['1m30s', 90_000, false],
    ['250ms', 250, false],
    [' 2s ', 2000, false],
    ['0', 0, false],
    ['0s', 0, false],
    ['15', 15_000, true],
    ['soon', 15_000, true],
    ['-5s', 15_000, true],
    ['1 s', 15_000, true],
  ];
  for (const [text, ms, isWarned] of durations) {
    it(`wait ${ms} ms for what drains with GW_SHUTDOWN_TIMEOUT=${JSON.stringify(text)}${isWarned ? ', and warn' : ''}`, () => {
      expect(readEnvironment({ GW_SHUTDOWN_TIMEOUT: text }).shutdownTimeoutMs).to.equal(ms);
      expect(
        notesOf({ GW_SHUTDOWN_TIMEOUT: text }, 'warn').some(
          (message) => message.includes('GW_SHUTDOWN_TIMEOUT') && message.includes(text.trim()),
        ),
      ).to.equal(isWarned);
    });
  }
});

describe('GW_DRAIN_DELAY', () => {
  for (const [text, ms, isWarned] of [
    ['10s', 10_000, false],
    [' 5m ', 300_000, false],
    ['0', 0, false],
    ['5m1s', 0, true],
    ['-1s', 0, true],
    ['10', 0, true],
  ] as const)
    it(`is ${ms} ms with ${JSON.stringify(text)}${isWarned ? ', and a warning' : ''}`, () => {
      expect(readEnvironment({ GW_DRAIN_DELAY: text }).drainDelayMs).to.equal(ms);
      expect(notesOf({ GW_DRAIN_DELAY: text }, 'warn')).to.deep.equal(
        isWarned ? [`GW_DRAIN_DELAY is "${text}", which is not a duration of at most 5m; 0s is used`] : [],
      );
    });
});

describe('GW_KEY_ACCESS_DEFAULT', () => {
  for (const [text, access] of [
    [' ', 'full'],
    ['full', 'full'],
    [' INFERENCE ', 'inference'],
  ] as const)
    it(`is ${access} with ${JSON.stringify(text)}`, () => {
      const settings = readEnvironment({ GW_KEY_ACCESS_DEFAULT: text });
      expect([settings.keyAccess, settings.notes]).to.deep.equal([access, []]);
    });

  it('refuses the start with another word: keys would be wider than was meant', () => {
    expect(notesOf({ GW_KEY_ACCESS_DEFAULT: ' inferense' }, 'fatal')).to.deep.equal([
      'GW_KEY_ACCESS_DEFAULT is "inferense"; use inference or full',
    ]);
  });
});

describe('GW_PG_CONNECTIONS', () => {
  for (const [text, connections] of [
    [' ', 10],
    ['6', 6],
    [' 20 ', 20],
    ['100', 100],
  ] as const)
    it(`is ${connections} with ${JSON.stringify(text)}`, () => {
      const settings = readEnvironment({ GW_PG_CONNECTIONS: text });
      expect([settings.pgConnections, settings.notes]).to.deep.equal([connections, []]);
    });

  for (const text of ['5', '101', 'x', '1e1', '-10', '6.5', '0x10', '10 10'])
    it(`refuses the start with ${JSON.stringify(text)}`, () => {
      expect(notesOf({ GW_PG_CONNECTIONS: ` ${text}` }, 'fatal')).to.deep.equal([
        `GW_PG_CONNECTIONS is "${text}"; write a whole number from 6 to 100`,
      ]);
    });
});

describe('the per-address limit in the settings', () => {
  const rates: [text: string, ratePerSecond: number | undefined, isWarned: boolean][] = [
    ['5', 5, false],
    ['0.5', 0.5, false],
    ['.5', 0.5, false],
    ['100000', 100_000, false],
    ['0', undefined, false],
    ['0.0', undefined, false],
    ['00', undefined, false],
    ['.0', undefined, false],
    ['-1', 20, true],
    ['NaN', 20, true],
    ['Infinity', 20, true],
    ['ten', 20, true],
    [' 5 ', 20, true],
    [' 0 ', 20, true],
    ['5/s', 20, true],
    ['0x10', 20, true],
    ['1,5', 20, true],
  ];
  for (const [text, rate, isWarned] of rates) {
    it(`${rate === undefined ? 'is off' : `is ${rate} a second`} with RATE_LIMIT_RPS=${JSON.stringify(text)}${isWarned ? ', and warns' : ''}`, () => {
      expect(readEnvironment({ RATE_LIMIT_RPS: text }).rateLimit).to.deep.equal(
        rate === undefined ? undefined : { ratePerSecond: rate, burst: 40 },
      );
      expect(
        notesOf({ RATE_LIMIT_RPS: text }, 'warn').some(
          (message) => message.includes('RATE_LIMIT_RPS') && message.includes(text),
        ),
      ).to.equal(isWarned);
    });
  }

  const bursts: [rate: string, text: string, burst: number, isWarned: boolean][] = [
    ['5', '10', 10, false],
    ['5', '0.2', 1, false],
    ['5', '0', 5, false],
    ['0.2', '0', 1, false],
    ['5', '1.5', 1.5, false],
    ['5', '-1', 40, true],
    ['5', 'many', 40, true],
    ['5', ' 10', 40, true],
  ];
  for (const [rate, text, burst, isWarned] of bursts) {
    it(`lets ${burst} through at once with RATE_LIMIT_BURST=${JSON.stringify(text)} at ${rate} a second${isWarned ? ', and warns' : ''}`, () => {
      const variables = { RATE_LIMIT_RPS: rate, RATE_LIMIT_BURST: text };
      expect(readEnvironment(variables).rateLimit).to.deep.equal({ ratePerSecond: Number(rate), burst });
      expect(notesOf(variables, 'warn').some((message) => message.includes('RATE_LIMIT_BURST'))).to.equal(isWarned);
    });
  }
});

describe('trusted proxies in the settings', () => {
  it('replace the default', () => {
    expect(ranges(readEnvironment({ TRUSTED_PROXIES: '10.0.0.0/8' }))).to.deep.equal(['10.0.0.0/8']);
  });

  it('are the default when the list holds only blanks', () => {
    expect(ranges(readEnvironment({ TRUSTED_PROXIES: ' , ,' }))).to.deep.equal(['127.0.0.0/8', '::1/128']);
  });

  for (const entry of [
    '10.0.0.1',
    '::1',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/-1',
    '10.0.0.0/x',
    'example.com/8',
    '10.0.0.0/8/8',
    '*',
    '10/8',
    '10.0/8',
    '0x0a.0.0.0/8',
    '010.0.0.0/8',
  ]) {
    it(`are refused with the entry ${entry}, which is named`, () => {
      const fatal = notesOf({ TRUSTED_PROXIES: `192.168.0.0/16, ${entry}` }, 'fatal');
      expect(fatal).to.have.length(1);
      expect(fatal[0]).to.include('TRUSTED_PROXIES').and.include(entry);
    });
  }
});

describe('production', () => {
  const production = { GATEWAY_ENV: 'production' };

  it('refuses an open /v1 and a wildcard origin, and both in one message', () => {
    expect(notesOf({ ...production, ALLOW_UNAUTHENTICATED_PROXY: ' True ' }, 'fatal')).to.have.length(1);
    for (const origins of ['*', ' * ', '"*"', "'*'", '" * "', 'https://a.example, *'])
      expect(notesOf({ ...production, CORS_ORIGINS: origins }, 'fatal'), origins).to.have.length(1);
    const both = notesOf({ ...production, ALLOW_UNAUTHENTICATED_PROXY: 'true', CORS_ORIGINS: '*' }, 'fatal');
    expect(both).to.have.length(1);
    expect(both[0]).to.include('ALLOW_UNAUTHENTICATED_PROXY').and.include('CORS_ORIGINS');
  });

  it('takes origins that only look like a wildcard', () => {
    for (const origins of ['https://*.example.com', '**', '*.example.com', 'https://a.example'])
      expect(notesOf({ ...production, CORS_ORIGINS: origins }, 'fatal'), origins).to.deep.equal([]);
  });

  it('warns of a limit that is off, judged by what it means', () => {
    const isWarned = (rate: string): boolean =>
      notesOf({ ...production, RATE_LIMIT_RPS: rate }, 'warn').some((message) => message.includes('RATE_LIMIT_RPS=0'));
    for (const rate of ['0', '0.0', '00']) expect(isWarned(rate), rate).to.equal(true);
    for (const rate of [' 0 ', '1', '']) expect(isWarned(rate), rate).to.equal(false);
  });

  it('warns of profiling', () => {
    for (const value of ['1', 'TRUE', ' yes '])
      expect(notesOf({ ...production, ENABLE_PPROF: value }, 'warn').join(), value).to.include('ENABLE_PPROF');
    for (const value of ['0', 'off', ''])
      expect(notesOf({ ...production, ENABLE_PPROF: value }, 'warn').join(), value).not.to.include('ENABLE_PPROF');
  });

  it('is the only place where that stops the start', () => {
    const variables = {
      ALLOW_UNAUTHENTICATED_PROXY: 'true',
      CORS_ORIGINS: '*',
      RATE_LIMIT_RPS: '0',
      ENABLE_PPROF: '1',
    };
    expect(notesOf(variables, 'fatal')).to.deep.equal([]);
    expect(notesOf({ ...variables, GATEWAY_ENV: 'production' }, 'fatal')).to.have.length(1);
  });
});

describe('a start that is refused', () => {
  it('exits with 1 before the configuration is read, and names every reason', async () => {
    const folder = await temporaryFolder();
    const variables = {
      GATEWAY_ENV: 'production',
      ALLOW_UNAUTHENTICATED_PROXY: 'true',
      CORS_ORIGINS: '*',
      TRUSTED_PROXIES: '10.0.0.1',
      GATEWAY_CONFIG: '/does/not/exist.yaml',
      PORT: '0',
    };
    const { code, stdout, stderr } = await runGw(['serve'], { variables, cwd: folder });
    expect(code).to.equal(1);
    expect(stderr)
      .to.include('ALLOW_UNAUTHENTICATED_PROXY')
      .and.include('CORS_ORIGINS')
      .and.include('10.0.0.1')
      .and.not.include('exist.yaml');
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.some(({ level, msg }) => level === 'ERROR' && msg === 'gw cannot start')).to.equal(true);
  });

  it('exits with 1 on a port that is none', async () => {
    const folder = await temporaryFolder();
    for (const port of ['http', '70000']) {
      const { code, stderr } = await runGw(['serve'], { variables: { PORT: port }, cwd: folder });
      expect(code, port).to.equal(1);
      expect(stderr).to.include(port);
    }
  });
});

describe('the request log in the settings', () => {
  const told = (variables: Record<string, string>): string[] =>
    readEnvironment(variables)
      .notes.filter(({ level }) => level === 'fatal')
      .map(({ message }) => message);

  it('is not kept unless a backend is named, in upper or lower case', () => {
    expect(readEnvironment({}).logStore).to.equal(undefined);
    expect(readEnvironment({ REQUEST_LOG_STORE_BACKEND: ' SQLite ' }).logStore).to.deep.include({
      backend: 'sqlite',
      dsn: undefined,
    });
    expect(
      readEnvironment({ REQUEST_LOG_STORE_BACKEND: 'postgresql', REQUEST_LOG_STORE_DSN: ' postgres://h/d ' }).logStore,
    ).to.deep.include({ backend: 'postgres', dsn: 'postgres://h/d' });
  });

  it('cannot be in memory, nor in Postgres without an address', () => {
    for (const word of ['memory', 'in-memory', 'mysql'])
      expect(told({ REQUEST_LOG_STORE_BACKEND: word }), word).to.deep.equal([
        `REQUEST_LOG_STORE_BACKEND is "${word}"; use one of: sqlite, postgres, postgresql`,
      ]);
    expect(told({ REQUEST_LOG_STORE_BACKEND: 'postgres' }))
      .to.have.length(1)
      .and.satisfy(([message]: string[]) => message!.startsWith('REQUEST_LOG_STORE_DSN is not set'));
    expect(
      readEnvironment({ REQUEST_LOG_STORE_DSN: 'x.db' })
        .notes.map(({ message }) => message)
        .join(),
    ).to.include('REQUEST_LOG_STORE_DSN has no effect');
  });

  for (const [text, days, rows] of [
    [undefined, undefined, undefined],
    ['', undefined, undefined],
    ['30d', 30, undefined],
    ['1000000r', undefined, 1_000_000],
    [' 30d , 5r ', 30, 5],
    ['5r,30d', 30, 5],
  ] as const) {
    it(`is bounded by REQUEST_LOG_RETENTION=${JSON.stringify(text)}`, () => {
      expect(readEnvironment({ REQUEST_LOG_RETENTION: text }).logRetention).to.deep.equal({ days, rows });
    });
  }

  it('leaves out the columns that REQUEST_LOG_OMIT names', () => {
    expect(readEnvironment({}).logOmit).to.deep.equal([]);
    expect(readEnvironment({ REQUEST_LOG_OMIT: ' User, address,,SESSION ,user' }).logOmit).to.deep.equal([
      'user_id',
      'address',
      'session_id',
    ]);
    expect(readEnvironment({ REQUEST_LOG_OMIT: 'metadata,user_agent' }).logOmit).to.have.length(2);
    for (const text of ['adress', 'constructor', 'user;address'])
      expect(notesOf({ REQUEST_LOG_OMIT: `user,${text}` }, 'fatal')).to.deep.equal([
        `REQUEST_LOG_OMIT has "${text}"; use address, user_agent, user, session, metadata, with commas between them`,
      ]);
  });

  it('stops the start with a retention that cannot be read', () => {
    for (const text of ['30', 'd', '0d', '-1d', '1.5d', '30D', '30d,30d', '30d 5r', '30h', '1e3r'])
      expect(told({ REQUEST_LOG_RETENTION: text }), text)
        .to.have.length(1)
        .and.satisfy(([message]: string[]) => message!.startsWith(`REQUEST_LOG_RETENTION is "${text}"`));
  });
});

describe('the directories of secrets', () => {
  const directories = (text: string): readonly string[] => readEnvironment({ GW_SECRET_DIRS: text }).secretDirectories;

  it('are absolute paths with colons between them', () => {
    expect(directories(' /run/secrets : /etc/gw/keys/ :')).to.deep.equal(['/run/secrets', '/etc/gw/keys']);
    expect(directories('/a//b/../c')).to.deep.equal(['/a/c']);
  });

  it('stop the start where one is relative, or everything', () => {
    for (const entry of ['/', '//', 'secrets', './secrets', '../run', '/run/..'])
      expect(notesOf({ GW_SECRET_DIRS: `/run/secrets:${entry}` }, 'fatal'), entry).to.deep.equal([
        `GW_SECRET_DIRS holds "${entry}"; write absolute paths other than /, with colons between them, for example /run/secrets:/etc/gw/secrets`,
      ]);
  });
});

describe('GW_GRACE_PERIOD', () => {
  const rules = (variables: Record<string, string>): (string | undefined)[] =>
    readEnvironment(variables).notes.flatMap(({ rule }) => (rule === 'WN71' ? [rule] : []));

  it('is warned of by WN71 where it is shorter than delay, timeout and 15 seconds, or cannot be read', () => {
    const times = { GW_DRAIN_DELAY: '5s', GW_SHUTDOWN_TIMEOUT: '10m' };
    expect(rules({ ...times, GW_GRACE_PERIOD: '619s' })).to.deep.equal(['WN71']);
    expect(rules({ ...times, GW_GRACE_PERIOD: '620s' })).to.deep.equal([]);
    expect(rules({ ...times, GW_GRACE_PERIOD: '10m21s' })).to.deep.equal([]);
    expect(rules({ GW_GRACE_PERIOD: '29s' })).to.deep.equal(['WN71']);
    expect(rules({ GW_GRACE_PERIOD: '30' })).to.deep.equal(['WN71']);
    expect(rules({ GW_GRACE_PERIOD: ' ' })).to.deep.equal([]);
  });
});
