import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { Description } from 'joi';
import { parse } from 'yaml';
import { MODULES } from '../../builtins/manifest.ts';
import { decodeText } from '../../host/config/decode.ts';
import { configSchema } from '../../host/config/schema/config-schema.ts';
import { describedAt, factsOf, keysOf } from '../../host/config/schema/schema-walk.ts';
import { checkConfig } from '../../host/generation/check.ts';
import { some, temporaryFolder } from '../kit/index.ts';
import { commandHost, ROOT, runCommand } from './commands.ts';

type Path = readonly (string | number)[];
type Document = Record<string, any>;

const read = (file: string): Document => parse(readFileSync(join(ROOT, file), 'utf8'), { merge: true }) as Document;
const printed = async (...args: string[]): Promise<Document> =>
  JSON.parse((await runCommand(['schema', ...args], { cwd: await temporaryFolder() })).stdout) as Document;
const compiled = (schema: object): ((document: unknown) => boolean) => new Ajv2020({ strict: false }).compile(schema);

const schema = await printed();
const fits = compiled(schema);
const host = commandHost({ cwd: await temporaryFolder() });

function isValid(document: Document): boolean {
  if (configSchema.validate(document, { convert: false }).error) return false; // decoding would describe the schema for each
  const decoded = decodeText(JSON.stringify(document), 'json');
  return decoded.config !== undefined && checkConfig(host, decoded).length === 0;
}

/** Every field with the path at which the document first holds it. */
function fieldsOf(
  document: Document,
  field: Description = configSchema.describe(),
  at: Path = [],
): [Path, Description][] {
  const value = at.reduce<any>((holder, part) => holder?.[part], document);
  const item = describedAt(field, [0]);
  const members: [Path, Description][] = item
    ? Object.keys((value ?? []) as object).map((index) => [[...at, Number(index)], item])
    : keysOf(field).map((key) => [[...at, key], describedAt(field, [key])!]);
  const there = members.filter(([path]) => path.reduce<any>((holder, part) => holder?.[part], document) !== undefined);
  return there.flatMap(([path, member]) => [
    [path, member] as [Path, Description],
    ...fieldsOf(document, member, path),
  ]);
}

/** The mode under which the gateway looks at the field. */
const MODES: Readonly<Record<string, string>> = {
  conditions: 'conditional',
  content_conditions: 'content-based',
  ab_variants: 'ab-test',
  unpriced_strategy: 'cost-optimized',
};

const example = read('config.example.yaml');

/** The example with one place changed: to a value, or taken out for `undefined`. */
function changed(path: Path, value: unknown): Document {
  const copy = structuredClone(example);
  const mode = path[0] === 'strategy' && MODES[String(path[1])];
  if (mode) copy['strategy'].mode = mode;
  if (path[0] === 'plugins' && path.length > 2) copy['plugins'][path[1]!].enabled = true; // others are not checked
  const holder = path.slice(0, -1).reduce<any>((at, part) => at[part], copy);
  if (value === undefined) delete holder[path.at(-1)!];
  else holder[path.at(-1)!] = value;
  return copy;
}

/** Values that a field refuses. */
function wrongValues(field: Description): unknown[] {
  const { kind, wording } = factsOf(field);
  const values = wording.values && !describedAt(field, [0]) ? ['nonsense'] : [];
  return [
    ...(wording.orInteger ? [] : [kind === 'text' || kind === 'duration' ? 5 : 'nonsense']),
    ...(kind === 'integer' ? [1.5] : []),
    ...values,
    ...(wording.min === undefined ? [] : [wording.min - 1]),
    ...(wording.max === undefined ? [] : [wording.max + 1]),
    ...(wording.isRequired ? [undefined] : []),
    ...(kind === undefined && keysOf(field).length > 0 ? [{ nonsense: 1 }] : []),
  ];
}

describe('gw schema', () => {
  it('prints a JSON Schema of draft 2020-12', () => {
    expect(schema['$schema']).to.equal('https://json-schema.org/draft/2020-12/schema');
    expect(new Ajv2020({ strict: false }).validateSchema(schema)).to.equal(true);
  });

  it('takes the example configuration', () => {
    expect(fits(example)).to.equal(true);
  });

  for (const file of globSync('examples/*/config.yaml', { cwd: ROOT })) {
    it(`takes ${file}, with the modules beside it`, async () => {
      expect(compiled(await printed('--config', join(ROOT, file)))(read(file))).to.equal(true);
    });
  }

  it('checks settings of a strategy that stands beside the configuration', async () => {
    const file = 'examples/custom-strategy/config.yaml';
    const document = read(file);
    document['strategy'].settings.rest_seconds = 'long';
    expect(compiled(await printed('--config', join(ROOT, file)))(document)).to.equal(false);
  });

  it('has description, default and allowed values of a field', () => {
    const { money } = schema['properties'] as Document;
    expect(money.properties.unpriced.description).to.match(/^what becomes of a request .* See docs\/stores.md$/);
    expect(money.properties.unpriced).to.include({ default: 'warn' });
    expect(money.properties.unpriced.enum).to.deep.equal(['refuse', 'warn', 'allow', null]);
  });

  it('refuses at every place of the example what the gateway refuses there', () => {
    expect(isValid(example)).to.equal(true);
    const cases = fieldsOf(example).flatMap(([path, field]) =>
      wrongValues(field).map((value) => ({ path, value, document: changed(path, value) })),
    );
    expect(cases.length).to.be.above(200);
    for (const { path, value, document } of some(cases)) {
      const where = `${path.join('.')} = ${JSON.stringify(value)}`;
      expect(fits(document), `${where} by the schema`).to.equal(false);
      expect(isValid(document), `${where} by the gateway`).to.equal(false);
    }
  });

  it('refuses what is not a duration where the gateway does', () => {
    const durations = fieldsOf(example).filter(
      ([path, field]) =>
        factsOf(field).kind === 'duration' &&
        path.at(-1) !== 'shutdown_grace' && // only warned of
        path[0] !== 'identity', // which has ranges: test/config/bad-identity.ts
    );
    expect(durations).to.have.length(3);
    for (const [path] of durations) {
      for (const text of ['soon', '30', '1d', '5 minutes', 's']) {
        expect([fits(changed(path, text)), isValid(changed(path, text))], text).to.deep.equal([false, false]);
      }
      for (const text of ['1m30s', '.5s', '+720h', '1.s']) {
        expect([fits(changed(path, text)), isValid(changed(path, text))], text).to.deep.equal([true, true]);
      }
    }
  });

  it('takes null in the place of every key that may be missing, as the gateway does', () => {
    for (const [path, field] of some(fieldsOf(example), { from: 1 })) {
      if (typeof path.at(-1) === 'number' || factsOf(field).wording.isRequired || path[0] === 'plugins') continue;
      if (['url', 'command'].includes(String(path.at(-1)))) continue; // a server needs one of them
      if (path.at(-3) === 'budgets') continue; // members of a budget need each other
      const document = changed(path, null);
      if (path[0] === 'strategy') document['strategy'] &&= { ...document['strategy'], mode: null }; // it reads none of the lists
      expect(fits(document), path.join('.')).to.equal(true);
      expect(isValid(document), path.join('.')).to.equal(true);
    }
  });

  for (const module of MODULES.filter(({ kind }) => kind === 'plugin')) {
    it(`refuses wrong settings of the plugin ${module.name}`, () => {
      const { name, settings, stages } = module as Extract<typeof module, { kind: 'plugin' }>;
      const own = (example['plugins'] as Document[]).find((entry) => entry['name'] === name)?.['config'] as Document;
      const withConfig = (config: object): Document => ({
        targets: [{ virtual_key: 'echo' }],
        plugins: stages.map((stage) => ({ name, stage, enabled: true, config })),
      });
      expect(fits(withConfig(own))).to.equal(true);
      for (const config of [
        { ...own, nonsense: 1 },
        ...keysOf(settings.describe()).map((key) => ({ ...own, [key]: [[]] })),
      ]) {
        expect(fits(withConfig(config)), JSON.stringify(config)).to.equal(false);
        expect(isValid(withConfig(config)), JSON.stringify(config)).to.equal(false);
      }
    });
  }

  it('takes a reference in the place of any text of the settings of a plugin', () => {
    const entry = { name: 'request-logger', stage: 'on_error', enabled: true, config: { level: '${LEVEL}' } };
    const document = { targets: [{ virtual_key: 'echo' }], plugins: [entry] };
    expect([fits(document), isValid(document)]).to.deep.equal([true, true]);
  });

  it('says what is wrong with a module instead of leaving it out', async () => {
    const { code, stdout, stderr } = await runCommand(['schema', '--config', 'missing.yaml']);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.contain('DC05');
  });

  it('knows instances: their names, kinds and references, and targets that are named after them', () => {
    const own = (more: object): Document => ({
      targets: [{ virtual_key: 'own' }],
      providers: { own: { kind: 'openai', ...more } },
    });
    expect(fits(own({ api_key: '${KEY}' }))).to.equal(true);
    expect(fits(own({ session_token: '${file:/run/secrets/token}' }))).to.equal(true);
    for (const wrong of [
      { api_key: 'literal' },
      { session_token: 'a${X}' },
      { kind: 'opnai' },
      { kind: 'echo' },
      { colour: 'x' },
    ])
      expect(fits(own(wrong)), JSON.stringify(wrong)).to.equal(false);
    expect(fits({ ...own({}), providers: { Own: { kind: 'openai' } } })).to.equal(false);
    expect(fits({ targets: [{ virtual_key: 'own' }] })).to.equal(false);
  });
});
