import Joi from 'joi';
import {
  answer,
  type Answer,
  type ChatReply,
  definePlugin,
  type Exchange,
  type ExchangeOutcome,
  ExchangeNote,
  type PluginDeps,
  type PluginHandlers,
  type Stage,
  type StageProblem,
} from 'gw/contract';
import { keyOf } from './key.ts';
import { AnswerStore, keep, type Kept, replyOf } from './store.ts';

interface Settings {
  readonly max_age: number;
  readonly max_entries: number;
  readonly max_bytes: number;
  readonly collapse: boolean;
}

const MIB = 1024 * 1024;

/** Gives the answer of an earlier request to an identical one of the same credential. */
export default definePlugin<Settings>({
  name: 'response-cache',
  type: 'transform',
  keepsModel: true,
  summary: 'Answers identical chat requests from memory, scoped per credential',
  stages: ['before_request', 'after_request'],
  surfaces: ['chat', 'completions', 'messages', 'generate_content', 'responses.translated'],
  settings: Joi.object<Settings, true>({
    max_age: Joi.number().min(0).default(300).description('seconds for which an answer is given again'),
    max_entries: Joi.number().integer().default(1000).description('most answers that are kept; 0 or less keeps none'),
    max_bytes: Joi.number()
      .integer()
      .min(0)
      .default(64 * MIB)
      .description('most bytes of all answers together; a larger one is not kept'),
    collapse: Joi.boolean()
      .default(false)
      .description("whether identical requests in flight wait for the first one's answer"),
  }),
  checkStages,
  create: cache,
});

function checkStages(stages: readonly Stage[]): StageProblem | undefined {
  const missing = (['before_request', 'after_request'] as const).filter((stage) => !stages.includes(stage));
  if (missing.length === 0) return undefined;
  return {
    message: `must be listed at before_request and after_request; ${missing.join(' and ')} is missing`,
    fix: `list it at ${missing.join(' and ')} too`,
  };
}

/** What goes on over a configuration change: the answers, and the calls that others wait for. */
interface Memory {
  readonly answers: AnswerStore;
  /** The first of identical calls in flight. */
  readonly flights: Map<string, Promise<Landed>>;
}

/** What the first of identical calls has brought: an answer, nothing that others may have, or nothing because its client left. */
type Landed = Kept | 'left' | undefined;

/** A request that was not answered from memory. */
interface Miss {
  readonly key: string;
  /** Tells those that wait; only of the first of identical calls. */
  readonly land: ((landed: Landed) => void) | undefined;
}

function cache(
  { max_age, max_entries, max_bytes, collapse }: Settings,
  { identity, carryover, now }: PluginDeps,
): PluginHandlers {
  const { answers, flights } = carryover.lease<Memory>(`answers of ${identity}`, () => ({
    answers: new AnswerStore({ maxAgeMs: max_age * 1000, maxEntries: max_entries, maxBytes: max_bytes }),
    flights: new Map(),
  }));
  const misses = new ExchangeNote<Miss>();
  const waits = new ExchangeNote<true>();

  const miss = (exchange: Exchange, key: string): undefined => {
    exchange.setHeader('X-Gateway-Cache', 'miss');
    const isFirst = collapse && !flights.has(key);
    const flight = isFirst ? Promise.withResolvers<Landed>() : undefined;
    if (flight) flights.set(key, flight.promise);
    misses.put(exchange, { key, land: flight?.resolve });
  };

  const look = (exchange: Exchange): Answer | undefined | Promise<Answer | undefined> => {
    if (exchange.answeredBy !== undefined) return undefined;
    const key = keyOf(exchange);
    const known = hit(exchange, answers.get(key, now()));
    if (known) return known;
    const flight = collapse ? flights.get(key) : undefined;
    return flight ? wait(exchange, key, flight) : miss(exchange, key);
  };

  /** Waits for the call of another request. Where the client of that one leaves, one of those that wait takes its place. One whose own request has ended by then would be waited for in vain. */
  const wait = async (exchange: Exchange, key: string, flight: Promise<Landed>): Promise<Answer | undefined> => {
    waits.put(exchange, true);
    const landed = await flight;
    if (!waits.take(exchange)) return undefined;
    return landed === 'left' ? look(exchange) : (hit(exchange, landed) ?? miss(exchange, key));
  };

  return {
    before_request: look,
    /** Keeps nothing yet, since a later plugin may withhold the answer: see `finished`. */
    after_request: () => {},
    finished: (exchange, outcome) => {
      waits.take(exchange);
      const missed = misses.take(exchange);
      if (!missed) return;
      const kept = worthKeeping(exchange, outcome);
      if (kept) answers.set(missed.key, kept, now());
      if (!missed.land) return;
      flights.delete(missed.key);
      missed.land(kept ?? (outcome === 'client_canceled' ? 'left' : undefined));
    },
  };
}

function hit(exchange: Exchange, kept: Kept | undefined): Answer | undefined {
  const reply = kept && replyOf(kept);
  if (!reply) return undefined;
  exchange.setHeader('X-Gateway-Cache', 'hit');
  return answer(reply, { reportedModel: kept.reportedModel });
}

/** What failed, what another plugin answered and what belongs to one request alone is not given to others. */
function worthKeeping(exchange: Exchange, outcome: ExchangeOutcome): Kept | undefined {
  const { answeredBy, isPrivate, reply, reportedModel } = exchange;
  if (outcome !== 'success' || answeredBy !== undefined || isPrivate || !reply) return undefined;
  return keep(reply as ChatReply, reportedModel);
}
