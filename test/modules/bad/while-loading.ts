import { type BadModule, plugin, provider, strategy } from './bad-module.ts';

/** Each is refused by `gw validate` and by a start, in a line with its file and what to do; the others beside it are not blamed. */
export const WHILE_LOADING: readonly BadModule[] = [
  {
    file: 'plugins/syntax-ts.ts',
    does: 'lacks a value, in TypeScript',
    source: 'export default {\n  a: 1,\n  b: }\n',
    says: [['MV10', 'Expression expected', 'correct the syntax', '(line 3)']],
    shows: '> 3 |   b: }',
  },
  {
    file: 'plugins/syntax-js.mjs',
    does: 'lacks a value, in JavaScript',
    source: 'export default {\n  a: 1,\n  b: }\n',
    says: [['MV10', "Unexpected token '}'", '(line 3)']],
    shows: '> 3 |   b: }',
  },
  {
    file: 'plugins/syntax-elsewhere.mjs',
    does: 'imports a file with a syntax error',
    source: "import './_broken.mjs';\nimport x from './_broken.mjs';\nexport default x;\n",
    says: [['MV10', "Unexpected token ';'", '_broken.mjs:2']],
    shows: '> 2 | const b = ;',
  },
  {
    file: 'plugins/throws.ts',
    does: 'throws while it loads',
    source: "const key = '';\nif (key === '') throw new Error('no licence\\nsecond line');\nexport default {};\n",
    says: [['MV10', 'no licence', '(line 2)']],
    shows: "> 2 | if (key === '') throw",
  },
  {
    file: 'plugins/throws-below.ts',
    does: 'calls a helper that throws',
    source: "import { read } from './_helper.ts';\nexport default read();\n",
    says: [['MV10', 'the helper failed', '_helper.ts:2']],
    shows: '> 2 |   throw new Error',
  },
  {
    file: 'plugins/throws-nothing.ts',
    does: 'throws undefined',
    source: 'throw undefined;\n',
    says: [['MV10', 'undefined was thrown']],
  },
  {
    file: 'plugins/throws-wordless.ts',
    does: 'throws an object without a prototype',
    source: 'throw Object.create(null);\n',
    says: [['MV10', 'something without a text']],
  },
  {
    file: 'plugins/rejects.ts',
    does: 'rejects at its top level',
    source: "export default await Promise.reject(new Error('not today'));\n",
    says: [['MV10', 'not today', '(line 1)']],
  },
  {
    file: 'plugins/replaces.ts',
    does: 'replaces a function of all',
    source:
      "String.prototype.slice = function slice() { throw new Error('mine'); };\nJSON.stringify = () => '';\nexport default {};\n",
    says: [['MV10', 'it replaces String.prototype.slice, which everything', 'while it loads']],
  },
  {
    file: 'plugins/removes.ts',
    does: 'removes a function of all, and throws',
    source: 'delete (JSON as any).parse;\nthrow new Error("and throws");\n',
    says: [['MV10', 'and throws']],
  },
  {
    file: 'plugins/removes-names.ts',
    does: 'removes what the process itself gives',
    source:
      'delete (globalThis as any).Buffer;\ndelete (globalThis as any).setTimeout;\ndelete (Promise as any).withResolvers;\nexport default {};\n',
    says: [['MV10', 'it removes Promise.withResolvers', 'while it loads']],
  },
  {
    file: 'plugins/replaces-names.ts',
    does: 'puts something else in the place of what the process gives',
    source:
      'Object.assign(globalThis, { JSON: {}, process: undefined, URL: 1, structuredClone: null });\nexport default {};\n',
    says: [['MV10', 'it replaces globalThis.', 'while it loads']],
  },
  {
    file: 'plugins/exits.ts',
    does: 'ends the process',
    source: 'const code: number = 0;\nprocess.exit(code);\n',
    says: [['MV10', 'process.exit(0)', '(line 2)']],
  },
  {
    file: 'plugins/enum.ts',
    does: 'holds an enum',
    source: 'export enum Level { High }\nexport default Level;\n',
    says: [['MV10', 'enum', 'only types that can be removed', '(line 1)']],
  },
  {
    file: 'plugins/no-file.ts',
    does: 'imports a file that is not there',
    source: "\nimport x from './nothing.ts';\nexport default x;\n",
    says: [['MV10', 'nothing.ts', 'correct the path', '(line 2)']],
  },
  {
    file: 'plugins/no-package.ts',
    does: 'imports a package that is not there',
    source: "import x from 'no-such-package';\nexport default x;\n",
    says: [['MV10', 'no-such-package', 'install the package', '(line 1)']],
  },
  {
    file: 'plugins/no-name.ts',
    does: 'imports a name that the contract lacks',
    source: "import { rejct } from 'gw/contract';\nexport default rejct;\n",
    says: [['MV10', "'rejct'", 'correct the name', '(line 1)']],
  },
  {
    file: 'plugins/empty.ts',
    does: 'exports nothing',
    source: '',
    says: [['MV01', 'no default export of a plugin', 'export default definePlugin']],
  },
  {
    file: 'plugins/by-name.ts',
    does: 'exports by name alone',
    source: 'export const guard = {};\n',
    says: [['MV01', 'no default export']],
  },
  {
    file: 'plugins/plain.ts',
    does: 'exports an object that is not a module',
    source: "export default { name: 'plain', create() {} };\n",
    says: [['MV01', 'no default export']],
  },
  {
    file: 'plugins/a-function.ts',
    does: 'exports a function',
    source: 'export default () => ({});\n',
    says: [['MV01', 'no default export']],
  },
  {
    file: 'plugins/another-kind.ts',
    does: 'is a strategy among plugins',
    source: strategy('another-kind', ''),
    says: [['MV02', 'kind "strategy"', 'use definePlugin']],
  },
  {
    file: 'plugins/other-contract.ts',
    does: 'was made for another contract',
    source: plugin('other-contract', "contract: 2, type: 'unheard-of'"),
    says: [['MV03', 'contract 2']],
  },
  {
    file: 'plugins/later-contract.ts',
    does: 'states a range that this contract is not in',
    source: plugin('later-contract', "contract: '^1.99'"),
    says: [['MV03', '^1.99']],
  },
  {
    file: 'plugins/gaurd.ts',
    does: 'has another name than its file',
    source: plugin('guard', ''),
    says: [['MV05', '"guard"', '"gaurd"']],
  },
  {
    file: 'plugins/typo.ts',
    does: 'misspells a field',
    source: plugin('typo', 'rejectAs: "request_rejected"'),
    says: [['MV04', 'rejectAs is not a field', 'did you mean "rejectsAs"?']],
  },
  {
    file: 'plugins/no-schema.ts',
    does: 'gives settings as plain data',
    source: plugin('no-schema', 'settings: { max: 1 }'),
    says: [['MV04', 'settings must be a Joi object schema', 'Joi.object({']],
  },
  {
    file: 'plugins/other-schema.ts',
    does: 'gives a schema of another library',
    source: plugin(
      'other-schema',
      "settings: { [Symbol.for('@hapi/joi/schema')]: { version: '1.0.0' }, type: 'object' }",
    ),
    says: [['MV04', 'settings must be a Joi object schema', "import Joi from 'joi'"]],
  },
  {
    file: 'plugins/external.ts',
    does: 'has a schema that must be waited for, deep inside',
    source: plugin(
      'external',
      'settings: Joi.object({ a: Joi.array().items(Joi.object({ b: Joi.string().external(async (v) => v) })) })',
    ),
    says: [['MV04', 'external()', 'look at what is outside in create']],
  },
  {
    file: 'plugins/unknown-stage.ts',
    does: 'names a stage that is none',
    source: plugin('unknown-stage', "stages: ['before']"),
    says: [['MV04', 'stages[0] must be one of', "'before_request' or"]],
  },
  {
    file: 'plugins/unknown-type.ts',
    does: 'names a type that is none',
    source: plugin('unknown-type', "type: 'guard'"),
    says: [['MV04', 'type must be one of', "'guardrail' or"]],
  },
  {
    file: 'plugins/no-create.ts',
    does: 'has no create',
    source: plugin('no-create', 'create: undefined'),
    says: [['MV04', 'create is required', 'add create: (…) => …']],
  },
  {
    file: 'plugins/no-summary.ts',
    does: 'has an empty summary and a text for a flag',
    source: plugin('no-summary', "summary: '', keepsModel: 'yes'"),
    says: [
      ['MV04', 'summary must be text', "write summary: '…'"],
      ['MV04', 'keepsModel must be true or false'],
    ],
  },
  {
    file: 'plugins/throws-when-asked.ts',
    does: 'has a getter that throws',
    source: "export default { kind: 'plugin', contract: 1, get name() { throw new Error('not yet'); } };\n",
    says: [['MV04', 'not yet', 'plain data']],
  },
  {
    file: 'plugins/folder/helper.ts',
    does: 'is a folder without an index',
    source: '',
    says: [['MV10', 'no index file', 'add index.ts']],
  },
  {
    file: 'strategies/no-create.ts',
    does: 'creates a text',
    source: strategy('no-create', "create: 'rank'"),
    says: [['MV04', 'create must be a function']],
  },
  {
    file: 'providers/echo/index.ts',
    does: 'takes the name of a shipped provider',
    source: provider('echo', ''),
    says: [['MV09', 'from shipped', 'rename it']],
  },
  {
    file: 'providers/waits/index.ts',
    does: 'translates asynchronously',
    source: provider(
      'waits',
      "translators: { chat: { toUpstream: async () => ({ path: '/' }), fromUpstream: () => ({}) } }",
    ),
    says: [['MV06', 'chat translator', 'returns a promise']],
  },
  {
    file: 'providers/fails/index.ts',
    does: 'fails on a minimal request',
    source: provider(
      'fails',
      'translators: { chat: { toUpstream: (r) => ({ path: r.tools[0].name }), fromUpstream: () => ({}) } }',
    ),
    says: [['MV06', 'chat translator', 'undefined']],
  },
  {
    file: 'providers/changes/index.ts',
    does: 'changes the request it gets',
    source: provider(
      'changes',
      "translators: { chat: { toUpstream: (r) => { r.model = 'x'; return { path: '/' }; }, fromUpstream: () => ({}) } }",
    ),
    says: [['MV06', 'chat translator', 'read only']],
  },
  {
    file: 'providers/other-key/index.ts',
    does: 'authorises with a variable that it does not name',
    source: provider('other-key', '', "authorize: bearer('ACME_KEY')"),
    says: [['MV07', 'authorize reads ACME_KEY', 'did you mean "ACME_API_KEY"?']],
  },
  {
    file: 'providers/no-address/index.ts',
    does: 'has a base URL that is none',
    source: provider('no-address', '', "baseUrl: 'api.acme.test/v1'"),
    says: [['MV07', 'connection.baseUrl is "api.acme.test/v1"', 'write https://api.acme.test/v1']],
  },
  {
    file: 'providers/two-tables/index.ts',
    does: 'renames in params what its translator does not',
    source: provider('two-tables', "params: { seed: { rename: 'random_seed' } }"),
    says: [['MV08', 'renames seed to random_seed', 'one table']],
  },
  {
    file: 'providers/drops/index.ts',
    does: 'drops a parameter in silence',
    source: provider(
      'drops',
      "wire: 'native', params: { n: 'unsupported', stop: 'unsupported', user: 'unsupported', presence_penalty: 'unsupported', frequency_penalty: 'unsupported', seed: 'unsupported', top_p: 'unsupported' }, translators: { chat: { toUpstream: (r) => ({ path: '/', body: { m: r.messages } }), fromUpstream: () => ({}) } }",
    ),
    says: [['MV08', 'says forward of temperature', 'drops it']],
  },
  {
    file: 'providers/typo-below/index.ts',
    does: 'misspells a field of its connection',
    source: provider('typo-below', '', 'headerTimeoutMs: 10'),
    says: [['MV04', 'connection.headerTimeoutMs is not a field', 'did you mean "headersTimeoutMs"?']],
  },
];

/** What stands beside them, and is not a module, or a sound one: nothing may be said of it. */
export const BESIDE: Readonly<Record<string, string>> = {
  'plugins/_broken.mjs': 'const a = 1;\nconst b = ;\n',
  'plugins/_helper.ts': "export function read(): never {\n  throw new Error('the helper failed');\n}\n",
  'plugins/sound.ts': plugin('sound', ''),
  'plugins/sound.test.ts': "throw new Error('a test was loaded');\n",
  'plugins/types.d.ts': 'export {};\n',
  'strategies/sound.ts': strategy('sound', 'check: () => []'),
  'providers/sound/index.ts': provider('sound', ''),
};
