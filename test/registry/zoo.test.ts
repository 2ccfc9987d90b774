import { join } from 'node:path';
import { expect } from 'chai';
import { MASTER_KEY, runGw } from '../kit/index.ts';
import { SOURCES, writeTree } from './support.ts';

interface Animal {
  readonly file: string;
  readonly source: string;
  /** Rules that must be named in a line about the file, each with a piece of its message. */
  readonly told: readonly (readonly [rule: string, message: string])[];
}

const plugin = (fields: string): string => `import Joi from 'joi';
import { definePlugin } from 'gw/contract';
const valid = { type: 'guardrail' as const, summary: 's', stages: ['before_request'] as const, settings: Joi.object({}), create: () => ({}) };
export default definePlugin({ ...valid, ${fields} } as never);\n`;
const provider = (name: string, chat: string): string => `import { defineProvider } from 'gw/contract';
export default defineProvider({
  name: '${name}', wire: 'native', connection: { env: [], baseUrl: 'https://acme.test' }, params: {},
  translators: { chat: { toUpstream: ${chat}, fromUpstream: () => ({ choices: [] }) } },
} as never);\n`;

/** One of every kind of broken module. */
const ZOO: readonly Animal[] = [
  { file: 'providers/no-index/request.ts', source: '', told: [['MV10', 'no-index/index.ts']] },
  { file: 'plugins/syntax-error.ts', source: 'export default {\n  kind: 1\n  name: 2,\n};\n', told: [['MV10', 'cannot be imported']] },
  { file: 'plugins/syntax-error-js.js', source: 'export default {,};\n', told: [['MV10', 'Unexpected token']] },
  { file: 'plugins/throws.ts', source: "throw new Error('no licence\\nin two lines');\n", told: [['MV10', 'no licence']] },
  { file: 'plugins/throws-text.ts', source: "throw 'just text';\n", told: [['MV10', 'just text']] },
  { file: 'plugins/rejects.ts', source: "export default await Promise.reject(new Error('not today'));\n", told: [['MV10', 'not today']] },
  { file: 'plugins/not-erasable.ts', source: 'enum Level { High }\nexport default Level;\n', told: [['MV10', 'enum']] },
  { file: 'plugins/imports-nothing.ts', source: "import x from './nothing.ts';\nexport default x;\n", told: [['MV10', 'nothing.ts']] },
  { file: 'plugins/imports-no-package.ts', source: "import x from 'no-such-package';\nexport default x;\n", told: [['MV10', 'no-such-package']] },
  { file: 'plugins/imports-no-name.ts', source: "import { nothing } from 'gw/contract';\nexport default nothing;\n", told: [['MV10', 'nothing']] },
  { file: 'plugins/no-default.ts', source: 'export const plugin = {};\n', told: [['MV01', 'no default export']] },
  { file: 'plugins/a-function.ts', source: 'export default () => ({});\n', told: [['MV01', 'no default export']] },
  { file: 'plugins/wrong-kind.ts', source: SOURCES.strategy('wrong-kind'), told: [['MV02', 'kind "strategy"']] },
  { file: 'strategies/wrong-contract.ts', source: SOURCES.strategy('wrong-contract').replace(/export default (.*);\n/, 'export default { ...$1, contract: 2 };\n'), told: [['MV03', 'contract 2']] },
  { file: 'strategies/wrong-name.ts', source: SOURCES.strategy('other-name'), told: [['MV05', '"other-name"']] },
  { file: 'providers/bare.ts', source: "export default { kind: 'provider', contract: 1, name: 'bare' };\n", told: [['MV04', 'wire'], ['MV04', 'connection'], ['MV04', 'params'], ['MV04', 'translators']] },
  { file: 'providers/Bad_Name/index.ts', source: provider('Bad_Name', "() => ({ path: '/' })"), told: [['MV04', 'name']] },
  { file: 'providers/throwing-translator/index.ts', source: provider('throwing-translator', "() => { throw new Error('cannot'); }"), told: [['MV06', 'chat translator']] },
  { file: 'providers/late-translator/index.ts', source: provider('late-translator', "async () => { throw new Error('too late'); }"), told: [['MV06', 'chat translator']] },
  { file: 'plugins/no-schema.ts', source: plugin("name: 'no-schema', settings: { max: 1 }"), told: [['MV04', 'settings']] },
  { file: 'plugins/unknown-stage.ts', source: plugin("name: 'unknown-stage', stages: ['before']"), told: [['MV04', 'stages']] },
  { file: 'plugins/no-stage.ts', source: plugin("name: 'no-stage', stages: []"), told: [['MV04', 'stages']] },
  { file: 'plugins/unknown-type.ts', source: plugin("name: 'unknown-type', type: 'guard'"), told: [['MV04', 'type']] },
  { file: 'providers/echo/index.ts', source: SOURCES.provider('echo'), told: [['MV09', 'shipped']] },
  { file: 'strategies/twice.ts', source: SOURCES.strategy('twice'), told: [] },
  { file: 'strategies/twice/index.ts', source: SOURCES.strategy('twice'), told: [] },
  { file: 'plugins/healthy.ts', source: SOURCES.plugin('healthy'), told: [] },
];

const CONFIG = `strategy: { mode: fallback }
targets: [{ virtual_key: echo }, { virtual_key: nobody }]
modules: [gw-absent]
`;

async function writeZoo(): Promise<string> {
  return writeTree({ 'config.yaml': CONFIG, ...Object.fromEntries(ZOO.map(({ file, source }) => [file, source])) });
}

/** Lines of a report that speak of a file; of a folder without an index the file that is missing. */
function linesOf(report: string, folder: string, file: string): string[] {
  const places = [join(folder, file), join(folder, file).replace(/[^/]+$/, 'index.ts')];
  return report.split('\n').filter((line) => places.some((place) => line.startsWith(`  ${place}: `)));
}

describe('a folder of broken modules', function () {
  let folder = '';
  let report = '';
  let code: number | null = null;

  beforeEach(async () => {
    folder = await writeZoo();
    ({ code, stderr: report } = await runGw(['validate', join(folder, 'config.yaml')]));
  });

  it('is refused in one report that names file, rule and fix of each', () => {
    expect(code).to.equal(1);
    expect(report.match(/^Error:/gm)).to.deep.equal(['Error:']);
    const lines = report.trim().split('\n').slice(1);
    for (const line of lines) expect(line).to.match(/^ {2}\S.*: (MV|BV)\d\d: .+; fix: .+$/);
    for (const { file, told } of ZOO) {
      const found = linesOf(report, folder, file);
      for (const [rule, message] of told) expect(found.some((line) => line.includes(`: ${rule}: `) && line.includes(message)), `${file}: ${rule} ${message}\n${report}`).to.equal(true);
    }
  });

  it('has a line for two modules of one name that names both, and none for the healthy one', () => {
    const [first, second] = [join(folder, 'strategies/twice.ts'), join(folder, 'strategies/twice/index.ts')];
    const lines = report.split('\n').filter((line) => line.includes(first) && line.includes(second));
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include('MV09');
    expect(linesOf(report, folder, 'plugins/healthy.ts')).to.deep.equal([]);
  });

  it('is told together with what is wrong with the packages and with the configuration', () => {
    expect(report).to.include('package gw-absent: MV10: ');
    expect(report).to.include('targets[1].virtual_key: BV01: ');
  });

  it('stops the start with the same report, and nothing listens', async () => {
    const started = await runGw(['serve'], { variables: { GATEWAY_CONFIG: join(folder, 'config.yaml'), PORT: '0', MASTER_KEY } });
    expect(started.code).to.equal(1);
    expect(started.stderr).to.equal(report);
    expect(started.stdout).not.to.include('gw started');
  });

  it('is no reason to refuse anything once the broken ones are gone', async () => {
    const healthy = ZOO.filter(({ file }) => file === 'plugins/healthy.ts').map(({ file, source }) => [file, source] as const);
    const clean = await writeTree({ 'config.yaml': 'strategy: { mode: fallback }\ntargets: [{ virtual_key: echo }]\n', ...Object.fromEntries(healthy) });
    expect((await runGw(['validate', join(clean, 'config.yaml')])).code).to.equal(0);
  });
});

describe('the report of a module that tells a credential', () => {
  it('does not tell it on, neither from validate nor from a start', async () => {
    const folder = await writeTree({ 'config.yaml': 'strategy: { mode: fallback }\ntargets: [{ virtual_key: echo }]\n', 'plugins/tells.ts': "throw new Error(`cannot use ${process.env['ACME_API_KEY']}`);\n" });
    const variables = { ACME_API_KEY: 'a-credential-of-acme', GATEWAY_CONFIG: join(folder, 'config.yaml'), PORT: '0', MASTER_KEY };
    for (const args of [['validate', variables.GATEWAY_CONFIG], ['serve']]) {
      const { stdout, stderr } = await runGw(args, { variables });
      expect(stderr).to.include('plugins/tells.ts: MV10');
      expect(stdout + stderr).not.to.include(variables.ACME_API_KEY);
    }
  });
});

describe('modules of one name in two folders', () => {
  it('are refused, and both places are named', async () => {
    const folder = await writeTree({
      'config.yaml': 'strategy: { mode: fallback }\ntargets: [{ virtual_key: echo }]\nmodules: [gw-own]\n', 'strategies/own.ts': SOURCES.strategy('own'),
      'node_modules/gw-own/package.json': JSON.stringify({ name: 'gw-own', type: 'module', exports: './index.js' }), 'node_modules/gw-own/index.js': SOURCES.strategy('own'),
    });
    const { code, stderr } = await runGw(['validate', join(folder, 'config.yaml')]);
    expect(stderr).to.include(`package gw-own: MV09: the strategy "own" already exists, from ${join(folder, 'strategies/own.ts')}`);
    expect(code).to.equal(1);
  });
});
