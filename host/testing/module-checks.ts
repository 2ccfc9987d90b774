import { ok } from 'node:assert/strict';
import {
  type ChatChunk,
  type PluginModule,
  type ProviderModule,
  type Stage,
  type StrategyModule,
  SURFACE_NAMES,
  SURFACES,
} from '../contract/index.ts';
import { MODULE_RULES } from '../registry/check-module.ts';
import { covers } from '../pipeline/guards/plugin-policy.ts';
import { madeUpQuery, rank, type RankOptions } from './rank.ts';
import { type ExchangeFacts, madeUpExchange } from './made-up.ts';
import { keepsOrder } from './stream-checks.ts';
import { tryPlugin } from './try-plugin.ts';

/** One check of a contract suite. Any runner takes it: `for (const { title, run } of providerContract(module)) test(title, run)`. */
export interface Check {
  readonly title: string;
  readonly run: () => Promise<void>;
}

export const check = (title: string, run: () => void | Promise<void>): Check => ({
  title,
  run: async () => {
    await run();
  },
});

/** The rules that every start holds a module against. */
export function keepsRules(module: ProviderModule | PluginModule | StrategyModule): Check {
  return check('keeps the rules of the gateway', () => {
    const problems: string[] = [];
    for (const rule of MODULE_RULES) {
      rule.check({
        value: module as unknown as Readonly<Record<string, unknown>>,
        kind: module.kind,
        expectedName: undefined,
        origin: 'a test',
        report: (id, message, fix) => problems.push(`${id}: ${message}; fix: ${fix}`),
      });
    }
    ok(problems.length === 0, problems.join('\n'));
  });
}

export interface PluginFacts {
  /** Settings that are valid; none unless said. */
  readonly settings?: object;
  /** Exchanges that it meets, beside the made-up ones. */
  readonly exchanges?: readonly ExchangeFacts[];
}

/** What holds for every plugin. */
export function pluginContract<S extends object>(
  module: PluginModule<S>,
  { settings = {}, exchanges = [] }: PluginFacts = {},
): readonly Check[] {
  return [
    keepsRules(module),
    check('takes its settings, and refuses those that it does not know', () => {
      const { error } = module.settings.validate(settings, { convert: false });
      ok(!error, String(error?.message));
      ok(
        module.settings.validate({ ...settings, 'no such setting': 1 }, { convert: false }).error,
        'it takes a setting that it does not know: list keys, without unknown()',
      );
    }),
    check('has a handler for each of its stages, and no others', async () => {
      const { handlers } = await tryPlugin(module, settings);
      for (const stage of module.stages)
        ok(typeof handlers[stage] === 'function', `it lists ${stage} and has no handler for it`);
      for (const stage of ['before_request', 'after_request', 'on_error'] satisfies Stage[])
        ok(!handlers[stage] || module.stages.includes(stage), `it has a handler for ${stage}, and does not list it`);
    }),
    ...surfaceChecks(module, settings),
    ...(covers(module, 'chat') ? streamChecks(module, settings) : []),
    ...exchanges.map((exchange, index) =>
      check(`goes through exchange ${index + 1} of its facts`, async () => {
        await tryPlugin(module, settings, exchange);
      }),
    ),
  ];
}

function surfaceChecks<S extends object>(module: PluginModule<S>, settings: object): readonly Check[] {
  return SURFACE_NAMES.filter((surface) => covers(module, surface)).map((surface) =>
    check(`goes through an exchange on ${surface}, and changes nothing but by a verdict`, async () => {
      await tryPlugin(module, settings, {
        surface,
        request: SMALLEST[surface] as never,
        ...(SURFACES[surface].isChat && { reply: CHAT_REPLY as never }),
        ...(surface === 'mcp' && { reply: TOOL_REPLY }),
      });
    }),
  );
}

function streamChecks<S extends object>(module: PluginModule<S>, settings: object): readonly Check[] {
  return [
    check('goes through a streamed answer, and lets through nothing but chunks', async () => {
      await tryPlugin(
        module,
        settings,
        { surface: 'chat', request: { ...CHAT, stream: true }, reply: CHAT_REPLY as never },
        { chunks: CHAT_CHUNKS },
      );
    }),
    check('leaves what a streamed answer says in its order, whole and once', () => keepsOrder(module, settings)),
  ];
}

const CHAT_REPLY = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const CHAT_CHUNKS = [{ role: 'assistant', content: 'hel' }, { content: 'lo' }, {}].map((delta, index) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: index === 2 ? 'stop' : null }],
})) as readonly ChatChunk[];
const TOOL_REPLY = { content: [{ type: 'text', text: 'hello' }], structuredContent: { text: 'hello' } };
const CHAT = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const FILE = { filename: 'a.wav', bytes: 0, open: async function* noBytes(): AsyncGenerator<Uint8Array> {} };

/** The smallest request of each surface. */
export const SMALLEST = {
  chat: CHAT,
  completions: CHAT,
  messages: CHAT,
  generate_content: CHAT,
  'responses.translated': CHAT,
  embeddings: { model: 'm', input: 'hi' },
  images: { model: 'm', prompt: 'hi' },
  'images.edits': { model: 'm', prompt: 'hi', form: [{ name: 'image', file: { ...FILE, filename: 'a.png' } }] },
  rerank: { model: 'm', query: 'hi', documents: ['hi'] },
  moderations: { model: 'm', input: 'hi' },
  'audio.transcriptions': { model: 'm', file: FILE },
  'audio.translations': { model: 'm', file: FILE },
  'audio.speech': { model: 'm', input: 'hi', voice: 'v' },
  responses: { model: 'm', body: { model: 'm', input: 'hi' } },
  passthrough: { model: 'm', body: {} },
  mcp: { server: 's', name: 't', arguments: { text: 'hi' } },
} as const;

export interface StrategyFacts extends RankOptions {
  /** Targets that it ranks; three made-up ones unless said. */
  readonly targets?: Parameters<typeof rank>[1];
}

/** What holds for every strategy. */
export function strategyContract<S extends object>(
  module: StrategyModule<S>,
  { targets = ['a', 'b', 'c'], ...options }: StrategyFacts = {},
): readonly Check[] {
  const surfaces = SURFACE_NAMES.filter((surface) => SURFACES[surface].translator !== undefined);
  return [
    keepsRules(module),
    ...surfaces.map((surface) =>
      check(`ranks the targets it is given on ${surface}, and invents none`, () => {
        rank(module, targets, { surface }, options);
      }),
    ),
    check('ranks when models are listed, with nothing but a model', () => {
      rank(module, targets, { isListing: true }, options);
    }),
    check('ranks a single target, and none', () => {
      const { strategy } = rank(module, targets, {}, options);
      const one = { virtualKey: 'a', weight: 1, serves: true };
      for (const list of [[one], []]) {
        const ranked: unknown = strategy.rank(list, madeUpQuery());
        ok(
          Array.isArray(ranked) && ranked.every((target) => list.includes(target as never)),
          `of ${list.length} targets it makes something that is not a list of them`,
        );
      }
    }),
    check('takes outcomes and ends', async () => {
      const { strategy } = rank(module, targets, {}, options);
      strategy.settled?.({
        virtualKey: 'a',
        exchangeId: madeUpExchange().id,
        outcome: 'failure',
        durationMs: undefined,
      });
      await strategy.dispose?.();
    }),
  ];
}
