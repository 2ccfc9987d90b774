import type { ModuleKind } from '../../../host/registry/registry.ts';
import { commonAnswers } from './common-answers.ts';
import { below, json, type NewFiles } from './new-files.ts';

export interface NewModule {
  readonly kind: ModuleKind;
  readonly name: string;
  readonly wire: 'common' | 'native';
  /** Version of the contract that a package states. */
  readonly contract: string;
}

const TEST_OF: Readonly<Record<ModuleKind, (module: NewModule) => string>> = {
  provider: providerTest,
  plugin: pluginTest,
  strategy: strategyTest,
};

/** Module, test and fixtures: what a new author changes, and what then goes on passing. */
export function moduleFiles(module: NewModule): NewFiles {
  const { kind, wire } = module;
  const common: NewFiles = { 'index.test.ts': TEST_OF[kind](module) };
  if (kind === 'plugin')
    return {
      ...common,
      'index.ts': pluginSource(module),
      'fixtures/settings.json': json({ words: ['forbidden'] }),
      'fixtures/exchange.json': json({ request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] } }),
    };
  if (kind === 'strategy')
    return {
      ...common,
      'index.ts': strategySource(module),
      'fixtures/settings.json': json({ first: 'b' }),
      'fixtures/targets.json': json(['a', 'b', 'c']),
    };
  return {
    ...common,
    'index.ts': wire === 'native' ? nativeSource(module) : providerSource(module),
    ...(wire === 'native' ? NATIVE_FIXTURES : COMMON_FIXTURES),
  };
}

/** What makes a package of it: built by `tsc` into its own `dist`. */
export function packageFiles({ name, contract }: NewModule): NewFiles {
  const [generation] = contract.split('.');
  return {
    'package.json': json({
      name: `gw-${name}`,
      version: '0.1.0',
      type: 'module',
      exports: './dist/index.js',
      files: ['dist'],
      gw: { contract: `^${contract}` },
      scripts: { build: 'tsc', test: 'node --test "src/**/*.test.ts"', prepack: 'npm run build' },
      peerDependencies: { gw: '*' },
      devDependencies: { '@types/node': '^26.0.0', joi: '^18.0.0', typescript: '>=5.9.0' },
      description: `A module for gw, contract ${generation}`,
    }),
    'tsconfig.json': json({
      compilerOptions: {
        target: 'esnext',
        module: 'nodenext',
        types: ['node'],
        strict: true,
        erasableSyntaxOnly: true,
        verbatimModuleSyntax: true,
        skipLibCheck: true,
        rewriteRelativeImportExtensions: true,
        rootDir: 'src',
        outDir: 'dist',
      },
      include: ['src'],
      exclude: ['src/**/*.test.ts'],
    }),
  };
}

const variableOf = (name: string): string => name.toUpperCase().replaceAll('-', '_');

const pluginSource = ({ name }: NewModule): string => `import Joi from 'joi';
import { definePlugin, reject, texts } from 'gw/contract';

interface Settings {
  readonly words: string[];
}

/** Refuses a request that holds one of the words. */
export default definePlugin<Settings>({
  name: '${name}',
  type: 'guardrail',
  summary: 'Refuses requests that hold one of some words',
  stages: ['before_request'],
  settings: Joi.object<Settings, true>({
    words: Joi.array().items(Joi.string().lowercase()).required().description('words that no request may hold'),
  }),
  create: ({ words }) => ({
    before_request(exchange) {
      for (const text of texts(exchange)) if (words.some((word) => text.toLowerCase().includes(word))) return reject('it holds a word that is not wanted');
      return undefined; // go on
    },
  }),
});
`;

function pluginTest(): string {
  return `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { golden, pluginContract, tryPlugin } from 'gw/testing';
import plugin from './index.ts';

const settings = JSON.parse(golden(new URL('fixtures/settings.json', import.meta.url))) as object;

for (const { title, run } of pluginContract(plugin, { settings })) test(title, run);

test('refuses a word, and lets others through', async () => {
  const asked = (content: string) => tryPlugin(plugin, settings, { request: { model: 'm', messages: [{ role: 'user', content }] } });
  equal((await asked('a FORBIDDEN word')).rejection, 'it holds a word that is not wanted');
  equal((await asked('another word')).rejection, undefined);
});
`;
}

const strategySource = ({ name }: NewModule): string => `import Joi from 'joi';
import { defineStrategy, targetFirst, targetKeyProblem } from 'gw/contract';

interface Settings {
  readonly first: string;
}

/** The target \`first\` before the others; they follow in declared order when it fails. */
export default defineStrategy<Settings>({
  name: '${name}',
  summary: 'Tries one target before the others',
  advances: true,
  settings: Joi.object<Settings, true>({
    first: Joi.string().required().description('the target that is tried first: its virtual_key'),
  }),
  check: ({ first }, targets) => targetKeyProblem(first, targets, { path: 'strategy.settings.first', rule: '${name}' }),
  create: ({ first }) => (targets) => targetFirst(first, targets),
});
`;

function strategyTest(): string {
  return `import { deepEqual, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { golden, rank, strategyContract } from 'gw/testing';
import strategy from './index.ts';

const read = (name: string): unknown => JSON.parse(golden(new URL(\`fixtures/\${name}.json\`, import.meta.url)));
const settings = read('settings') as object;
const targets = read('targets') as string[];

for (const { title, run } of strategyContract(strategy, { targets, settings })) test(title, run);

test('puts its target first', () => {
  deepEqual(rank(strategy, targets, {}, { settings }).order, ['b', 'a', 'c']);
});

test('refuses a target that is not declared', () => {
  throws(() => rank(strategy, ['a'], {}, { settings }), /strategy.settings.first/);
});
`;
}

const providerSource = ({ name }: NewModule): string => `import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';

/** Chat parameters that the service names differently or refuses; what is not listed travels as it is. */
const params = {
  logit_bias: 'unsupported',
} as const;

export default defineProvider({
  name: '${name}',
  wire: 'common',
  connection: {
    env: ['${variableOf(name)}_API_KEY'],
    baseUrl: 'https://api.${name}.example/v1', // ${variableOf(name)}_BASE_URL replaces it
    authorize: bearer('${variableOf(name)}_API_KEY'),
  },
  params,
  translators: commonTranslators(['chat'], params),
});
`;

const nativeSource = ({
  name,
}: NewModule): string => `import { bearer, type ChatReply, type ChatRequest, contentTexts, defineProvider, isFields, isText, parseJson, type StreamDecoder, type WireRequest } from 'gw/contract';

/** What the wire below has no word for. */
const params = {
  temperature: 'translate', max_tokens: 'translate', max_completion_tokens: 'translate',
  top_p: 'unsupported', n: 'unsupported', seed: 'unsupported', presence_penalty: 'unsupported', frequency_penalty: 'unsupported', stop: 'unsupported', tools: 'unsupported',
  tool_choice: 'unsupported', response_format: 'unsupported', logprobs: 'unsupported', top_logprobs: 'unsupported', parallel_tool_calls: 'unsupported', user: 'unsupported', logit_bias: 'unsupported',
} as const;

function toUpstream(request: ChatRequest): WireRequest {
  const turns = request.messages.map((message) => ({ by: message.role, text: [...contentTexts(message)].join('\\n') }));
  const most = request.max_completion_tokens ?? request.max_tokens;
  const settings = { ...(request.temperature !== undefined && { heat: request.temperature }), ...(most !== undefined && { most }) };
  return { path: '/talk', body: { model: request.model, turns, stream: request.stream === true, ...settings } };
}

/** \`{"text": "…", "read": 11, "written": 7}\` */
function readTalk(value: unknown): ChatReply {
  if (!isFields(value) || !isText(value['text'])) throw new Error('the answer holds no text');
  return {
    choices: [{ index: 0, message: { role: 'assistant', content: value['text'] }, finish_reason: 'stop' }],
    usage: { prompt_tokens: Number(value['read'] ?? 0), completion_tokens: Number(value['written'] ?? 0), total_tokens: Number(value['read'] ?? 0) + Number(value['written'] ?? 0) },
  };
}

/** Lines of JSON: pieces of text, then one that ends it. */
const openStream = (): StreamDecoder => {
  let isFirst = true;
  return ({ data }) => {
    const line = parseJson(data);
    if (!isFields(line)) throw new Error('a line is not an object');
    const role = isFirst ? { role: 'assistant' } : {};
    isFirst = false;
    if (line['end'] !== true) return [{ choices: [{ index: 0, delta: { ...role, content: String(line['text'] ?? '') }, finish_reason: null }] }];
    return [{ choices: [{ index: 0, delta: role, finish_reason: 'stop' }], usage: readTalk({ text: '-', ...line }).usage }];
  };
};

export default defineProvider({
  name: '${name}',
  wire: 'native',
  framing: 'ndjson',
  connection: {
    env: ['${variableOf(name)}_API_KEY'],
    baseUrl: 'https://api.${name}.example', // ${variableOf(name)}_BASE_URL replaces it
    authorize: bearer('${variableOf(name)}_API_KEY'),
  },
  params,
  translators: { chat: { toUpstream, fromUpstream: (reply) => readTalk(reply.json()), openStream } },
  toFault({ body }) {
    const said: unknown = body instanceof Uint8Array ? parsed(new TextDecoder().decode(body)) : undefined;
    return isFields(said) && isText(said['problem']) ? { message: said['problem'] } : undefined;
  },
});

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
`;

function providerTest({ wire }: NewModule): string {
  return `import { test } from 'node:test';
import { golden, providerContract } from 'gw/testing';
import provider from './index.ts';

const file = (name: string): string => golden(new URL(\`fixtures/\${name}\`, import.meta.url));

const facts = {
  reply: file('reply.json'), stream: file('stream.${wire === 'native' ? 'ndjson' : 'txt'}'), says: 'hello there',
  errors: [{ status: 401, body: file('error-401.json'), message: 'the key is not known' }],
};

for (const { title, run } of providerContract(provider, facts)) test(title, run);
`;
}

const COMMON_FIXTURES: NewFiles = {
  'fixtures/facts.json': json({ says: 'hello there' }),
  ...below(
    'fixtures',
    commonAnswers({ model: 'm', says: ['hello', ' there'], errors: { 401: 'the key is not known' } }),
  ),
};

const NATIVE_FIXTURES: NewFiles = {
  'fixtures/facts.json': json({ says: 'hello there', errors: { 401: 'the key is not known' } }),
  'fixtures/reply.json': json({ text: 'hello there', read: 11, written: 7 }),
  'fixtures/stream.ndjson': '{"text":"hello"}\n{"text":" there"}\n{"end":true,"read":11,"written":7}\n',
  'fixtures/error-401.json': json({ problem: 'the key is not known' }),
};
