import { expect } from 'chai';
import { resolveReferences } from '../../host/config/references.ts';

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
