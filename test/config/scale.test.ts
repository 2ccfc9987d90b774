import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeText } from '../../host/config/decode.ts';
import type { Format } from '../../host/config/parse.ts';
import { MAX_VALUES } from '../../host/config/compose.ts';
import { checkConfig } from '../../host/generation/check.ts';
import { buildOffline } from '../../host/generation/offline.ts';
import type { Host } from '../../host/host.ts';
import { commandHost } from '../cli/commands.ts';
import { atEnd, expectProportion, isSoak, runGw, some, temporaryFolder } from '../kit/index.ts';

const list = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join('');
const ECHO = 'targets: [{virtual_key: echo}]\n';
const models = (count: number, item: (index: number) => string): string =>
  `targets:\n  - virtual_key: echo\n    models:\n${list(count, (index) => `      - ${item(index)}\n`)}`;
const aliases = (count: number, item: (index: number) => string): string =>
  `${ECHO}aliases:\n${list(count, (index) => `  ${item(index)}\n`)}`;
const plugin = (config: string): string =>
  `${ECHO}plugins:\n  - {name: word-filter, stage: before_request, enabled: true, config: ${config}}\n`;
const strategy = (mode: string, name: string, count: number, item: (index: number) => string): string =>
  `strategy:\n  mode: ${mode}\n  ${name}:\n${list(count, (index) => `    - {${item(index)}}\n`)}`;

interface Kind {
  /** The smaller of the two sizes: where what is not in proportion would stand out. */
  readonly count: number;
  readonly text: (count: number) => string;
  readonly format?: Format;
}

/** What a configuration may hold many of, right and wrong. */
const KINDS: Readonly<Record<string, Kind>> = {
  models: { count: 20_000, text: (count) => models(count, (index) => `model-${index}`) },
  'models in JSON': {
    count: 20_000,
    format: 'json',
    text: (count) =>
      JSON.stringify({
        targets: [{ virtual_key: 'echo', models: Array.from({ length: count }, (_, index) => `model-${index}`) }],
      }),
  },
  'models that are numbers': { count: 8000, text: (count) => models(count, (index) => `1${index}`) },
  'models with blanks around them': { count: 8000, text: (count) => models(count, (index) => `" model-${index} "`) },
  'models that are lists': { count: 3000, text: (count) => models(count, () => '[x]') },
  aliases: { count: 15_000, text: (count) => aliases(count, (index) => `alias-${index}: model-${index}`) },
  'aliases to numbers': { count: 5000, text: (count) => aliases(count, (index) => `alias-${index}: 1${index}`) },
  'aliases to aliases': {
    count: 5000,
    text: (count) => aliases(count, (index) => `a${index}: a${(index + 1) % count}`),
  },
  'aliases to lists': { count: 4000, text: (count) => aliases(count, (index) => `a${index}: [x]`) },
  'entries of a model_map': {
    count: 8000,
    text: (count) =>
      `targets:\n  - virtual_key: echo\n    model_map:\n${list(count, (index) => `      a${index}: b${index}\n`)}`,
  },
  'targets of one name': {
    count: 4000,
    text: (count) => `targets:\n${list(count, () => '  - {virtual_key: echo}\n')}`,
  },
  'unknown keys': { count: 4000, text: (count) => ECHO + list(count, (index) => `key_${index}: ${index}\n`) },
  'keys that stand twice': { count: 4000, text: (count) => ECHO + list(count, () => 'aliases: {}\n') },
  plugins: {
    count: 2000,
    text: (count) =>
      `${ECHO}plugins:\n${list(count, (index) => `  - {name: word-filter, stage: before_request, enabled: true, config: {blocked_words: [w${index}]}}\n`)}`,
  },
  'settings that no plugin has': {
    count: 1500,
    text: (count) => plugin(`{${list(count, (index) => `k${index}: 1, `)}}`),
  },
  'settings of a wrong type': {
    count: 3000,
    text: (count) => plugin(`{blocked_words: [${list(count, (index) => `${index}, `)}]}`),
  },
  conditions: {
    count: 3000,
    text: (count) =>
      ECHO + strategy('conditional', 'conditions', count, (index) => `key: model, value: m${index}, target_key: echo`),
  },
  'conditions with unknown targets': {
    count: 2000,
    text: (count) =>
      `targets:\n${list(count, (index) => `  - {virtual_key: t${index}}\n`)}${strategy('conditional', 'conditions', count, (index) => `key: model, value: m${index}, target_key: x${index}`)}`,
  },
  variants: {
    count: 3000,
    text: (count) =>
      ECHO + strategy('ab-test', 'ab_variants', count, (index) => `weight: 1, label: m${index}, target_key: echo`),
  },
  'MCP servers': {
    count: 4000,
    text: (count) => `${ECHO}mcp_servers:\n${list(count, (index) => `  - {name: s${index}, url: "http://x"}\n`)}`,
  },
  comments: { count: 40_000, text: (count) => ECHO + '# x\n'.repeat(count) },
};

/** Shapes of YAML that cost a reader more than they cost their writer. */
const HOSTILE: Readonly<Record<string, Kind>> = {
  'brackets that open': { count: 20_000, text: (count) => `a: ${'['.repeat(count)}` },
  'brackets that open and close': { count: 20_000, text: (count) => `a: ${'['.repeat(count)}${']'.repeat(count)}` },
  'maps in maps': { count: 10_000, text: (count) => `${'{a: '.repeat(count)}1${'}'.repeat(count)}` },
  'lists in lists': { count: 20_000, text: (count) => `${'- '.repeat(count)}x` },
  'keys that are asked for': { count: 20_000, text: (count) => `${'? '.repeat(count)}x` },
  documents: { count: 200_000, text: (count) => '---\n'.repeat(count) },
  anchors: { count: 10_000, text: (count) => list(count, (index) => `- &a${index} x\n`) },
  'anchors and aliases': {
    count: 4000,
    text: (count) => list(count, (index) => `- &a${index} x\n`) + list(count, (index) => `- *a${index}\n`),
  },
  'aliases that double': {
    count: 3000,
    text: (count) =>
      `a0: &a0 [x, x]\n${list(count, (index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]\n`)}`,
  },
  'merges of merges': {
    count: 3000,
    text: (count) =>
      `a0: &a0 {k0: 1}\n${list(count, (index) => `a${index + 1}: &a${index + 1} {<<: *a${index}, k${index}: 1}\n`)}`,
  },
  'merges of one large map': {
    count: 2000,
    text: (count) => `a: &a\n${list(count, (index) => `  k${index}: 1\n`)}b:\n${list(count, () => '  - {<<: *a}\n')}`,
  },
  tags: { count: 5000, text: (count) => list(count, (index) => `- !t${index} x\n`) },
  directives: { count: 50_000, text: (count) => `${'%FOO bar\n'.repeat(count)}---\na: 1\n` },
  faults: { count: 100_000, text: (count) => '}]'.repeat(count) },
  'pairs in a list': { count: 5000, text: (count) => `[${'a: b, '.repeat(count)}]` },
  colons: { count: 5000, text: (count) => 'a: b: c: d\n'.repeat(count) },
  commas: { count: 20_000, text: (count) => `[${','.repeat(count)}]` },
  'a long key': { count: 500_000, text: (count) => `${'k'.repeat(count)}: 1\n` },
  'a long text': { count: 200_000, text: (count) => `a: "${'\\x41 '.repeat(count)}"\n` },
  'a long number': { count: 500_000, text: (count) => `a: 1${'0'.repeat(count)}\n` },
};

function sealedHost(): Host {
  const host = commandHost({ cwd: '/' });
  host.registry.seal();
  atEnd(() => host.close());
  return host;
}

/** Reads, checks and builds it. */
async function use(host: Host, text: string, format: Format): Promise<void> {
  const decoded = decodeText(text, format);
  const problems = checkConfig(host, decoded);
  if (problems.length === 0 && decoded.config) await (await buildOffline(host, decoded.config)).dispose();
}

async function expectInProportion({ count, text, format = 'yaml' }: Kind): Promise<void> {
  const host = sealedHost();
  await expectProportion(
    count,
    (size) => {
      const document = text(size);
      return () => use(host, document, format);
    },
    4 * count,
  );
}

describe('a large configuration', function large() {
  this.timeout(120_000);

  for (const [name, kind] of some(Object.entries(KINDS), { every: 20, from: 3 })) {
    it(`is read, checked and built in proportion to its size: ${name}`, () => expectInProportion(kind));
  }
});

describe('a configuration of more values than anybody writes', () => {
  const json = (items: string): string => `{"targets": [${items}]}`;
  const refused: Readonly<Record<string, readonly [text: string, format: Format]>> = {
    'a list': [json(`${'1,'.repeat(MAX_VALUES)}1`), 'json'],
    'a map': [`{"targets": {${list(MAX_VALUES, (index) => `"k${index}": 1,`)}"k": 1}}`, 'json'],
    'unknown keys': [`{${list(MAX_VALUES, (index) => `"k${index}": 1,`)}"k": 1}`, 'json'],
    'lists in a list': [json(list(MAX_VALUES / 2, () => '[1],') + '[1]'), 'json'],
    'a list in YAML': [`a: [${'1,'.repeat(MAX_VALUES)}]`, 'yaml'],
  };
  for (const [what, [text, format]] of some(Object.entries(refused), { every: 2, from: 1 })) {
    it(`is refused before its values are looked at: ${what}`, () => {
      const { config, problems } = decodeText(text, format);
      expect(config).to.equal(undefined);
      expect(problems.map(({ rule, message }) => [rule, message])).to.deep.equal([
        ['DC03', `malformed document: it holds more than ${MAX_VALUES} values`],
      ]);
    });
  }

  it('names the first thousand of the keys that stand twice', () => {
    const { problems } = decodeText(`{${'"a": 1, '.repeat(20_000)}"targets": []}`, 'json');
    expect(problems.filter(({ rule }) => rule === 'DC03')).to.have.length(1000);
  });

  const allowed = isSoak() ? MAX_VALUES - 2 : MAX_VALUES / 10;
  it(`is not one of ${allowed}, all of which may be wrong`, () => {
    const { problems } = decodeText(json(list(allowed, () => '1,') + '1'), 'json');
    expect(problems).to.have.length(allowed + 1);
  });
});

describe('YAML of a hostile shape', function hostile() {
  this.timeout(120_000);

  for (const [name, kind] of some(Object.entries(HOSTILE), { every: 10, from: 6 })) {
    it(`costs no more than in proportion to its size: ${name}`, () => expectInProportion(kind));
  }

  const refused: Readonly<Record<string, readonly [text: string, says: string]>> = {
    'more than 5000 anchors and aliases': [
      list(5001, (index) => `- &a${index} x\n`),
      'more than 5000 anchors and aliases',
    ],
    'aliases of millions of values': [
      HOSTILE['aliases that double']!.text(30),
      `its aliases stand for more than ${MAX_VALUES} values`,
    ],
    'a list that holds itself': ['a: &a [*a, *a]\n', `its aliases stand for more than ${MAX_VALUES} values`],
    'a map that is merged into itself': [
      'a: &a {<<: *a, b: 1}\n',
      `its aliases stand for more than ${MAX_VALUES} values`,
    ],
    'an alias of nothing': ['a: *b\n', 'Unresolved alias'],
    'more faults than anybody reads': ['}]'.repeat(1000), 'there are more faults than these'],
  };
  for (const [what, [text, says]] of Object.entries(refused)) {
    it(`is refused: ${what}`, () => {
      const { config, problems } = decodeText(text, 'yaml');
      expect(config).to.equal(undefined);
      expect(problems.length).to.be.at.most(102);
      expect(problems.at(-1)).to.include({ rule: 'DC03' }).and.to.have.property('message').that.contains(says);
    });
  }

  it('may use anchors, aliases and merges as people do', () => {
    const { config, problems } = decodeText(
      'x: &x {attempts: 2}\ntargets:\n  - &t {virtual_key: echo, retry: *x}\n  - {<<: *t, virtual_key: openai}\n  - {<<: [*t, {weight: 3}], virtual_key: groq, weightt: 1}\n',
      'yaml',
    );
    expect(problems.map(({ path, line }) => `${path} ${line}`)).to.have.members(['x 1', 'targets[2].weightt 5']);
    expect(config?.targets).to.deep.equal([
      { virtual_key: 'echo', retry: { attempts: 2 } },
      { virtual_key: 'openai', retry: { attempts: 2 } },
      { virtual_key: 'groq', retry: { attempts: 2 }, weight: 3 },
    ]);
  });

  it('tells lines behind thousands of merges, each without another look at the whole', async () => {
    const text = (count: number): string =>
      `x: &x {weightt: 1}\ntargets:\n${list(count, () => '  - {<<: *x, virtual_key: echo}\n')}`;
    await expectInProportion({ count: 1000, text });
    const { problems } = decodeText(text(3), 'yaml');
    expect(problems.filter(({ path }) => path.endsWith('weightt')).map(({ line }) => line)).to.deep.equal([1, 1, 1]);
  });
});

const PROBLEMS = isSoak() ? 40_000 : 4000;

describe('gw validate', () => {
  it(`reports ${PROBLEMS} problems, each in a line`, async () => {
    const cwd = await temporaryFolder();
    await writeFile(
      join(cwd, 'config.yaml'),
      models(PROBLEMS, (index) => `" model-${index} "`),
    );
    const { code, stderr } = await runGw(['validate', 'config.yaml'], { cwd });
    expect(code).to.equal(1);
    expect(stderr.split('\n')).to.have.length(PROBLEMS + 2);
  });
});
