import Joi from 'joi';
import {
  definePlugin,
  escapesOf,
  type Exchange,
  filterGuard,
  patternProblem,
  patternSet,
  type PatternSet,
  type PatternWatch,
  reject,
  type Steps,
  type TextFilter,
  texts,
  type Verdict,
} from 'gw/contract';
import { mayBeEscaped } from './_common/json-text.ts';
import { observe, stream, type StreamSettings } from './_common/settings.ts';
import { inTurnsFor, Pace } from './_common/turns.ts';

interface Settings extends StreamSettings {
  patterns: string[];
}

/** Refuses what matches one of the operator's patterns: RE2, so that no text makes a pattern slow. */
export default definePlugin<Settings>({
  name: 'regex-guard',
  type: 'guardrail',
  summary: 'Rejects texts that match a pattern of a linear-time dialect (RE2)',
  stages: ['before_request', 'after_request'],
  readsContent: ({ patterns }) => patterns.length > 0,
  needsBody: ({ patterns }) => patterns.length > 0,
  settings: Joi.object<Settings, true>({
    patterns: Joi.array()
      .items(Joi.string().custom(compiling))
      .meta({ compiled: 'RE2' })
      .default([])
      .description('patterns of the RE2 dialect, `(?i)` for any case; without any it does nothing'),
    observe,
    stream,
  }),
  create: ({ patterns, observe: isObserving, stream: mode }) => {
    const set = patternSet(patterns);
    const screen = (exchange: Exchange): ReturnType<typeof inTurnsFor> =>
      patterns.length > 0 ? inTurnsFor(exchange, screenTexts(exchange, set)) : undefined;
    const isWindow = mode === 'window' && !isObserving && patterns.length > 0;
    return {
      before_request: screen,
      after_request: screen,
      ...(isWindow && { stream: () => filterGuard(() => patternFilter(set), REASON) }),
    };
  },
});

const REASON = 'text matches a blocked pattern';

/** Most characters that are held of a text of which a match may still come. */
const MOST_HELD = 1024 * 1024;

function compiling(pattern: string, helpers: Joi.CustomHelpers): unknown {
  const why = patternProblem(pattern);
  return why === undefined
    ? pattern
    : helpers.message({ custom: '{{#label}} is not a pattern of the linear-time dialect (RE2): {{#why}}' }, { why });
}

function* screenTexts(exchange: Exchange, set: PatternSet): Steps<Verdict | undefined> {
  const pace = new Pace();
  for (const text of texts(exchange)) {
    if ((yield* set.search(text)) !== undefined) return reject(REASON);
    if (pace.isDue(text)) yield;
  }
  return undefined;
}

/** One text of a stream, as it is written and, where it may be JSON, as it reads: what no match can begin in any more may go on. */
function patternFilter(set: PatternSet): TextFilter {
  const written = set.watch();
  let read: Unescaped | undefined;
  let held = '';
  let passed = 0;
  let isBegun = false;
  const giveOut = (end: number): string => {
    const text = held.slice(0, Math.max(0, end - passed));
    held = held.slice(text.length);
    passed += text.length;
    return text;
  };
  const filter = (piece: string, isLast: boolean): string | undefined => {
    held += piece;
    written.push(piece);
    if (!isBegun && /\S/.test(held)) {
      isBegun = true;
      if (mayBeEscaped(held)) read = new Unescaped(set.watch());
      read?.push(held, passed);
    } else read?.push(piece, passed);
    if (isLast) {
      written.end();
      read?.watch.end();
    }
    if (written.matched !== undefined || read?.watch.matched !== undefined) return undefined;
    const isOver = isLast || held.length > MOST_HELD;
    return giveOut(isOver ? Infinity : Math.min(written.safe, read?.safe ?? written.safe));
  };
  return Object.assign(filter, { release: () => giveOut(Infinity) });
}

/** Watches a text without its JSON escapes, and tells places of the text as it is written. */
class Unescaped {
  readonly watch: PatternWatch;
  /** The end of a piece that may be the beginning of an escape. */
  #rest = '';
  #written = 0;
  #read = 0;
  /** Where the characters that are not safe yet stand in the written text, from number `#first` on. */
  #places: number[] = [];
  #first = 0;

  constructor(watch: PatternWatch) {
    this.watch = watch;
  }

  push(piece: string, begin: number): void {
    if (this.#read === 0 && this.#rest === '') this.#written = begin;
    const text = this.#rest + piece;
    const escapes = escapesOf(text);
    const end = escapes.places.at(-1) ?? text.length;
    for (let at = 0; at < escapes.text.length; at += 1) this.#places.push(this.#written + (escapes.places[at] ?? 0));
    this.#rest = text.slice(end);
    this.#written += end;
    this.#read += escapes.text.length;
    this.watch.push(escapes.text);
    const done = Math.min(this.watch.safe, this.#read) - this.#first;
    if (done > 0) this.#places = this.#places.slice(done);
    this.#first += Math.max(0, done);
  }

  /** The place in the written text up to which nothing can begin a match. */
  get safe(): number {
    return this.#places[0] ?? this.#written;
  }
}
