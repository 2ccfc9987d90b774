/**
 * Cost of each shipped plugin for one chat request of 2 KB, beside the floor of `npm run bench`: `node test/bench/plugins.ts`. The
 * handlers of all stages alone, with an exchange of the host's; what making the exchange costs is taken off.
 */
import { fileURLToPath } from 'node:url';
import { MODULES } from '../../builtins/manifest.ts';
import { systemClock } from '../../host/common/clock.ts';
import { HostPrincipal } from '../../host/common/host-principal.ts';
import { readSettings } from '../../host/config/module-settings.ts';
import type {
  ChatReply,
  ChatRequest,
  PluginDeps,
  PluginHandlers,
  PluginModule,
  SharedState,
} from '../../host/contract/index.ts';
import { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { createMemoryState } from '../../host/state/shared-state.ts';
import { chatReply } from '../kit/upstream.ts';
import { floorUs } from './floor-cost.ts';

const REQUESTS = 20_000;
const ROUNDS = 5;

/** Settings that give every part of a plugin something to do; defaults where they are enough. */
const SETTINGS: Readonly<Record<string, object>> = {
  'word-filter': { blocked_words: ['nightfall', 'moonrise', 'sunset'] },
  'max-token': { max_input_length: 100_000 },
  'rate-limit': { requests_per_second: 1e9, key_rpm: 1e9, user_rpm: 1e9, tokens_per_minute: 1e12, key_tpm: 1e12 },
  budget: { spend_limit_usd: 1e9, input_per_m_tokens: 2.5, output_per_m_tokens: 10 },
  'request-logger': { persist: true },
  'regex-guard': { patterns: ['forbidden', 'secret[0-9]+'] },
  'schema-guard': { schema: { type: 'object' } },
};

const TEXT = 'The committee met on Tuesday and went through the figures of the third quarter line by line. ';
const REQUEST: ChatRequest = {
  model: 'm',
  max_tokens: 256,
  user: 'u-1',
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: TEXT.repeat(20) },
  ],
};
const REPLY = chatReply(TEXT.repeat(5)) as ChatReply;
const PRINCIPAL = new HostPrincipal({ id: 'key-1', name: 'bench', scopes: [] });

export interface PluginCost {
  readonly name: string;
  /** Microseconds of CPU for one request, of the best round. */
  readonly us: number;
}

export async function pluginCosts(requests = REQUESTS): Promise<PluginCost[]> {
  const none = await bestUs({}, requests);
  const costs: PluginCost[] = [];
  for (const module of MODULES.filter((each): each is PluginModule => each.kind === 'plugin')) {
    if (module.name === 'webhook') continue; // it waits for a service
    const settings = readSettings(module.settings, SETTINGS[module.name] ?? {});
    const us = await bestUs(await module.create(settings, depsOf(module.name)), requests);
    costs.push({ name: module.name, us: Math.max(0, us - none) });
  }
  return costs;
}

function depsOf(identity: string): PluginDeps {
  const nothing = (): void => {};
  const state: SharedState = createMemoryState(systemClock);
  return {
    identity,
    state,
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    redact: (text) => text,
    now: Date.now,
    random: Math.random,
    counters: { add: nothing, observe: nothing },
    carryover: { lease: (_key, create) => create() },
    ledger: (_name, bounds) => new MemoryLedger(bounds),
    prices: {
      tokenPrice: () => undefined,
      cost: () => undefined,
      highest: () => undefined,
      longestAnswer: () => undefined,
    },
    requestLog: { append: nothing, annotate: nothing },
    send: () => Promise.reject(new Error('nothing is sent')),
  };
}

async function bestUs(handlers: PluginHandlers, requests: number): Promise<number> {
  let best = Infinity;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let at = 0; at < requests; at += 1) await serve(handlers, at);
    const { user, system } = process.cpuUsage(before);
    if (round > 0) best = Math.min(best, (user + system) / requests); // the first one warms up
  }
  return best;
}

/** One request through all stages of a plugin; each is another one, so that a cache misses. */
async function serve(handlers: PluginHandlers, at: number): Promise<void> {
  const exchange = new LiveExchange({
    id: '0123456789abcdef0123456789abcdef',
    surface: 'chat',
    clock: systemClock,
    principal: PRINCIPAL,
    metadata: {},
    request: { ...REQUEST, seed: at },
    streaming: false,
    arrivedAt: 0,
  });
  const before = handlers.before_request?.(exchange);
  if (before instanceof Promise) await before;
  exchange.stage = 'after_request';
  exchange.reply = REPLY;
  exchange.measured.usage = REPLY.usage;
  const after = handlers.after_request?.(exchange);
  if (after instanceof Promise) await after;
  handlers.finished?.(exchange, 'success');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const line = (name: string, us: number): string => name.padEnd(18) + us.toFixed(2).padStart(10);
  const costs = await pluginCosts();
  const bare = await floorUs();
  console.log(
    ['plugin                µs/request', ...costs.map(({ name, us }) => line(name, us)), line('floor', bare)].join(
      '\n',
    ),
  );
  process.exit(0); // load generators and upstreams end with it
}
