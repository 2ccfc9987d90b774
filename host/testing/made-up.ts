import { replyHeaderProblem } from '../boundary/headers.ts';
import { deepFrozen } from '../common/deep-frozen.ts';
import { MemoryLedger } from '../state/memory-ledger.ts';
import {
  type ChatRequest,
  type Exchange,
  type Log,
  type PluginDeps,
  setMember,
  type SharedState,
  type StrategyDeps,
} from '../contract/index.ts';

/** What a test says of an exchange; the rest is made up. */
export type ExchangeFacts = { readonly [Field in keyof Exchange]?: Exchange[Field] };

/** What a module said to what surrounds it. */
export interface Heard {
  readonly log: { readonly level: keyof Log; readonly message: string; readonly attributes: object }[];
  readonly counted: { readonly name: string; readonly value: number; readonly labels: object }[];
  readonly headers: Record<string, string>;
}

/** A copy of plain data; functions and bytes in it stay the same ones. */
export function copied<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => copied(item)) as T;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member as unknown)])) as T;
}

const REQUEST: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

/** One exchange of chat, unless the facts say otherwise; request and reply are frozen at every depth. */
export function madeUpExchange(facts: ExchangeFacts = {}, heard?: Heard): Exchange {
  const request = deepFrozen(copied(facts.request ?? REQUEST));
  let isPrivate = false;
  return {
    id: '0123456789abcdef0123456789abcdef',
    surface: 'chat',
    stage: 'before_request',
    startedAt: 1_700_000_000_000,
    principal: undefined,
    metadata: {},
    user: (request as { readonly user?: string } | undefined)?.user,
    model: (request as { readonly model?: string } | undefined)?.model ?? 'm',
    streaming: (request as { readonly stream?: boolean } | undefined)?.stream === true,
    unreadable: false,
    error: undefined,
    answeredBy: undefined,
    target: undefined,
    provider: undefined,
    upstreamModel: undefined,
    attempts: 0,
    decision: undefined,
    placement: undefined,
    tunnel: undefined,
    abLabel: undefined,
    usage: undefined,
    measurements: { durationMs: 1, ttftMs: undefined, costUsd: undefined },
    signal: new AbortController().signal,
    deliveredText: () => '',
    reportedModel: undefined,
    cache: undefined,
    catalogVersion: undefined,
    get isPrivate() {
      return isPrivate;
    },
    keepPrivate: () => {
      isPrivate = true;
    },
    needsPrice: () => {},
    setHeader: (name, value) => {
      const problem = replyHeaderProblem(name, value);
      if (problem !== undefined) throw new TypeError(`setHeader: ${problem}`);
      if (heard) setMember(heard.headers, name.toLowerCase(), value);
    },
    ...facts,
    request,
    reply: deepFrozen(copied(facts.reply)),
  };
}

export const nothingHeard = (): Heard => ({ log: [], counted: [], headers: {} });

function listeningLog({ log }: Heard): Log {
  const at =
    (level: keyof Log) =>
    (message: string, attributes: object = {}): void => {
      log.push({ level, message, attributes });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Surroundings of a plugin: time stands still, nothing is priced, there is no network; replace what a test needs. */
export function madeUpPluginDeps(heard: Heard = nothingHeard(), more: Partial<PluginDeps> = {}): PluginDeps {
  const count = (name: string, labels: object, value: number): void => {
    heard.counted.push({ name, value, labels });
  };
  return {
    log: listeningLog(heard),
    now: () => 1_700_000_000_000,
    random: () => 0.5,
    carryover: madeUpCarryover(),
    state: madeUpState(),
    counters: {
      add: (name: string, labels: object = {}, by = 1) => count(name, labels, by),
      observe: (name: string, value: number, labels: object = {}) => count(name, labels, value),
    },
    prices: {
      tokenPrice: () => undefined,
      cost: () => undefined,
      highest: () => undefined,
      longestAnswer: () => undefined,
    },
    identity: 'made up',
    redact: (text) => text,
    ledger: madeUpLedgers(),
    send: () => Promise.reject(new Error('there is no network here: give the plugin a send of your own')),
    requestLog: undefined,
    ...more,
  };
}

/** Surroundings of a strategy: nothing has been measured, nothing is priced. */
export function madeUpStrategyDeps(more: Partial<StrategyDeps> = {}): StrategyDeps {
  return {
    log: listeningLog(nothingHeard()),
    now: () => 1_700_000_000_000,
    carryover: madeUpCarryover(),
    medianMs: () => undefined,
    price: () => undefined,
    random: () => 0.5,
    ...more,
  };
}

function madeUpCarryover(): StrategyDeps['carryover'] {
  const kept = new Map<string, unknown>();
  return {
    lease: <T>(key: string, create: () => T): T => {
      if (!kept.has(key)) kept.set(key, create());
      return kept.get(key) as T;
    },
  };
}

function madeUpLedgers(): PluginDeps['ledger'] {
  const ledgers = new Map<string, MemoryLedger>();
  return (name, bounds) => {
    const ledger = ledgers.get(name) ?? new MemoryLedger(bounds);
    ledgers.set(name, ledger);
    return ledger;
  };
}

/** Buckets never refill, as time stands still. */
function madeUpState(): SharedState {
  const left = new Map<string, number>();
  const sums = new Map<string, number>();
  const values = new Map<string, Uint8Array>();
  return {
    take: async (key, { burst }, cost, floor = cost) => {
      const now = left.get(key) ?? burst;
      if (now < floor) return { taken: false, retryAfterMs: 1000 };
      left.set(key, now - cost);
      return { taken: true, retryAfterMs: 0 };
    },
    add: async (key, by) => {
      sums.set(key, (sums.get(key) ?? 0) + by);
      return sums.get(key) ?? 0;
    },
    get: async (key) => {
      const found = values.get(key);
      return found && Uint8Array.from(found);
    },
    set: async (key, value) => {
      values.set(key, typeof value === 'string' ? new TextEncoder().encode(value) : Uint8Array.from(value));
    },
    delete: async (key) => {
      values.delete(key);
      sums.delete(key);
    },
  };
}
