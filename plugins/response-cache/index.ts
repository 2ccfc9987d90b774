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
import { SharedAnswers } from './shared.ts';
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
  /** Tells other processes of this gateway; only where this one asks for all of them. */
  readonly landElsewhere?: ((isLeft: boolean) => void) | undefined;
}

function cache(
  { max_age, max_entries, max_bytes, collapse }: Settings,
  { identity, carryover, now, state }: PluginDeps,
): PluginHandlers {
  const shared =
    state.sharesValues === true && max_entries > 0 ? new SharedAnswers(state, identity, max_age * 1000) : undefined;
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
    if (flight) return wait(exchange, key, flight);
    return shared ? lookElsewhere(shared, exchange, key) : miss(exchange, key);
  };

  /** What this process does not have, another one may have, or be about to get. */
  const lookElsewhere = async (from: SharedAnswers, exchange: Exchange, key: string): Promise<Answer | undefined> => {
    waits.put(exchange, true);
    const found = await from.get(key, now());
    if (!waits.take(exchange)) return undefined;
    if (found) answers.set(key, found.kept, found.storedAt);
    const known = hit(exchange, found?.kept);
    if (known) return known;
    const flight = collapse ? flights.get(key) : undefined;
    if (flight) return wait(exchange, key, flight);
    miss(exchange, key);
    return collapse ? flyOrWait(from, exchange, key) : undefined;
  };

  /** The first of all processes asks the upstream; the first of each other one waits for it, and those behind it wait here. */
  const flyOrWait = async (from: SharedAnswers, exchange: Exchange, key: string): Promise<Answer | undefined> => {
    const flight = await from.flight(key);
    const missed = misses.get(exchange);
    if (!flight.landed) {
      if (missed) misses.put(exchange, { ...missed, landElsewhere: flight.land });
      else flight.land?.(true); // its client left meanwhile
      return undefined;
    }
    const isLeft = await flight.landed;
    if (!misses.get(exchange)) return undefined;
    if (isLeft) return flyOrWait(from, exchange, key);
    const found = await from.get(key, now());
    const known = found && misses.get(exchange) ? hit(exchange, found.kept) : undefined;
    if (!known || !found) return undefined;
    answers.set(key, found.kept, found.storedAt);
    const landing = misses.take(exchange);
    flights.delete(key);
    landing?.land?.(found.kept);
    return known;
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
      if (missed.landElsewhere || (kept && shared))
        void shared?.keep(missed, kept, { now: now(), isLeft: outcome === 'client_canceled' });
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
