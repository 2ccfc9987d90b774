import { expect } from 'chai';
import { shippedRedactor } from '../kit/redactor.ts';
import { expectProportion } from '../kit/index.ts';

const shapes = shippedRedactor({});
const hex = '0123456789abcdef0123456789abcdef';

describe('a credential with blanks around it', () => {
  it('is hidden as it is sent', () => {
    const redactor = shippedRedactor({ ACME_API_KEY: ' \tacme-credential-1\r\n' });
    expect(redactor.redact('sent acme-credential-1 on')).to.equal('sent [REDACTED:ACME_API_KEY] on');
  });
});

describe('redaction by shape', () => {
  // docs/reference/observability.md#redaction, in its order. Samples are made up.
  const cases: [what: string, text: string, clean: string][] = [
    ['a password in an address', 'postgres://me:hunter2@db/x', 'postgres://me:[REDACTED]@db/x'],
    ['an e-mail address', 'from a.b+c@mail.example.com.', 'from [REDACTED_EMAIL].'],
    ['a bearer', 'sent bearer abc.DEF_~+/-== on', 'sent Bearer [REDACTED_BEARER_TOKEN] on'],
    ['a JSON web token', 'x eyJhbGciOi.eyJzdWIi.c2ln_- y', 'x [REDACTED_JWT] y'],
    ['an AWS key', 'AKIA0123456789ABCDEF', '[REDACTED_AWS_KEY]'],
    ['an Anthropic key', 'sk-ant-api03-abc_DEF-0123456789', '[REDACTED_ANTHROPIC_KEY]'],
    ['a project key', 'sk-proj-abcdefghij0123456789', '[REDACTED_OPENAI_KEY]'],
    ['a service key', 'sk-svcacct-abcdefghij_123456789', '[REDACTED_OPENAI_KEY]'],
    ['an admin key', 'sk-admin-abcdefghij0123456789', '[REDACTED_OPENAI_KEY]'],
    ['a classic key', 'key sk-abcdefghij0123456789 here', 'key [REDACTED_OPENAI_KEY] here'],
    ['a Qwen key', 'sk-ws-a.b_c-d0123456789ab', '[REDACTED_QWEN_KEY]'],
    ['a Perplexity key', 'pplx-abcdefghij0123456789', '[REDACTED_PERPLEXITY_KEY]'],
    ['a gateway key', `gw_${hex}`, '[REDACTED_GW_KEY]'],
    ['a session token', `gws_${hex}${hex}`, '[REDACTED_GW_KEY]'],
    ['a Groq key', 'gsk_abcdefghij0123456789', '[REDACTED_GROQ_KEY]'],
    ['a Google key', `AIza${'a1_-b'.repeat(7)}`, '[REDACTED_GOOGLE_KEY]'],
    ['a key in a query', 'GET /x?api-key=abc&b=1&Signature=d"', 'GET /x?api-key=[REDACTED]&b=1&Signature=[REDACTED]"'],
    [
      'a private key',
      '-----BEGIN RSA PRIVATE KEY-----\nMII\nB\n-----END RSA PRIVATE KEY----- rest',
      '[REDACTED_PRIVATE_KEY] rest',
    ],
    ['a named secret', `"api_key": "${'a1'.repeat(12)}"`, '"api_key": "[REDACTED_CREDENTIAL]"'],
    ['a named secret without quotes', `PASSWORD=${'a1'.repeat(32)};`, 'PASSWORD=[REDACTED_CREDENTIAL];'],
  ];
  for (const [what, text, clean] of cases) {
    it(`hides ${what}`, () => {
      expect(shapes.redact(text)).to.equal(clean);
    });
    it(`does not touch the marker of ${what} again`, () => {
      expect(shapes.redact(shapes.redact(text))).to.equal(clean);
    });
    it(`hides ${what} inside a JSON string, too`, () => {
      const line = shapes.redact(JSON.stringify({ text: `a\n${text}\nb` }));
      expect(() => JSON.parse(line) as unknown, line).not.to.throw();
      expect(JSON.parse(line)).to.deep.equal({ text: `a\n${clean}\nb` });
    });
  }

  for (const every of [
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
  ]) {
    it(`hides the query parameter ${every}`, () => {
      expect(shapes.redact(`/x?a=1&${every}=value`)).to.equal(`/x?a=1&${every}=[REDACTED]`);
    });
  }

  for (const joint of [
    'token=',
    'token:',
    'TOKEN = ',
    'token\t:',
    '"token":"',
    "'token': '",
    '\\"token\\":\\"',
    'auth_token: ',
  ]) {
    it(`hides what follows ${JSON.stringify(joint)}`, () => {
      expect(shapes.redact(`x ${joint}${hex}`)).to.equal(`x ${joint}[REDACTED_CREDENTIAL]`);
    });
  }

  const clean = [
    'no configured provider serves the model "gpt-x"',
    'the Authorization header is missing, or its scheme is not Bearer',
    'connect ECONNREFUSED 127.0.0.1:80',
    'sk-short',
    'gw_0123',
    `gw_${hex.toUpperCase()}`,
    'AIzaShort',
    'AKIAlower0123456789ab',
    'eyJ.a.b',
    'me@localhost',
    'https://host/path?page=2&tokens=5',
    'token: short',
    'tokens_in 5 tokens_out 7',
    `secret ${'a'.repeat(30)}`,
    `token=${'a'.repeat(65)}`,
    '@everyone',
    'a@b',
    'user:pass@host',
    'task-abcdefghijklmnopq',
    '',
  ];
  for (const text of clean)
    it(`leaves "${text.slice(0, 40)}" alone`, () => {
      expect(shapes.redact(text)).to.equal(text);
    });
});

describe('redaction of known values', () => {
  it('names the variable, for every telling name', () => {
    for (const name of [
      'MASTER_KEY',
      'API_KEYS',
      'MY_TOKEN',
      'TOKEN',
      'CLIENT_SECRET',
      'DB_PASSWORD',
      'PASSWD',
      'GOOGLE_CREDENTIAL',
      'AWS_CREDENTIALS',
      'X_AUTHORIZATION',
      'key_x',
      'A_KEY_B',
      'MY-TOKEN',
      'my.api.key',
      'A KEY',
    ]) {
      expect(shippedRedactor({ [name]: 'value-of-12-or-more' }).redact('<value-of-12-or-more>'), name).to.equal(
        `<[REDACTED:${name}]>`,
      );
    }
  });

  it('leaves other variables and short, spaced, referenced values alone', () => {
    const variables = {
      MONKEY: 'monkey-value-0123',
      KEYBOARD: 'keyboard-value-0123',
      TOKENIZER: 'tokenizer-value',
      PORT_KEY: 'short',
      SPACED_KEY: 'a value with blanks',
      REF_KEY: '${OTHER_VALUE_X}',
      EMPTY_KEY: '',
    };
    const text = Object.values(variables).join(' | ');
    expect(shippedRedactor(variables).redact(text)).to.equal(text);
  });

  it('hides of a DSN only its password', () => {
    const redactor = shippedRedactor({
      API_KEY_STORE_DSN: 'postgres://gateway:a-long-password@db.internal:5432/keys',
      OTHER_DSN: '/data/keys-and-more.db',
    });
    expect(redactor.redact('password a-long-password of db.internal')).to.equal(
      'password [REDACTED:API_KEY_STORE_DSN] of db.internal',
    );
    expect(redactor.redact('/data/keys-and-more.db')).to.equal('/data/keys-and-more.db');
    expect(shippedRedactor({ 'log.dsn': '/data/logs-and-more.db' }).redact('/data/logs-and-more.db')).to.equal(
      '/data/logs-and-more.db',
    );
  });

  it('changes nothing the second time, whatever the name of the variable', () => {
    const redactor = shippedRedactor({ 'my-api.token': 'value-of-twelve' });
    for (const text of ['https://u:value-of-twelve@h/', 'https://h/?key=value-of-twelve&x=1'])
      expect(redactor.redact(redactor.redact(text))).to.equal(
        text.replace('value-of-twelve', '[REDACTED:my-api.token]'),
      );
  });

  it('hides a password whole, also one that belongs to a DSN', () => {
    expect(shippedRedactor({ DB_DSN_PASSWORD: 'value-of-twelve' }).redact('value-of-twelve')).to.equal(
      '[REDACTED:DB_DSN_PASSWORD]',
    );
  });

  it('prefers the longest of values that contain each other', () => {
    const redactor = shippedRedactor({ A_KEY: 'value-of-twelve', B_KEY: 'value-of-twelve-and-more' });
    expect(redactor.redact('value-of-twelve-and-more value-of-twelve')).to.equal('[REDACTED:B_KEY] [REDACTED:A_KEY]');
  });

  it('hides values of any length, and others beside them, as they are and percent-encoded', () => {
    for (const length of [1000, 4000, 20_000, 200_000]) {
      const long = Array.from(
        { length },
        (_, at) => 'abcdefghijklmnopqrstuvwxyz0123456789+/='[(at * at + at * 7) % 39],
      ).join('');
      const redactor = shippedRedactor({ LONG_TOKEN: long, SHORT_KEY: 'short-secret-value' });
      expect(redactor.redact(`a ${long} b short-secret-value c`)).to.equal(
        'a [REDACTED:LONG_TOKEN] b [REDACTED:SHORT_KEY] c',
      );
      expect(redactor.redact(`a ${encodeURIComponent(long)} b %73hort-secret%2dvalue c`)).to.equal(
        'a [REDACTED:LONG_TOKEN] b [REDACTED:SHORT_KEY] c',
      );
    }
  });

  it('hides values with percent signs of their own, as they are and encoded once or twice', () => {
    const value = 'p%40ss%2wörd%25-x';
    const redactor = shippedRedactor({ ODD_SECRET: value });
    const once = encodeURIComponent(value);
    for (const text of [value, once, encodeURIComponent(once)])
      expect(redactor.redact(`ä/${text} %zz`), text).to.equal('ä/[REDACTED:ODD_SECRET] %zz');
  });

  it('takes values literally, and finds them escaped in JSON', () => {
    const redactor = shippedRedactor({ ODD_KEY: 'a.*(+"\\q]12345' });
    expect(redactor.redact('a.*(+"\\q]12345')).to.equal('[REDACTED:ODD_KEY]');
    expect(redactor.redact('axx(+"\\q]12345')).to.equal('axx(+"\\q]12345');
    expect(redactor.redact(JSON.stringify({ x: 'a.*(+"\\q]12345' }))).to.equal('{"x":"[REDACTED:ODD_KEY]"}');
  });

  it('finds values as other writers of JSON escape them, and leaves JSON behind', () => {
    const redactor = shippedRedactor({ AZURE_KEY: '/abc+DEF/ghi=123==' });
    for (const text of [
      '\\/abc+DEF\\/ghi=123==',
      '/abc\\u002BDEF/ghi\\u003D123\\u003d=',
      '\\/abc\\u002bDEF\\/ghi%3D123%3D%3D',
    ]) {
      expect(redactor.redact(`{"k":"C:\\\\users \\/${text}\\"","v":"\\u00e9\\n"}`), text).to.equal(
        '{"k":"C:\\\\users \\/[REDACTED:AZURE_KEY]\\"","v":"\\u00e9\\n"}',
      );
    }
  });

  it('hides the token of a registered bearer, wherever it stands, and no word of a sentence', () => {
    const redactor = shippedRedactor({});
    redactor.register('Bearer token-of-some-length');
    redactor.register('an internationalized sentence');
    expect(redactor.redact('a token-of-some-length b')).to.equal('a [REDACTED_SECRET] b');
    expect(redactor.redact('internationalized')).to.equal('internationalized');
  });

  it('hides values that are registered later', () => {
    const redactor = shippedRedactor({});
    expect(redactor.redact('configured-header-value')).to.equal('configured-header-value');
    redactor.register('configured-header-value');
    redactor.register('short');
    expect(redactor.redact('configured-header-value short')).to.equal('[REDACTED_SECRET] short');
  });

  it('does not touch its own markers', () => {
    const redactor = shippedRedactor({ MASTER_KEY: 'value-of-twelve' });
    const once = redactor.redact('key=value-of-twelve&token=value-of-twelve Bearer value-of-twelve');
    expect(redactor.redact(once)).to.equal(once);
    expect(once).not.to.include('value-of-twelve');
  });
});

describe('an excerpt', () => {
  it('is cut to code points and an ellipsis', () => {
    for (const unit of ['x', '\ud83d\ude00']) {
      expect(shapes.excerpt(unit.repeat(2048))).to.equal(unit.repeat(2048));
      expect(shapes.excerpt(unit.repeat(2049))).to.equal(`${unit.repeat(2048)}\u2026`);
      expect(shapes.excerpt(unit.repeat(1_000_000))).to.equal(`${unit.repeat(2048)}\u2026`);
      expect(shapes.excerpt(unit.repeat(11), 10)).to.equal(`${unit.repeat(10)}\u2026`);
    }
  });

  it('holds no piece of a credential that stands where it is cut, or where the text is looked at no more', () => {
    const secret = 'Zq7-Tt4_Lm9.Xw2~Kp5';
    const redactor = shippedRedactor({ A_KEY: secret });
    const tail = 'y'.repeat(200_000);
    for (const filler of ['x', 'x ', `${secret} `]) {
      for (const length of [2048, 36_864, 36_864 - 16_384, 69_632]) {
        for (let shift = -2; shift <= secret.length + 2; shift += 1) {
          const room = length - shift;
          const before = filler.repeat(Math.floor(room / filler.length)) + 'x'.repeat(room % filler.length);
          const shown = redactor.excerpt(before + secret + tail);
          for (let at = 0; at + 6 <= secret.length; at += 1)
            expect(shown.includes(secret.slice(at, at + 6)), `${length} ${shift} ${shown.slice(-80)}`).to.equal(false);
        }
      }
    }
  });
});

describe('redaction of encoded values', () => {
  // Made up, with every character that some encoding changes.
  const secret = 'Zq7/Tt4+Lm9=Xw2~Kp5%Vé';
  const redactor = shippedRedactor({ A_KEY: secret, B_KEY: 'another-value-of-some-length' });
  const bytes = (text: string): Buffer => Buffer.from(text);

  it('hides them in base64 and base64url, at every place in a longer text', () => {
    for (const encoding of ['base64', 'base64url'] as const) {
      for (const before of ['', 'a', 'ab', 'abc', 'user:', 'api-key:', 'é:']) {
        for (const after of ['', 'z', 'zz', 'zzz', ':', '\n']) {
          const shown = redactor.redact(`<${bytes(before + secret + after).toString(encoding)}>`);
          expect(shown, `${encoding} ${before} ${after}`).to.include('[REDACTED:A_KEY]');
          // What is left is what stood around it, and no more than that.
          expect(shown.length - '<[REDACTED:A_KEY]>'.length).to.be.at.most(
            4 * Math.ceil((before.length + after.length + 2) / 3) + 2,
          );
        }
      }
    }
  });

  it('hides them in hex, whatever the case, alone and inside more', () => {
    for (const text of [secret, `user:${secret}`, `${secret}\n`]) {
      const hex = bytes(text).toString('hex');
      for (const form of [hex, hex.toUpperCase()])
        expect(redactor.redact(`0x${form}!`))
          .to.include('[REDACTED:A_KEY]')
          .and.not.match(/5a71372f/i);
    }
  });

  it('hides them percent-encoded, in part or throughout, and base64 that is percent-encoded', () => {
    const throughout = Array.from(bytes(secret), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    const base64 = bytes(`user:${secret}`).toString('base64');
    for (const text of [
      encodeURIComponent(secret),
      encodeURI(secret),
      throughout,
      throughout.toUpperCase(),
      encodeURIComponent(base64),
      `%5A${secret.slice(1)}`,
    ]) {
      expect(redactor.redact(`/x/${text}/y?z=%41`), text).to.match(/^\/x\/[\w%]*\[REDACTED:A_KEY\][\w%]*\/y\?z=%41$/);
    }
  });

  it('hides the password of an address in any variable, and the Basic header that is made of it', () => {
    const of = shippedRedactor({
      OPENAI_BASE_URL: 'https://me:p%40ss-word-of-mine@host/v1',
      HTTPS_PROXY: 'http://proxy:1234@p',
    });
    expect(of.redact('p@ss-word-of-mine p%40ss-word-of-mine')).to.equal(
      '[REDACTED:OPENAI_BASE_URL] [REDACTED:OPENAI_BASE_URL]',
    );
    expect(of.redact(`Authorization: Basic ${bytes('me:p@ss-word-of-mine').toString('base64')}`)).not.to.include(
      bytes('ss-word-of-').toString('base64').slice(2, -2),
    );
  });

  it('hides what follows Basic when it is a user and a password, and leaves words alone', () => {
    expect(
      redactor.redact(`authorization: basic ${bytes('me:pw').toString('base64')}, basic bWU6cMOkc3N3b3Jk`),
    ).to.equal('authorization: Basic [REDACTED_BASIC_CREDENTIAL], Basic [REDACTED_BASIC_CREDENTIAL]');
    for (const words of [
      'Basic authentication is required',
      'basic information about models',
      'Basic AAAAAAAAAAAA',
      'Basic realm="x"',
    ])
      expect(redactor.redact(words)).to.equal(words);
  });

  it('changes nothing the second time', () => {
    const text = [
      secret,
      bytes(secret).toString('base64'),
      bytes(`u:${secret}`).toString('hex'),
      encodeURIComponent(secret),
      `Basic ${bytes(`u:${secret}`).toString('base64')}`,
    ].join(' ');
    const once = redactor.redact(text);
    expect(redactor.redact(once)).to.equal(once);
  });

  it('takes time in proportion to a text that is full of values, of their beginnings and of their encodings', async () => {
    const many = shippedRedactor(
      Object.fromEntries(
        Array.from({ length: 40 }, (_, index) => [`KEY_${index}`, `sk-proj-value-${index}-of-some-length`]),
      ),
    );
    for (const unit of [
      'sk-proj-value-1',
      'sk-proj-value-1-of-some-length ',
      `${bytes('sk-proj-value-2').toString('base64')} `,
      encodeURIComponent('sk-proj-value-3%-of-some'),
      '%73k-proj-value-4-of-some-length',
    ]) {
      await expectProportion(20_000, (count) => {
        const text = unit.repeat(Math.ceil(count / unit.length));
        return () => many.redact(text);
      });
    }
  });

  it('finds a value wherever it stands among others', () => {
    const secrets = Array.from({ length: 60 }, (_, index) => `value-${index}-${'abcdefghijklmnop'.slice(index % 9)}`);
    const many = shippedRedactor(Object.fromEntries(secrets.map((value, index) => [`KEY_${index}`, value])));
    for (const [index, value] of secrets.entries()) {
      for (let before = 0; before < 20; before += 1)
        expect(many.redact(`${'.'.repeat(before)}${value}!`)).to.equal(`${'.'.repeat(before)}[REDACTED:KEY_${index}]!`);
    }
  });
});
