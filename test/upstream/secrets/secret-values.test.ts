import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRedactor, type Redactor } from '../../../host/log/redact.ts';
import { parseReference, type SecretReference } from '../../../host/config/references.ts';
import { type Resolution, type SecretFault, SecretValues } from '../../../host/upstream/secrets/secret-values.ts';
import { atEnd, type FakeClock, fakeClock, temporaryFolder } from '../../kit/index.ts';

const HOLDER = { provider: 'openai', credential: 'team-a' };

interface Bench {
  readonly folder: string;
  readonly clock: FakeClock;
  readonly redactor: Redactor;
  readonly lines: object[];
  readonly secrets: SecretValues;
  readonly path: (name: string) => string;
  readonly write: (name: string, content: string | Uint8Array) => Promise<void>;
  readonly read: (name: string) => Promise<Resolution>;
}

async function bench(variables: Record<string, string> = {}): Promise<Bench> {
  const folder = await temporaryFolder();
  const clock = fakeClock();
  const redactor = createRedactor({});
  const lines: object[] = [];
  const secrets = new SecretValues({
    clock,
    variables,
    directories: [folder],
    redactor,
    log: { warn: (message, attributes) => lines.push({ message, ...attributes }) },
  });
  atEnd(() => secrets.close());
  const path = (name: string): string => join(folder, name);
  return {
    folder,
    clock,
    redactor,
    lines,
    secrets,
    path,
    write: async (name, content) => {
      await writeFile(path(`.${name}`), content, { mode: 0o600 });
      await rename(path(`.${name}`), path(name));
    },
    read: (name) => secrets.resolve({ kind: 'file', path: path(name) }, 'header'),
  };
}

const variable = (name: string): SecretReference => parseReference(`\${${name}}`)!;

describe('the value of a variable', () => {
  const VALUES: Readonly<Record<string, readonly [text: string, expected: Resolution]>> = {
    'a key': ['sk-1', { value: 'sk-1' }],
    'a blank inside': ['a b', { value: 'a b' }],
    nothing: ['', { reason: 'empty' }],
    blanks: [' \t', { reason: 'empty' }],
    'a line break at its end': ['sk-1\n', { reason: 'not text' }],
    'a line break inside': ['sk\r\nx: 1', { reason: 'not text' }],
    'a blank at its end': ['sk-1 ', { reason: 'not text' }],
    'a letter beyond ASCII': ['sk-é', { reason: 'not text' }],
    'a delete character': ['sk\x7f', { reason: 'not text' }],
  };
  for (const [what, [text, expected]] of Object.entries(VALUES)) {
    it(`with ${what} is ${JSON.stringify(expected)} in a header`, async () => {
      const { secrets } = await bench({ X: text });
      expect(await secrets.resolve(variable('X'), 'header')).to.deep.equal(expected);
    });
  }

  it('is not set, whatever every object inherits', async () => {
    const { secrets } = await bench();
    for (const name of ['X', 'constructor', '__proto__'])
      expect(await secrets.resolve(variable(name), 'header')).to.deep.equal({ reason: 'not set' });
  });

  it('is hidden from then on', async () => {
    const { secrets, redactor } = await bench({ X: 'plain-words-no-shape' });
    expect(redactor.redact('plain-words-no-shape')).to.contain('plain');
    await secrets.resolve(variable('X'), 'header');
    expect(redactor.redact('it was plain-words-no-shape here')).to.equal('it was [REDACTED_SECRET] here');
  });

  it('may have lines where it is not sent as it is, and each of its secret parts is hidden', async () => {
    const key = `-----BEGIN THING-----\n${'q'.repeat(40)}\n${'r'.repeat(40)}\n-----END THING-----\n`;
    const document = JSON.stringify({ private_key: key, token_uri: 'https://oauth2.example.com/token' }, null, 2);
    const { secrets, redactor } = await bench({ JSON: document, PEM: key });
    expect(await secrets.resolve(variable('JSON'), 'text')).to.deep.equal({ value: document });
    expect(redactor.redact(`${'r'.repeat(40)} https://oauth2.example.com/token`)).to.equal(
      '[REDACTED_SECRET] https://oauth2.example.com/token',
    );
    expect(await secrets.resolve(variable('PEM'), 'header')).to.deep.equal({ reason: 'not text' });
  });
});

describe('the file of a secret', () => {
  it('is read without a byte order mark and line ends', async () => {
    const { read, write } = await bench();
    for (const text of ['sk-1', 'sk-1\n', 'sk-1\r\n\r\n', '\ufeffsk-1\n']) {
      await write('a', text);
      expect(await read('a'), JSON.stringify(text)).to.deep.equal({ value: 'sk-1' });
    }
  });

  it('gives the reason why it has no value', async () => {
    const { read, write, path } = await bench();
    const contents: [string | Uint8Array, SecretFault][] = [
      ['', 'empty'],
      ['\ufeff\r\n', 'empty'],
      [new Uint8Array([0x61, 0xff]), 'not text'],
      ['a\0b', 'not text'],
      ['sk-1 \n', 'not text'],
      ['sk-é', 'not text'],
      ['two\nlines', 'not text'],
      ['x'.repeat(64 * 1024 + 1), 'too large'],
    ];
    for (const [content, reason] of contents) {
      await write('a', content);
      expect(await read('a'), reason).to.deep.equal({ reason });
    }
    await write('a', 'x'.repeat(64 * 1024));
    expect(await read('a')).to.have.property('value');
    expect(await read('b')).to.deep.equal({ reason: 'no such file' });
    await mkdir(path('folder'));
    expect(await read('folder')).to.deep.equal({ reason: 'not a regular file' });
    execFileSync('mkfifo', [path('fifo')]);
    expect(await read('fifo')).to.deep.equal({ reason: 'not a regular file' });
    expect(await read('a/b')).to.deep.equal({ reason: 'no such file' });
  });

  it('is not read where links lead out of its directory, or to an identity of the platform', async () => {
    const { read, write, path, folder } = await bench();
    const outside = await temporaryFolder();
    await writeFile(join(outside, 'x'), 'sk-outside');
    await symlink(join(outside, 'x'), path('link'));
    await symlink(outside, path('folder'));
    for (const place of ['kubernetes.io', 'eks.amazonaws.com', 'azure/tokens']) {
      await mkdir(path(`${place}/serviceaccount`), { recursive: true });
      await writeFile(path(`${place}/serviceaccount/token`), 'sk-identity');
      expect(await read(`${place}/serviceaccount/token`), place).to.deep.equal({
        reason: 'outside the secret directories',
      });
    }
    await symlink(path('kubernetes.io/serviceaccount/token'), path('hidden'));
    await symlink(`${folder}x`, path('sibling'));
    await mkdir(`${folder}x`);
    atEnd(() => rm(`${folder}x`, { recursive: true }));
    await writeFile(`${folder}x/y`, 'sk-sibling');
    for (const name of ['link', 'folder/x', 'hidden', 'sibling/y'])
      expect(await read(name), name).to.deep.equal({ reason: 'outside the secret directories' });
    await write('real', 'sk-1');
    await symlink('real', path('inside'));
    expect(await read('inside')).to.deep.equal({ value: 'sk-1' });
    await symlink('loop', path('loop'));
    expect(await read('loop')).to.deep.equal({ reason: 'not readable' });
  });

  it('is read where its directory stands behind a link', async () => {
    const { folder, redactor, clock } = await bench();
    const link = join(await temporaryFolder(), 'secrets');
    await symlink(folder, link);
    await writeFile(join(folder, 'a'), 'sk-1');
    const secrets = new SecretValues({ clock, variables: {}, directories: [link], redactor, log: { warn: () => {} } });
    expect(await secrets.resolve({ kind: 'file', path: join(link, 'a') }, 'header')).to.deep.equal({ value: 'sk-1' });
  });

  it('is not readable without the right to', async function () {
    if (process.getuid?.() === 0) this.skip(); // root may read everything
    const { read, write, path } = await bench();
    await write('a', 'sk-1');
    await chmod(path('a'), 0);
    expect(await read('a')).to.deep.equal({ reason: 'not readable' });
  });
});

describe('a file of a secret that changes', () => {
  async function held(b: Bench, name = 'a') {
    const values: string[] = [];
    const failures: SecretFault[] = [];
    const lease = await b.secrets.lease(
      { kind: 'file', path: b.path(name) },
      {
        form: 'header',
        holder: HOLDER,
        onValue: (value) => values.push(value),
        onFailure: (reason) => failures.push(reason),
      },
    );
    return { lease, values, failures };
  }

  it('has its new value within one look', async () => {
    const b = await bench();
    await b.write('a', 'sk-old-value-1');
    const { lease, values } = await held(b);
    expect(lease.current).to.deep.equal({ value: 'sk-old-value-1' });
    await b.write('a', 'sk-new-value-2');
    expect(b.clock.next).to.equal(30_000);
    await b.secrets.files.look();
    expect(values).to.deep.equal(['sk-new-value-2']);
    expect(lease.current).to.deep.equal({ value: 'sk-new-value-2' });
    expect(b.redactor.redact('sk-old-value-1 sk-new-value-2')).to.equal('[REDACTED_SECRET] [REDACTED_SECRET]');
    await b.write('a', 'sk-new-value-2');
    await b.secrets.files.look();
    expect(values).to.have.length(1);
    expect(b.lines).to.deep.equal([]);
  });

  it('keeps its last value where it cannot be read, and logs each reason once until it can', async () => {
    const b = await bench();
    await b.write('a', 'sk-1');
    const { lease, values, failures } = await held(b);
    await rm(b.path('a'));
    await b.secrets.files.look();
    await b.secrets.files.look();
    await b.write('a', '');
    await b.secrets.files.look();
    await rm(b.path('a'));
    await b.secrets.files.look();
    expect(lease.current).to.deep.equal({ value: 'sk-1' });
    const line = { message: 'credential refresh failed', rule: 'WN18', ...HOLDER, reference: b.path('a') };
    expect(b.lines).to.deep.equal([
      { ...line, reason: 'no such file' },
      { ...line, reason: 'empty' },
    ]);
    expect(failures).to.deep.equal(['no such file', 'empty']);
    await b.write('a', 'sk-1');
    await b.secrets.files.look();
    expect(values).to.deep.equal([]);
    await rm(b.path('a'));
    await b.secrets.files.look();
    expect(b.lines).to.have.length(3);
  });

  it('is warned of once where every user may read it', async () => {
    const b = await bench();
    await b.write('a', 'sk-1');
    await chmod(b.path('a'), 0o644);
    await b.write('b', 'sk-2');
    for (const name of ['a', 'a', 'b', 'missing']) await held(b, name);
    expect(b.lines).to.deep.equal([
      {
        message: 'a file of a secret can be read by every user of this machine',
        rule: 'WN22',
        ...HOLDER,
        reference: b.path('a'),
      },
    ]);
  });

  it('that was missing has a value once it appears', async () => {
    const b = await bench();
    const { lease, values } = await held(b);
    expect(lease.current).to.deep.equal({ reason: 'no such file' });
    await b.secrets.files.look();
    await b.write('a', 'sk-1');
    await b.secrets.files.look();
    expect([values, b.lines, lease.current]).to.deep.equal([['sk-1'], [], { value: 'sk-1' }]);
  });

  it('is looked at for all who use it, by one timer, until the last of them has ended', async () => {
    const b = await bench();
    await b.write('a', 'sk-1');
    expect(b.clock.waiting).to.equal(0);
    const uses = await Promise.all([held(b), held(b), held(b)]);
    expect([b.secrets.files.size, b.clock.waiting]).to.deep.equal([1, 1]);
    uses[0].lease.end();
    await b.write('a', 'sk-2');
    await b.secrets.files.look();
    expect(uses.map(({ values }) => values)).to.deep.equal([[], ['sk-2'], ['sk-2']]);
    for (const { lease } of uses) lease.end();
    expect([b.secrets.files.size, b.clock.waiting]).to.deep.equal([0, 0]);
  });
});
