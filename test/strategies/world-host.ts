import { instanceCatalogOf, isInstanceCatalog, NO_CATALOG } from '../../host/common/catalog.ts';
import { commonTranslators } from 'gw/common-wire';
import { defineProvider, type GatewayError, type ProviderModule, type RouteTarget } from 'gw/contract';
import { MODULES } from '../../builtins/manifest.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import { decodeText } from '../../host/config/decode.ts';
import type { Problem } from '../../host/config/problems.ts';
import { createHost } from '../../host/create-host.ts';
import { checkConfig } from '../../host/generation/check.ts';
import { buildGeneration } from '../../host/generation/build.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { explain, type Explanation } from '../../host/explain/explain.ts';
import { readQuestion, type RouteQuestion } from '../../host/explain/question.ts';
import { type ConnectedProvider, connectProvider } from '../../host/upstream/connect.ts';
import { fakeClock, TEST_BUILTINS } from '../kit/index.ts';
import { seeded } from './support.ts';
import { PROVIDERS, type World } from './worlds.ts';

/** A host whose targets are in the state that a world says. */
export interface WorldHost {
  /** What a decision is made of; the draws are those of the world's seed. */
  explain(world: World): Promise<Explained>;
  /** What becomes of the request of a world, whose upstreams answer nothing, with its strategy at the top level or in a group of all targets, or with its providers declared. */
  decide(world: World, place: Place): Promise<Decided>;
  /** Names of the figures that were counted. */
  readonly samples: readonly string[];
}

export interface Explained {
  readonly explanation: Explanation;
  /** The route that the same request would really take, with the same draws. */
  readonly route: readonly RouteTarget[];
  readonly abLabel: string | undefined;
  readonly problems: readonly Problem[];
}

/** Where the strategy of a world stands. */
export type Place = 'top level' | 'group' | 'declared instances';

export interface Decided {
  /** What would be tried, in this order. */
  readonly order: readonly string[];
  readonly abLabel: string | undefined;
  readonly explanation: Explanation;
  readonly problems: readonly Problem[];
  /** What was called, in this order, with what came of it. */
  readonly attempts: readonly string[];
  readonly error: string | undefined;
}

/** Where nothing listens. */
const ADDRESS = 'http://127.0.0.1:9';

export async function createWorldHost(): Promise<WorldHost> {
  const state: { world: World | undefined; random: () => number } = { world: undefined, random: () => 0 };
  const samples: string[] = [];
  const modules = Object.keys(PROVIDERS).map(moduleOf);
  const host = createHost({
    variables: { LOG_LEVEL: 'debug' },
    workingDirectory: '/',
    installDirectory: '/',
    build: { version: 'test', commit: '', built: '' },
    platform: { node: '', os: '', arch: '' },
    clock: fakeClock(),
    random: () => state.random(),
    lines: { write: () => {} },
    modules: [...MODULES, ...modules],
    builtins: [...TEST_BUILTINS, stateBuiltin(() => state.world)],
  });
  host.counters.attach({
    add: (name) => {
      samples.push(name);
    },
    observe: (name) => {
      samples.push(name);
    },
  });
  const connected = new Map<string, ConnectedProvider>();
  for (const module of modules)
    connected.set(module.name, await connectProvider(module, {}, { log: host.log, now: () => 0 }));
  const base = decodeText('targets: []', 'yaml').config!;
  const enter = (world: World): void => {
    state.world = world;
    host.providers = new Map(
      world.targets.filter(({ isRegistered }) => isRegistered).map(({ key }) => [key, connected.get(key)!]),
    );
    host.services.catalog = { ...NO_CATALOG, tokenPrice: (key) => priceIn(world, key) };
  };
  return {
    samples,
    decide: async (world, place) => {
      enter(world);
      const config = placed(configOf(world, base), world, place);
      if (place === 'declared instances') host.providers = new Map();
      const problems = checkConfig(host, { config, problems: [], lineOf: () => undefined });
      const generation = await buildGeneration(host, config, 1);
      try {
        const question = questionOf(world);
        state.random = seeded(world.seed);
        const explanation = explain(generation, question, { services: host.services, registry: host.registry });
        state.random = seeded(world.seed);
        return { explanation, problems, ...(await walked(host, generation, question)) };
      } finally {
        await generation.dispose();
      }
    },
    explain: async (world) => {
      enter(world);
      const config = configOf(world, base);
      const problems = checkConfig(host, { config, problems: [], lineOf: () => undefined });
      const generation = await buildGeneration(host, config, 1);
      try {
        const question = questionOf(world);
        state.random = seeded(world.seed);
        const explanation = explain(generation, question, { services: host.services, registry: host.registry });
        state.random = seeded(world.seed);
        return { explanation, problems, ...routeOf(host, generation, question) };
      } finally {
        await generation.dispose();
      }
    },
  };
}

function moduleOf(name: string): ProviderModule {
  const { surfaces, takesAnyModel } = PROVIDERS[name]!;
  return defineProvider({
    name,
    wire: 'common',
    params: {},
    anyModel: takesAnyModel,
    connection: { env: [], baseUrl: ADDRESS },
    translators: commonTranslators(surfaces as Parameters<typeof commonTranslators>[0], {}),
  });
}

/** Says what the world says where breaker, tracker and a 429 would. */
const stateBuiltin = (current: () => World | undefined) =>
  defineBuiltin({
    name: 'world',
    apply: ({ hooks }) =>
      hooks.assemble.tapPromise('world', async ({ hooks: pipeline, carryover }) => {
        const world = current();
        const find = (key: string) => world?.targets.find((target) => target.key === key);
        pipeline.median.tap('world', (key) => find(key)?.medianMs);
        pipeline.circuit.tap('world', (key) => find(key)?.circuit);
        pipeline.route.tap({ name: 'world', stage: ORDER.routeEnds }, (ranked, exchange) => {
          rankedOf.set(
            exchange,
            ranked.filter(({ serves }) => serves).map(({ virtualKey }) => virtualKey),
          );
          return ranked;
        });
        pipeline.settled.tap('world', ({ exchange, target, upstreamModel, error }) =>
          attemptsOf.get(exchange)?.push(`${target.virtualKey} ${upstreamModel} ${error?.code}`),
        );
        for (const { key, isResting } of world?.targets ?? []) {
          const rest = carryover.lease(`rest ${key}`, () => ({ until: 0, why: '' }));
          Object.assign(rest, { until: isResting ? Infinity : 0, why: 'it rests' });
        }
      }),
  });

function priceIn(world: World, key: string) {
  const name = isInstanceCatalog(key) ? instanceCatalogOf(key).instance : key;
  const price = world.targets.find((target) => target.key === name)?.price;
  return price && { ...price, cacheRead: undefined, cacheWrite: undefined };
}

function configOf(world: World, base: GatewayConfig): GatewayConfig {
  return {
    ...base,
    aliases: { short: world.asked.model },
    strategy: {
      mode: world.mode,
      unpriced_strategy: world.unpriced,
      conditions: world.conditions,
      content_conditions: world.contentConditions,
      ab_variants: world.variants,
    },
    targets: world.targets.map(({ key, weight, models }) => ({ virtual_key: key, weight, models })),
  };
}

function placed(config: GatewayConfig, world: World, place: Place): GatewayConfig {
  if (place === 'group') return grouped(config, world.asked.model);
  return place === 'top level' ? config : declared(config, world);
}

/** What the environment registered is declared instead, by the same names. */
function declared(config: GatewayConfig, { targets }: World): GatewayConfig {
  const registered = targets.filter(({ isRegistered }) => isRegistered);
  return {
    ...config,
    providers: Object.fromEntries(registered.map(({ key }) => [key, { kind: key, base_url: ADDRESS }])),
  };
}

/** The strategy in one group that has all targets as routes; at the top level nothing would be tried. */
function grouped(config: GatewayConfig, name: string): GatewayConfig {
  const routes = config.targets.map(({ virtual_key: target, weight }) => ({
    target,
    ...(weight !== undefined && { weight }),
  }));
  return {
    ...config,
    strategy: {
      mode: 'conditional',
      conditions: [{ key: 'model', value: '', target_key: config.targets[0]?.virtual_key ?? '' }],
    },
    targets: config.targets.map((target) => ({ ...target, weight: 0, models: [] })),
    models: [{ name, routes, strategy: config.strategy }],
  };
}

/** Sends the request; the upstreams of these tests refuse the connection. */
async function walked(
  { services }: Host,
  generation: Generation,
  question: RouteQuestion,
): Promise<Omit<Decided, 'explanation' | 'problems'>> {
  const exchange = new LiveExchange({ ...question, id: '', clock: services.clock, principal: undefined, arrivedAt: 0 });
  const attempts: string[] = [];
  attemptsOf.set(exchange, attempts);
  let error: string | undefined;
  try {
    generation.hooks.prepare.call(exchange);
    await generation.runTurns(exchange);
  } catch (thrown) {
    const { code, message } = thrown as GatewayError;
    error = `${code}: ${message}`;
  }
  const order = rankedOf.get(exchange) ?? [];
  return { order, abLabel: exchange.abLabel, attempts, error };
}

const attemptsOf = new WeakMap<LiveExchange, string[]>();
const rankedOf = new WeakMap<LiveExchange, readonly string[]>();

/** Half of the worlds ask by the alias. */
function questionOf({ seed, asked }: World): RouteQuestion {
  const { surface, texts, maxTokens, images, metadata } = asked;
  const model = seed % 2 === 0 ? 'short' : asked.model;
  const messages = [{ role: 'system', content: '' }, ...texts.map((content) => ({ role: 'user', content }))];
  const body =
    surface === 'completions'
      ? { model, prompt: texts.join(''), max_tokens: maxTokens }
      : { model, messages, max_tokens: maxTokens, n: images };
  return readQuestion(surface, body, metadata);
}

function routeOf(
  { services }: Host,
  generation: Generation,
  question: RouteQuestion,
): { readonly route: readonly RouteTarget[]; readonly abLabel: string | undefined } {
  const exchange = new LiveExchange({ ...question, id: '', clock: services.clock, principal: undefined, arrivedAt: 0 });
  try {
    generation.hooks.prepare.call(exchange);
  } catch {
    return { route: [], abLabel: undefined };
  }
  const marked = generation.models.routeTargets(exchange.model, question.surface, question.streaming);
  return { route: generation.hooks.route.call(marked, exchange), abLabel: exchange.abLabel };
}
