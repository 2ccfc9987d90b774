import { expect } from 'chai';
import { atOnce } from 'gw/contract';
import secretScan from '../../plugins/secret-scan/index.ts';
import { secretDetector } from '../../plugins/secret-scan/detector.ts';
import { expectProportion } from '../kit/index.ts';
import { cut, delivered, error, isTold, messageOfReply, PATH, scene, verdicts } from './guardrail-kit.ts';

const both = ['before_request', 'after_request'];
/** Put together here, so that no scanner takes this file for a leak. */
const key = (...parts: readonly string[]): string => parts.join('');
const GITHUB = key('gh', 'p_', 'a1B2c3D4e5'.repeat(4).slice(0, 36));
const PEM = [
  '-----BEGIN RSA ',
  'PRIVATE KEY-----\n',
  'MIIEowIBAAKCAQEA\nabcdEFGH0123\n',
  '-----END RSA ',
  'PRIVATE KEY-----',
].join('');
const detector = secretDetector(4);
const found = (text: string, entropy = 4): string[] =>
  atOnce(secretDetector(entropy).find(text)).map(({ start, end }) => text.slice(start, end));

describe('secret-scan', () => {
  it('has four settings, and refuses by default', () => {
    expect(secretScan.settings.validate({}).value).to.deep.equal({
      action: 'reject',
      entropy: 4,
      observe: false,
      stream: 'end',
    });
    expect(Object.keys(secretScan.settings.describe()['keys'] as object)).to.deep.equal([
      'action',
      'entropy',
      'observe',
      'stream',
    ]);
  });

  it('refuses, without a word of what it found', async () => {
    const run = await scene('secret-scan');
    expect(error(await run.chat(`use ${GITHUB} please`))).to.deep.equal([
      400,
      'request_rejected',
      'request rejected by secret-scan (before_request): a secret found',
    ]);
    expect([isTold(run, GITHUB), verdicts(run), run.upstream.seen.length]).to.deep.equal([
      false,
      [['before_request', 'rejected']],
      0,
    ]);
    expect((await run.host.post('/v1/embeddings', { model: 'm', input: GITHUB })).status).to.equal(400);
  });

  it('masks in every position, numbered, and refuses where it cannot', async () => {
    const run = await scene('secret-scan', {
      config: { action: 'mask' },
      stages: both,
      says: { content: [`${GITHUB} and ${PEM}`] },
    });
    const answer = await run.host.post(PATH, {
      model: 'm',
      messages: [
        { role: 'system', content: `${GITHUB} ${PEM} ${GITHUB}` },
        { role: 'user', content: JSON.stringify({ key: PEM }) },
      ],
    });
    expect(run.sent()).to.deep.equal([
      { role: 'system', content: '[SECRET_1] [SECRET_2] [SECRET_1]' },
      { role: 'user', content: '{"key":"[SECRET_2]"}' },
    ]);
    expect(messageOfReply(answer).content).to.equal('[SECRET_1] and [SECRET_2]');
    expect((await run.host.post('/v1/embeddings', { model: 'm', input: GITHUB })).status).to.equal(400);
  });

  for (const size of [1, 4, 31]) {
    it(`delivers no part of a secret in pieces of ${size}, masked or refused`, async () => {
      const text = `take this: ${GITHUB}, or this:\n${PEM}\nand go`;
      const masked = delivered(
        await (
          await scene('secret-scan', {
            config: { action: 'mask' },
            stages: ['after_request'],
            says: { content: cut(text, size), arguments: cut(JSON.stringify({ pem: PEM }), size) },
          })
        ).chat('x', { stream: true }),
      );
      expect([masked.content, masked.arguments, masked.last]).to.deep.equal([
        'take this: [SECRET_1], or this:\n[SECRET_2]\nand go',
        '{"pem":"[SECRET_2]"}',
        '[DONE]',
      ]);
      const refused = delivered(
        await (
          await scene('secret-scan', {
            config: { stream: 'window' },
            stages: ['after_request'],
            says: { content: cut(text, size) },
          })
        ).chat('x', { stream: true }),
      );
      expect('take this: '.startsWith(refused.content), refused.content).to.equal(true);
      expect(refused.last.error.message).to.equal('response rejected by secret-scan (after_request): a secret found');
    });
  }
});

describe('secret-scan, forms', () => {
  const letters = (count: number): string => 'aB3xY9kQ2mW7'.repeat(12).slice(0, count);
  const upper = 'ABCDEFGH234567XY';
  for (const [what, secret] of Object.entries({
    'an AWS key id': key('AK', 'IA', upper),
    'a temporary one': key('AS', 'IA', upper),
    'a GitHub token': GITHUB,
    'a fine-grained one': key('github_', 'pat_', letters(22), '_', letters(59)),
    'a Slack bot token': key('xo', 'xb-123456789012-1234567890123-', letters(24)),
    'a Slack webhook': key('hooks.slack', '.com/services/T0ABCDEFG/B0ABCDEFG/', letters(24)),
    'a Google key': key('AI', 'za', letters(35)),
    'a Stripe key': key('sk_', 'live_', letters(24)),
    'a restricted one': key('rk_', 'test_', letters(24)),
    'an OpenAI key': key('sk-', 'proj-', letters(48)),
    'an old one': key('sk-', letters(48)),
    'an Anthropic key': key('sk-', 'ant-api03-', letters(90)),
    'an AWS key of any digits': key('AK', 'IA1234567890ABCDEF'),
    'a key of this gateway': key('g', 'w_', '0123456789abcdef'.repeat(2)),
    'a session of this gateway': key('gw', 's_', '0123456789abcdef'.repeat(4)),
    'a Groq key': key('gs', 'k_', letters(52)),
    'a Perplexity key': key('pp', 'lx-', letters(48)),
    'an xAI key': key('xa', 'i-', letters(80)),
    'a Shopify token': key('shp', 'at_', '0123456789abcdef'.repeat(2)),
    'a Vault token': key('hv', 's.', letters(40)),
    'a web token': key('ey', 'JhbGciOiJIUzI1NiJ9.ey', 'JzdWIiOiIxMjM0In0.', letters(43)),
  })) {
    it(`of ${what}, whatever stands around it`, () => {
      for (const [before, after] of [
        ['', ''],
        ['key=', ';'],
        ['"', '"'],
        ['is ', '.'],
        ['Bearer ', '\n'],
        ['(', ')'],
      ]) {
        if (before !== 'key=') expect(found(`${before}${secret}${after}`, 0)).to.deep.equal([secret]);
        else expect(found(`${before}${secret}${after}`, 0)).to.have.length(1);
      }
    });
  }

  it('of private keys, also without their end and with escaped line ends', () => {
    for (const pem of [
      PEM,
      PEM.replaceAll('\n', '\\n'),
      PEM.replace('RSA ', '').replace('RSA ', ''),
      PEM.replaceAll('RSA', 'OPENSSH'),
      PEM.slice(0, 60),
    ])
      expect(found(`here: ${pem}`, 0)).to.deep.equal([pem]);
    expect(found('-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----', 0)).to.deep.equal([]);
  });

  it('of passwords in addresses, unless they stand for one', () => {
    const password = key('hunter', '2hunter');
    for (const address of [
      'postgres://app:*@db.example.com:5432/x',
      'mongodb+srv://bob:*@cluster0.example.net/x',
      'https://bob:*@example.com/',
      'redis://:*@10.0.0.1:6379',
      'http://a:*@[::1]/',
    ]) {
      for (const text of [address, `use ${address}, please`, JSON.stringify({ url: address })])
        expect(found(text.replace('*', password), 0), text).to.deep.equal([password]);
    }
    for (const each of [
      'password',
      'PASSWORD',
      'pass',
      'your-password',
      'changeme',
      '${DB_PASSWORD}',
      '$PASSWORD',
      '<password>',
      '********',
      'xxxxxx',
      '%PASS%',
      '[SECRET_1]',
    ])
      expect(found(`postgres://user:${each}@db/x`), each).to.deep.equal([]);
    for (const text of ['see https://example.com:8080/a@b', 'http://h/a:b@c', 'ftp://host:21/file', 'a://b:c@d'])
      expect(found(text), text).to.deep.equal([]);
  });

  it('of passwords in addresses, wherever a stream is cut', async () => {
    const { spanFilter } = await import('../../plugins/_common/masking.ts');
    const text = `go to postgres://app:${key('hunter', '2hunter')}@db.example.com:5432/x now`;
    for (let size = 1; size < 12; size += 1) {
      const filter = spanFilter(detector, () => '[S]');
      const out =
        cut(text, size)
          .map((piece) => filter(piece, false))
          .join('') + filter('', true);
      expect(out, String(size)).to.equal('go to postgres://app:[S]@db.example.com:5432/x now');
    }
  });

  for (const [vendor, token] of [
    ['Databricks', key('dapi', '0a1b2c3d'.repeat(4))],
    ['Docker', key('dckr_', 'pat_', 'aB3-'.repeat(7))],
    ['Notion', key('ntn_', '12345678901', 'aB3d'.repeat(9))],
    ['Supabase', key('sbp_', '0a1b2c3d'.repeat(5))],
    ['Twilio', key('S', 'K', '0a1b2c3d'.repeat(4))],
    ['Mailgun', key('key-', '0a1b2c3d'.repeat(4))],
    ['New Relic', key('NRAK-', 'ABC123XYZ'.repeat(3))],
    ['Postman', key('PMAK-', '0a1b2c3d'.repeat(3), '-', '0a1b2c3d'.repeat(4), '0a')],
    ['GitLab', key('glrt-', 'a_B3'.repeat(5))],
    ['Replicate', key('r8_', 'aB3dE6g'.repeat(6).slice(0, 37))],
    ['NVIDIA', key('nvapi-', 'aB3_'.repeat(16))],
    ['Fireworks', key('fw_', 'aB3d'.repeat(6))],
  ] as const) {
    it(`of ${vendor}`, () => {
      expect(found(`key: ${token}, ok`, 0)).to.deep.equal([token]);
    });
  }

  it('of forms whose signs are parted by what is not seen, or wide', () => {
    const parted = Array.from(GITHUB).join('\u200b');
    expect(found(`a ${parted}\u200b b`)).to.deep.equal([parted]);
    const wide = Array.from(GITHUB, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)).join('');
    expect(found(`a ${wide}, b`)).to.deep.equal([wide]);
    expect(found('👨‍👩‍👧 is a family\u00ad, ｗｉｄｅ')).to.deep.equal([]);
  });

  it('of random tokens by their entropy, unless it is off', () => {
    for (const token of [
      'wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXbMPLqKEY',
      'aB3dE5fG7hJ9kL1mN3pQ5',
      'Zk3xQ9vL2mN8pR4tW7yB',
      'abcdefghijklmnopqrstuvwxyzABCDEF0123456789',
    ]) {
      expect([found(`t ${token}.`), found(`t ${token}.`, 0), found(`t ${token}.`, 7)]).to.deep.equal([[token], [], []]);
    }
  });

  for (const text of [
    'Prose has words of twenty characters and more, such as internationalization.',
    '123e4567-e89b-12d3-a456-426614174000',
    '123E4567-E89B-12D3-A456-426614174000',
    'https://example.com/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit?x=Ab1Cd2Ef3Gh4Ij5Kl6Mn7',
    '12345678901234567890123456789012',
    'getUserAccountByIdentifier2FactoryBean',
    'src/components/UserProfile2/settingsPanel/index.ts',
    'MAX_RETRY_COUNT_2_BEFORE_FAILURE',
    'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'node_modules/@types/node/v20/fs/promises',
    'task-force-2024-q4-roadmap-review-final',
    'MAX_CONNECTIONS_PER_HOST_V2_Default',
    '/usr/local/lib/python3.11/site-packages/Foo_Bar2',
    'my-very-long-branch-name-JIRA-1234-fix',
    'sk-learn is a library',
    'the eyJ prefix',
    'AKIA is a prefix',
    'xoxb-token',
    'ghp_short',
  ])
    it(`of nothing: ${text}`, () => {
      expect(found(text)).to.deep.equal([]);
    });

  it('take time in proportion to the text, whatever it is', async () => {
    for (const unit of [
      '://a:',
      '://',
      'a://b:c@',
      '@',
      'a',
      'aB1',
      'eyJ-',
      'eyJa.',
      'SG.a',
      '-SG.',
      'sk-',
      'ghp_',
      '-----BEGIN ',
      '-----BEGIN PRIVATE KEY-----!',
      '-----BEGIN PRIVATE KEY-----\n',
      '-----END ',
      'AKIA',
      ' ',
      '://a',
      'a.b ',
      'xoxb-',
      '-',
      'gho_A-',
    ]) {
      await expectProportion(20_000, (size) => {
        const text = unit.repeat(Math.ceil(size / unit.length));
        return () => atOnce(detector.find(text)).length + detector.open(text);
      });
    }
  });
});
