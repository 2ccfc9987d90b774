import Joi from 'joi';
import {
  atOnce,
  definePlugin,
  type Exchange,
  type Log,
  messageTexts,
  reject,
  type Steps,
  type StreamGuard,
  type Verdict,
  windowGuard,
} from 'gw/contract';
import { observe, stream, type StreamSettings } from './_common/settings.ts';
import { inTurnsFor, Pace } from './_common/turns.ts';

interface Settings extends StreamSettings {
  blocked_words: string[];
  case_sensitive: boolean;
}

type Screened = ReturnType<typeof inTurnsFor>;

const REQUEST_REASON = 'request blocked by content policy';
const RESPONSE_REASON = 'response blocked by content policy';

/** Refuses messages, and answers at `after_request`, that hold a blocked word anywhere, also inside other words. */
export default definePlugin<Settings>({
  name: 'word-filter',
  type: 'guardrail',
  summary: 'Rejects blocked words by substring match; also screens the response at after_request',
  stages: ['before_request', 'after_request'],
  refusesUnreadable: true,
  readsContent: ({ blocked_words, observe }) => blocked_words.length > 0 && !observe,
  needsBody: ({ blocked_words }) => blocked_words.length > 0,
  settings: Joi.object<Settings, true>({
    blocked_words: Joi.array()
      .items(Joi.string().allow(''))
      .default([])
      .description('words that are found anywhere in a text, inside other words too; without any it does nothing'),
    case_sensitive: Joi.boolean().default(false).description('whether upper and lower case differ'),
    observe,
    stream,
  }),
  create: (settings, { log }) => {
    const matcher = createMatcher(settings.blocked_words, settings.case_sensitive);
    return {
      before_request: (exchange) => screenRequest(exchange, matcher, log),
      after_request: (exchange) => screen(exchange, matcher, log, RESPONSE_REASON),
      ...(settings.stream === 'window' && {
        stream: (exchange: Exchange) => guardStream(exchange, settings, matcher, log),
      }),
    };
  },
});

function screenRequest(exchange: Exchange, matcher: Matcher, log: Log): Screened {
  if (exchange.unreadable && matcher.longest > 0) return reject(`${REQUEST_REASON}: content is not inspectable text`);
  return screen(exchange, matcher, log, REQUEST_REASON);
}

function screen(exchange: Exchange, matcher: Matcher, log: Log, reason: string): Screened {
  return matcher.longest === 0 ? undefined : inTurnsFor(exchange, look(exchange, matcher, log, reason));
}

function* look(exchange: Exchange, matcher: Matcher, log: Log, reason: string): Steps<Verdict | undefined> {
  const pace = new Pace();
  for (const text of messageTexts(exchange)) {
    if (yield* isBlocked(text, exchange, matcher, log)) return reject(reason);
    if (pace.isDue(text)) yield;
  }
  return undefined;
}

/** Holds back one character less than the longest word, so that no part of one is delivered. */
function guardStream(exchange: Exchange, { observe }: Settings, matcher: Matcher, log: Log): StreamGuard | undefined {
  if (observe || matcher.longest === 0) return undefined;
  return windowGuard(
    (text) => ({ isMatch: atOnce(isBlocked(text, exchange, matcher, log)), keep: matcher.longest - 1 }),
    RESPONSE_REASON,
  );
}

/** The word goes to the log and never to the caller. */
function* isBlocked(text: string, { id, stage }: Exchange, matcher: Matcher, log: Log): Steps<boolean> {
  const word = yield* matcher.find(text);
  if (word !== undefined) log.info('word-filter: blocked request', { matched_word: word, stage, trace_id: id });
  return word !== undefined;
}

/** Finds words by plain substring match. */
interface Matcher {
  /** Characters of the longest word; 0 without words. */
  readonly longest: number;
  /** The first listed word that the text holds, as it is written in the settings. */
  find(text: string): Steps<string | undefined>;
}

function createMatcher(words: readonly string[], isCaseSensitive: boolean): Matcher {
  const fold = (text: string): string => (isCaseSensitive ? text : text.toLowerCase());
  const folded = words.filter((word) => word !== '').map((word) => ({ word, needle: fold(word) }));
  return {
    longest: folded.reduce((most, { needle }) => Math.max(most, needle.length), 0),
    *find(text) {
      const haystack = fold(text);
      const pace = new Pace();
      for (const { word, needle } of folded) {
        if (haystack.length < LARGE ? haystack.includes(needle) : yield* includes(haystack, needle)) return word;
        if (pace.isDue(haystack)) yield;
      }
      return undefined;
    },
  };
}

/** Characters from which on a text is searched piece by piece. */
const LARGE = 1024 * 1024;

function* includes(haystack: string, needle: string): Steps<boolean> {
  for (let at = 0; at < haystack.length; at += LARGE) {
    if (haystack.slice(at, at + LARGE + needle.length - 1).includes(needle)) return true;
    yield;
  }
  return false;
}
