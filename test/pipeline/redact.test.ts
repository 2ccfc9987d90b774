import { expect } from 'chai';
import { createLogger } from '../../host/log/logger.ts';
import { type Redactor } from '../../host/log/redact.ts';
import { shippedRedactor } from '../kit/redactor.ts';
import { cases, expectProportion, some } from '../kit/index.ts';

const shapes = shippedRedactor({});
const A20 = 'abcdefghij0123456789';
const HEX32 = '0123456789abcdef0123456789abcdef';
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----';

/** Name of the shape, a text that has it, the text without it. */
const SHAPES: readonly (readonly [string, string, string])[] = [
  ['URL userinfo', 'postgres://app:s3cr3t@db.internal/x', 'postgres://app:[REDACTED]@db.internal/x'],
  ['URL userinfo without a user', 'redis://:s3cr3t@cache:6379', 'redis://:[REDACTED]@cache:6379'],
  ['email', 'write to jane.doe+x@mail.example.co now', 'write to [REDACTED_EMAIL] now'],
  ['bearer', 'authorization: bEaReR abc.DEF-1_2~3+/== end', 'authorization: Bearer [REDACTED_BEARER_TOKEN] end'],
  ['jwt', 'got eyJhbGci.eyJzdWIi.c2ln_-x.', 'got [REDACTED_JWT].'],
  ['aws', 'id AKIAABCDEFGHIJKLMNOP!', 'id [REDACTED_AWS_KEY]!'],
  ['anthropic', `key sk-ant-api03-${A20}_-`, 'key [REDACTED_ANTHROPIC_KEY]'],
  [
    'openai modern',
    `sk-proj-${A20} sk-svcacct-${A20} sk-admin-${A20}`,
    '[REDACTED_OPENAI_KEY] [REDACTED_OPENAI_KEY] [REDACTED_OPENAI_KEY]',
  ],
  ['openai classic', `sk-${A20}`, '[REDACTED_OPENAI_KEY]'],
  ['qwen', 'sk-ws-A.bcdefghijklmn-_', '[REDACTED_QWEN_KEY]'],
  ['perplexity', `pplx-${A20}`, '[REDACTED_PERPLEXITY_KEY]'],
  ['gateway key', `gw_${HEX32} and gws_${HEX32}ff`, '[REDACTED_GW_KEY] and [REDACTED_GW_KEY]'],
  ['groq', `gsk_${A20}`, '[REDACTED_GROQ_KEY]'],
  ['google', `AIza${'x'.repeat(35)}`, '[REDACTED_GOOGLE_KEY]'],
  ...[
    'access_token',
    'api_key',
    'api-key',
    'apikey',
    'auth',
    'authorization',
    'token',
    'key',
    'secret',
    'password',
    'signature',
    'sig',
    'credential',
  ].flatMap((name) => [
    [`URL parameter ${name}`, `https://h/p?${name}=val&x=1`, `https://h/p?${name}=[REDACTED]&x=1`] as const,
    [
      `later URL parameter ${name.toUpperCase()}`,
      `https://h/p?x=1&${name.toUpperCase()}=val"`,
      `https://h/p?x=1&${name.toUpperCase()}=[REDACTED]"`,
    ] as const,
  ]),
  ['PEM', `a ${PEM} b`, 'a [REDACTED_PRIVATE_KEY] b'],
  ['PEM with escaped line ends', `a ${PEM.replaceAll('\n', '\\n')} b`, 'a [REDACTED_PRIVATE_KEY] b'],
  ...['api_key', 'api-key', 'apikey', 'access_token', 'auth_token', 'token', 'secret', 'password', 'PASSWORD'].flatMap(
    (word) => [
      [`keyword ${word}`, `${word}: ${A20}abcd end`, `${word}: [REDACTED_CREDENTIAL] end`] as const,
      [`quoted keyword ${word}`, `{"${word}" = '${A20}abcd'}`, `{"${word}" = '[REDACTED_CREDENTIAL]'}`] as const,
    ],
  ),
  ['keyword with 64 characters', `token=${'a'.repeat(64)}`, 'token=[REDACTED_CREDENTIAL]'],
];

describe('redaction of credential shapes', () => {
  for (const [name, text, expected] of SHAPES) {
    it(`hides: ${name}`, () => {
      expect(shapes.redact(text)).to.equal(expected);
      expect(shapes.redact(expected), 'again').to.equal(expected);
    });
  }

  for (const text of [
    'a plain sentence with nothing to hide',
    'used 1234 tokens: 12 in, 1222 out',
    'sk-proj-abc',
    'sk-short',
    'trace 0af7651916cd43dd8448eb211c80319c',
    'commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'gw_short',
    `token: ${'a'.repeat(23)}`,
    `token: ${'a'.repeat(65)}`,
    'https://h/p?model=x&limit=5',
    'user@localhost',
    'AKIA123',
    'eyJ.only.two',
    'http://host:8080/path',
    '',
  ]) {
    it(`leaves alone: ${JSON.stringify(text)}`, () => {
      expect(shapes.redact(text)).to.equal(text);
    });
  }

  it('never rewrites a marker', () => {
    for (const marker of ['[REDACTED:REDIS_DSN]', '[REDACTED_SECRET]', '[REDACTED_GW_KEY]']) {
      for (const text of [
        `redis://app:${marker}@cache`,
        `https://h/p?key=${marker}&x`,
        `Bearer ${marker}`,
        `token=${marker}`,
      ])
        expect(shapes.redact(text)).to.equal(text);
    }
  });

  it('takes nothing for a marker that only begins like one', () => {
    expect(shapes.redact('redis://app:[REDACTED]s3cr3t@cache')).to.equal('redis://app:[REDACTED]@cache');
    expect(shapes.redact('https://h/p?key=[REDACTED_SECRET]s3cr3t&x=1')).to.equal('https://h/p?key=[REDACTED]&x=1');
  });

  it('changes nothing the second time, whatever the first did', () => {
    const samples = SHAPES.map(([, text]) => text);
    const glue = ['', ' ', '=', '&', '?', '"', '\\', '@', ':', '/', '\n'];
    for (let index = 0; index < cases(3000); index += 1) {
      const text = [0, 1, 2]
        .map((turn) => `${samples[(index * 7 + turn * 13) % samples.length]}${glue[(index + turn * 5) % glue.length]}`)
        .join('');
      const once = shapes.redact(text);
      expect(shapes.redact(once)).to.equal(once);
    }
  });

  /** Texts that make a careless pattern start over at every character. */
  for (const [name, unit] of some([
    ['beginnings of a PEM block', '-----BEGIN PRIVATE KEY-----'],
    ['beginnings of a JWT', '-eyJ'],
    ['dotted beginnings of a JWT', 'eyJ.'],
    ['addresses without a domain', 'a.b@'],
    ['at signs', '@'],
    ['dots', 'a@b.'],
    ['schemes', 'a://'],
    ['userinfo', 'a://b:'],
    ['colons', 'a:'],
    ['keywords', 'token'],
    ['keywords and spaces', 'token  '],
    ['bearers', 'Bearer\t'],
    ['prefixes', 'sk-ant-'],
    ['hex', 'gw_0'],
    ['parameters', '?key'],
    ['Basic', 'Basic '],
    ['Basic and more', 'Basic a'],
    ['percent signs', '%'],
    ['percent-encoding', '%41'],
    ['percent-encoding of percent-encoding', '%2525'],
    ['half of it', '%25%2'],
  ] as const)) {
    it(`takes time in proportion to the text: ${name}`, () =>
      expectProportion(50_000, (length) => {
        const text = `${unit.repeat(Math.ceil(length / unit.length))} x`;
        return () => shapes.redact(text);
      }));
  }
});

describe('redaction of known values', () => {
  const SECRET = 'correct-horse-battery';

  for (const name of [
    'ACME_KEY',
    'KEYS',
    'MY_TOKEN_2',
    'A_SECRET',
    'PASSWORD',
    'PG_PASSWD',
    'X_CREDENTIAL',
    'X_CREDENTIALS',
    'PROXY_AUTHORIZATION',
    'acme_key',
  ]) {
    it(`hides the value of ${name}`, () => {
      expect(shippedRedactor({ [name]: SECRET }).redact(`<${SECRET}>`)).to.equal(`<[REDACTED:${name}]>`);
    });
  }

  for (const [name, value] of [
    ['MONKEY', SECRET],
    ['KEYBOARD', SECRET],
    ['ACME_BASE_URL', SECRET],
    ['TOKENS', SECRET],
    ['ACME_KEY', 'elevenchars'],
    ['ACME_KEY', 'with a space in it'],
    ['ACME_KEY', '${OTHER_VARIABLE}'],
  ] as const) {
    it(`leaves the value of ${name}=${value} alone`, () => {
      expect(shippedRedactor({ [name]: value }).redact(`<${value}>`)).to.equal(`<${value}>`);
    });
  }

  it('hides of a DSN the password alone', () => {
    const redactor = shippedRedactor({ STORE_DSN: 'postgres://app:very-long-password@db.internal:5432/gw' });
    expect(redactor.redact('failed: very-long-password at db.internal:5432/gw')).to.equal(
      'failed: [REDACTED:STORE_DSN] at db.internal:5432/gw',
    );
  });

  it('hides values registered at run time', () => {
    const redactor = shippedRedactor({});
    redactor.register('configured-header-value');
    redactor.register('short');
    expect(redactor.redact('configured-header-value short')).to.equal('[REDACTED_SECRET] short');
  });

  it('hides the longest of two values that overlap, and values with characters that patterns know', () => {
    const redactor = shippedRedactor({ A_KEY: 'abcdefghijkl', B_KEY: 'abcdefghijklmnop', C_KEY: 'a.b*c+(d)[e]$^' });
    expect(redactor.redact('abcdefghijklmnop abcdefghijkl a.b*c+(d)[e]$^ aXbXc')).to.equal(
      '[REDACTED:B_KEY] [REDACTED:A_KEY] [REDACTED:C_KEY] aXbXc',
    );
  });
});

describe('redaction of log lines', () => {
  const lineOf = (attributes: object, redactor: Redactor = shapes): string => {
    const lines: string[] = [];
    createLogger('info', { write: (line) => lines.push(line) }, redactor).info('a line', { ...attributes });
    return lines.join('');
  };

  for (const [name, secret] of [
    ['email', 'jane@example.com'],
    ['bearer', 'Bearer abcdef123456'],
    ['jwt', 'eyJhbGci.eyJzdWIi.c2ln'],
    ['key', `sk-${A20}`],
    ['PEM', PEM],
  ] as const) {
    it(`hides a secret at the start of a line of a text, and the line stays JSON: ${name}`, () => {
      for (const attributes of [{ note: `first\n${secret}\tend` }, { error: new Error(`first\n${secret}\tend`) }]) {
        const line = lineOf(attributes);
        expect(line).to.not.include(secret);
        expect(() => JSON.parse(line), line).to.not.throw();
      }
    });
  }

  it('stays JSON when two texts together look like one secret', () => {
    expect(() =>
      JSON.parse(lineOf({ one: '-----BEGIN PRIVATE KEY-----', two: '-----END PRIVATE KEY-----' })),
    ).to.not.throw();
  });

  it('hides a known value that JSON writes with escapes', () => {
    const value = 'quote"and\\slash';
    expect(lineOf({ note: value }, shippedRedactor({ ACME_KEY: value }))).to.include('[REDACTED:ACME_KEY]');
  });
});
