import { expect } from 'chai';
import { parseHeaderReference, parseReference, resolveReferences } from '../../host/config/references.ts';
import { isReference } from '../../host/config/scrub-text.ts';
import { secretPathFault } from '../../host/config/secrets/secret-paths.ts';

const ENVIRONMENT = { TOKEN: 'secret', _a1: 'x', EMPTY: '', NESTED: '${TOKEN}', DOLLARS: "$& $1 $$ $` $'", lower: 'l' };
const resolve = (value: unknown): { value: any; undefinedNames: readonly string[] } =>
  resolveReferences(value, ENVIRONMENT, () => {});

describe('a ${VAR} reference', () => {
  const REPLACED: Readonly<Record<string, string>> = {
    '${TOKEN}': 'secret',
    'Bearer ${TOKEN}': 'Bearer secret',
    '${TOKEN}/${TOKEN}${_a1}': 'secret/secretx',
    '${lower}': 'l',
    '$${TOKEN}': '$secret',
    '${${TOKEN}}': '${secret}',
  };
  for (const [text, expected] of Object.entries(REPLACED)) {
    it(`${text} becomes ${expected}`, () => {
      expect(resolve(text)).to.deep.equal({ value: expected, undefinedNames: [] });
    });
  }

  for (const text of [
    '$TOKEN',
    '$1',
    '$$',
    '$5',
    'pa$$w0rd',
    'cash$',
    '${}',
    '${1A}',
    '${A-B}',
    '${TOKEN:-x}',
    '${TOKEN',
    '$ {TOKEN}',
    '${ TOKEN }',
    '${TÖKEN}',
    '%TOKEN%',
    '{TOKEN}',
  ]) {
    it(`is not ${text}, which stays as it is`, () => {
      expect(resolve(text)).to.deep.equal({ value: text, undefinedNames: [] });
    });
  }

  it('gives away what took its place, and nothing else', () => {
    const hidden: string[] = [];
    resolveReferences(
      { a: 'Bearer ${TOKEN}', b: ['${_a1}', '${NESTED}', 'plain', '$DOLLARS'], '${lower}': 1, c: '${MISSING}' },
      ENVIRONMENT,
      (secret) => hidden.push(secret),
    );
    expect(hidden).to.deep.equal(['secret', 'x', '${TOKEN}']);
  });

  it('is replaced in one pass: what came in is not expanded again', () => {
    expect(resolve('${NESTED}').value).to.equal('${TOKEN}');
  });

  it('takes the value byte for byte, patterns of String.replace included', () => {
    expect(resolve('<${DOLLARS}>').value).to.equal("<$& $1 $$ $` $'>");
  });

  it('to a variable that is defined but empty becomes empty', () => {
    expect(resolve('a${EMPTY}b')).to.deep.equal({ value: 'ab', undefinedNames: [] });
  });

  it('to undefined variables is named, each once and sorted, and never blank', () => {
    const { value, undefinedNames } = resolve({ a: '${ZULU} ${ALPHA}', b: ['${ZULU}'] });
    expect(undefinedNames).to.deep.equal(['ALPHA', 'ZULU']);
    expect(value).to.deep.equal({ a: '${ZULU} ${ALPHA}', b: ['${ZULU}'] });
  });

  it('is never answered by what every object inherits', () => {
    expect(resolve('${constructor} ${toString} ${__proto__}').undefinedNames).to.deep.equal([
      '__proto__',
      'constructor',
      'toString',
    ]);
  });

  it('counts at any depth of maps and lists, in values and not in keys', () => {
    expect(resolve({ '${TOKEN}': [{ a: '${TOKEN}' }, ['${TOKEN}']] }).value).to.deep.equal({
      '${TOKEN}': [{ a: 'secret' }, ['secret']],
    });
  });

  it('leaves numbers, booleans and null alone', () => {
    expect(resolve({ a: 1, b: true, c: null, d: 1.5 }).value).to.deep.equal({ a: 1, b: true, c: null, d: 1.5 });
  });

  it('is resolved in a copy', () => {
    const settings = Object.freeze({ list: Object.freeze(['${TOKEN}']) });
    const { value } = resolve(settings);
    expect(settings).to.deep.equal({ list: ['${TOKEN}'] });
    expect(value).to.deep.equal({ list: ['secret'] });
  });
});

describe('the reference of a secret', () => {
  it('is one variable or one file', () => {
    expect(parseReference('${TOKEN}')).to.deep.equal({ kind: 'variable', name: 'TOKEN' });
    expect(parseReference('${file:/run/secrets/a b$:é}')).to.deep.equal({ kind: 'file', path: '/run/secrets/a b$:é' });
    expect(parseReference('${file}')).to.deep.equal({ kind: 'variable', name: 'file' });
  });

  for (const text of [
    '',
    'a${X}',
    '${X}a',
    ' ${X}',
    '${X} ',
    '${X}\n',
    '${X}${Y}',
    '${X:-y}',
    '$X',
    '${}',
    '${FILE:/run/secrets/x}',
    '${File:/run/secrets/x}',
    '${ file:/run/secrets/x}',
    '${file:/run/secrets/x}\n',
    '${file:/run/secrets/${X}}',
    '${file:/a}${file:/b}',
    '${file:/run/secrets/x\0}',
    'file:/run/secrets/x',
    '$${X}',
  ]) {
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(parseReference(text)).to.equal(undefined);
      expect(isReference(text)).to.equal(false);
    });
  }

  it('may stand behind a scheme word in a header', () => {
    const reference = { kind: 'variable', name: 'X' };
    expect(parseHeaderReference('${X}')).to.deep.equal({ scheme: undefined, reference });
    expect(parseHeaderReference('Bearer ${X}')).to.deep.equal({ scheme: 'Bearer', reference });
    expect(parseHeaderReference('Api-Key ${file:/run/secrets/x}')).to.deep.equal({
      scheme: 'Api-Key',
      reference: { kind: 'file', path: '/run/secrets/x' },
    });
    for (const text of [
      'Bearer',
      'Bearer  ${X}',
      'Bearer x ${X}',
      'sk-123 ${X}',
      'Bearer ${X} ',
      `${'a'.repeat(21)} \${X}`,
    ])
      expect(parseHeaderReference(text), text).to.equal(undefined);
  });

  it('is shown as it is, unless its path says nothing of where', () => {
    expect(['${X}', '${file:/run/secrets/x}', '${file:sk-live-1}'].map(isReference)).to.deep.equal([true, true, false]);
  });

  it('names a file below one of the directories of secrets, without a way out of them', () => {
    const directories = ['/run/secrets', '/etc/gw'];
    for (const path of ['/run/secrets/x', '/run/secrets/a/b.c', '/etc/gw/..x', '/run/secrets//x'])
      expect(secretPathFault(path, directories), path).to.equal(undefined);
    for (const path of ['', 'x', 'run/secrets/x', './run/secrets/x'])
      expect(secretPathFault(path, directories), path).to.equal('is not an absolute path');
    for (const path of ['/run/secrets/../../etc/passwd', '/run/secrets/./x', '/run/secrets/..', '/run/secrets/.'])
      expect(secretPathFault(path, directories), path).to.equal('has a segment "." or ".."');
    for (const path of ['/run/secrets', '/run/secrets/', '/run/secretsx/y', '/RUN/secrets/x', '/etc/passwd', '/'])
      expect(secretPathFault(path, directories), path).to.equal(
        'lies outside the directories of GW_SECRET_DIRS, which is /run/secrets:/etc/gw',
      );
  });
});
