import { expect } from 'chai';
import { COMPUTED_WRITES, computedWrites, PARSERS, unboundedJson, writesIn } from './member-rules.ts';
import { filesIn, problemsIn, read } from './source.ts';

/** The product, and modules of the examples: the servers and scripts beside those are programs of their own. */
const FILES = [
  ...filesIn('host', 'builtins', 'providers', 'strategies', 'plugins'),
  ...filesIn('examples').filter((path) => /\/(providers|strategies|plugins)\//.test(path)),
];

describe('writes to members whose name is computed', () => {
  it('stand in no other place than those that are listed', () => {
    expect(problemsIn(FILES, computedWrites)).to.deep.equal([]);
  });

  it('are listed only where they stand', () => {
    for (const [path, texts] of Object.entries(COMPUTED_WRITES))
      expect(
        writesIn(path, read(path)).map(({ text }) => text),
        path,
      ).to.include.members([...texts]);
  });

  for (const source of [
    'into[name] = value;',
    'into[name] += value;',
    'into[name] ??= {};',
    'counts[name]++;',
    'into[`${name}`] = value;',
    'into[prefix + name] = value;',
    'into[outer].inner = value;',
    'into[outer].inner[0] = value;',
    '(into as Fields)[name] = value;',
    'into[String(at)] = value;',
    '[into[name]] = [value];',
    '({ value: into[name] } = given);',
    '({ value: into[name] = 1 } = given);',
    '[...into[name]] = values;',
    'for (into[name] of values) use(into);',
    'Object.assign(into, given);',
    'Object.assign(into, { ...given });',
    'Object.assign(into, { [name]: value });',
    'Reflect.set(into, name, value);',
    'Object.setPrototypeOf(into, given);',
  ])
    it(`are refused: ${source}`, () => {
      expect(computedWrites('host/planted.ts', source)).to.have.length(1);
    });

  for (const source of [
    "into['name'] = value;",
    'into.name = value;',
    'list[0] = value;',
    'list[at - 1] = value;',
    'list[Number(at)] = value;',
    'list[Math.floor(at)] = value;',
    'list[at++] = value;',
    'const copy = { ...given, [name]: value };',
    'const value = from[name];',
    'delete from[name];',
    'Object.assign(into, { name: value, other });',
    'setMember(into, name, value);',
    'table.set(name, value);',
  ])
    it(`are not seen in: ${source}`, () => {
      expect(computedWrites('host/planted.ts', source)).to.deep.equal([]);
    });

  it('are refused beside a listed one', () => {
    const path = 'host/generation/slot.ts';
    expect(computedWrites(path, 'this.#leases[lease.at] = last;')).to.deep.equal([]);
    expect(computedWrites(path, 'this.#leases[name] = last;')).to.deep.equal([`${path}:1: this.#leases[name]`]);
  });
});

describe('JSON without bounds', () => {
  it('is parsed in no other place than those that are listed', () => {
    expect(problemsIn(FILES, unboundedJson)).to.deep.equal([]);
  });
  it('is parsed where it is listed', () => {
    for (const path of PARSERS) expect(read(path), path).to.include('JSON.parse(');
  });
  for (const source of [
    'const value = JSON.parse(text);',
    "const value = JSON['parse'](text);",
    'texts.map(JSON.parse);',
    'const { parse } = JSON;',
    'const json = JSON;',
    'const json = JSON as unknown as Json;',
  ]) {
    it(`is refused: ${source}`, () => {
      expect(unboundedJson('providers/acme/stream.ts', source)).to.have.length(1);
    });
  }
  for (const source of [
    'const value = parseJson(text);',
    'const text = JSON.stringify(value);',
    'const value = reply.json();',
  ]) {
    it(`is not seen in: ${source}`, () => {
      expect(unboundedJson('providers/acme/stream.ts', source)).to.deep.equal([]);
    });
  }
});
