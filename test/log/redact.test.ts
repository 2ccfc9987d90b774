import { expect } from 'chai';
import { createRedactor } from '../../host/log/redact.ts';

const shapes = createRedactor({});
const hex = '0123456789abcdef0123456789abcdef';

describe('redaction by shape', () => {
  // Observability reference 4, in its order. Samples are made up.
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
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMII\nB\n-----END RSA PRIVATE KEY----- rest', '[REDACTED_PRIVATE_KEY] rest'],
    ['a named secret', `"api_key": "${'a1'.repeat(12)}"`, '"api_key": "[REDACTED_CREDENTIAL]"'],
    ['a named secret without quotes', `PASSWORD=${'a1'.repeat(32)};`, 'PASSWORD=[REDACTED_CREDENTIAL];'],
  ];
  for (const [what, text, clean] of cases) {
    it(`hides ${what}`, () => { expect(shapes.redact(text)).to.equal(clean); });
    it(`does not touch the marker of ${what} again`, () => { expect(shapes.redact(shapes.redact(text))).to.equal(clean); });
    it(`hides ${what} inside a JSON string, too`, () => {
      const line = shapes.redact(JSON.stringify({ text: `a\n${text}\nb` }));
      expect(() => JSON.parse(line) as unknown, line).not.to.throw();
      expect(JSON.parse(line)).to.deep.equal({ text: `a\n${clean}\nb` });
    });
  }

  for (const every of ['access_token', 'api_key', 'api-key', 'apikey', 'auth', 'authorization', 'token', 'key', 'secret', 'password', 'signature', 'sig', 'credential']) {
    it(`hides the query parameter ${every}`, () => { expect(shapes.redact(`/x?a=1&${every}=value`)).to.equal(`/x?a=1&${every}=[REDACTED]`); });
  }

  const clean = [
    'no configured provider serves the model "gpt-x"', 'the Authorization header is missing, or its scheme is not Bearer', 'connect ECONNREFUSED 127.0.0.1:80',
    'sk-short', 'gw_0123', `gw_${hex.toUpperCase()}`, 'AIzaShort', 'AKIAlower0123456789ab', 'eyJ.a.b', 'me@localhost', 'https://host/path?page=2&tokens=5', 'token: short',
    'tokens_in 5 tokens_out 7', `secret ${'a'.repeat(30)}`, `token=${'a'.repeat(65)}`, '@everyone', 'a@b', 'user:pass@host', 'task-abcdefghijklmnopq', '',
  ];
  for (const text of clean) it(`leaves "${text.slice(0, 40)}" alone`, () => { expect(shapes.redact(text)).to.equal(text); });

  it('takes linear time for long texts of every shape\'s characters', () => {
    const started = performance.now();
    for (const seed of ['a', 'a@', '-----BEGIN ', 'eyJ', 'x://', 'eyJ.', 'token=', 'Bearer ', 'sk-', '?key', 'a.b@', 'https://a:']) shapes.redact(`${seed.repeat(100_000 / seed.length)} secret @`);
    expect(performance.now() - started).to.be.below(3000);
  });
});

describe('redaction of known values', () => {
  it('names the variable, for every telling name', () => {
    for (const name of ['MASTER_KEY', 'API_KEYS', 'MY_TOKEN', 'TOKEN', 'CLIENT_SECRET', 'DB_PASSWORD', 'PASSWD', 'GOOGLE_CREDENTIAL', 'AWS_CREDENTIALS', 'X_AUTHORIZATION', 'key_x', 'A_KEY_B']) {
      expect(createRedactor({ [name]: 'value-of-12-or-more' }).redact('<value-of-12-or-more>'), name).to.equal(`<[REDACTED:${name}]>`);
    }
  });

  it('leaves other variables and short, spaced, referenced values alone', () => {
    const variables = {
      MONKEY: 'monkey-value-0123', KEYBOARD: 'keyboard-value-0123', TOKENIZER: 'tokenizer-value', PORT_KEY: 'short', SPACED_KEY: 'a value with blanks', REF_KEY: '${OTHER_VALUE_X}', EMPTY_KEY: '',
    };
    const text = Object.values(variables).join(' | ');
    expect(createRedactor(variables).redact(text)).to.equal(text);
  });

  it('hides of a DSN only its password', () => {
    const redactor = createRedactor({ API_KEY_STORE_DSN: 'postgres://gateway:a-long-password@db.internal:5432/keys', OTHER_DSN: '/data/keys-and-more.db' });
    expect(redactor.redact('password a-long-password of db.internal')).to.equal('password [REDACTED:API_KEY_STORE_DSN] of db.internal');
    expect(redactor.redact('/data/keys-and-more.db')).to.equal('/data/keys-and-more.db');
  });

  it('hides a password whole, also one that belongs to a DSN', () => {
    expect(createRedactor({ DB_DSN_PASSWORD: 'value-of-twelve' }).redact('value-of-twelve')).to.equal('[REDACTED:DB_DSN_PASSWORD]');
  });

  it('prefers the longest of values that contain each other', () => {
    const redactor = createRedactor({ A_KEY: 'value-of-twelve', B_KEY: 'value-of-twelve-and-more' });
    expect(redactor.redact('value-of-twelve-and-more value-of-twelve')).to.equal('[REDACTED:B_KEY] [REDACTED:A_KEY]');
  });

  it('takes values literally, and finds them escaped in JSON', () => {
    const redactor = createRedactor({ ODD_KEY: 'a.*(+"\\q]12345' });
    expect(redactor.redact('a.*(+"\\q]12345')).to.equal('[REDACTED:ODD_KEY]');
    expect(redactor.redact('axx(+"\\q]12345')).to.equal('axx(+"\\q]12345');
    expect(redactor.redact(JSON.stringify({ x: 'a.*(+"\\q]12345' }))).to.equal('{"x":"[REDACTED:ODD_KEY]"}');
  });

  it('hides values that are registered later', () => {
    const redactor = createRedactor({});
    expect(redactor.redact('configured-header-value')).to.equal('configured-header-value');
    redactor.register('configured-header-value');
    redactor.register('short');
    expect(redactor.redact('configured-header-value short')).to.equal('[REDACTED_SECRET] short');
  });

  it('does not touch its own markers', () => {
    const redactor = createRedactor({ MASTER_KEY: 'value-of-twelve' });
    const once = redactor.redact('key=value-of-twelve&token=value-of-twelve Bearer value-of-twelve');
    expect(redactor.redact(once)).to.equal(once);
    expect(once).not.to.include('value-of-twelve');
  });
});
