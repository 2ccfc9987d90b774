import { atOnce, type Steps } from './in-turns.ts';
import { re2 } from './re2.ts';
import { requireSize } from './pattern-size.ts';

/**
 * What the library compiles a set of patterns to, as far as it is read here. Source: re2js 2.10,
 * `Inst.js`, `Prog.js`, `DFA.js`, 2026-11-22.
 */
interface Instruction {
  readonly op: number;
  readonly out: number;
  /**
   * The other way of a branch, the flags of an empty width, the number of the pattern that matches.
   */
  readonly arg: number;
  matchRune(rune: number): boolean;
}

interface Program {
  readonly inst: readonly Instruction[];
  readonly start: number;
}

interface State {
  readonly isMatch: boolean;
  /** In the order of the patterns. */
  readonly matchIDs: readonly number[];
  readonly next: readonly (State | null)[] | null;
}

/**
 * States are made as texts need them, within a bound of memory; `null` where that bound was met.
 */
interface Automaton {
  readonly numClasses: number;
  readonly latin1Class: Int32Array;
  runeClass(rune: number): number;
  start(input: { readonly context: () => number }, at: number): State | null;
  stepOrReset(
    state: State,
    cls: number,
    rune: number,
    anchor: number,
    at: number,
    search: { resetPos: number },
  ): State | null;
}

/** Patterns that are looked for together. */
export interface PatternSet {
  /**
   * The first listed pattern of those whose match ends first; `undefined` when none matches
   * anywhere in the text.
   */
  find(text: string): number | undefined;
  /** Finds what `find` does, in steps: for texts of any length. */
  search(text: string): Steps<number | undefined>;
  /** Looks at a text that arrives in pieces. */
  watch(): PatternWatch;
}

/** One text on its way. */
export interface PatternWatch {
  /** Number of the pattern that has matched; nothing may be fed any more. */
  readonly matched: number | undefined;
  /** Characters from the beginning of the text that no match can begin in any more. */
  readonly safe: number;
  /** Takes the next piece of the text; says which patterns have matched so far. */
  push(piece: string): void;
  /** Nothing follows. */
  end(): void;
}

const UNANCHORED = 0;
const END_OF_TEXT = -1;
const [BRANCH, BRANCH_TO_MATCH, CAPTURE, EMPTY_WIDTH, MATCH, NOTHING, FIRST_RUNE] = [1, 2, 3, 4, 6, 7, 8] as const;
const [BEGIN_LINE, END_LINE, BEGIN_TEXT, END_TEXT, WORD_BOUNDARY, NO_WORD_BOUNDARY] = [1, 2, 4, 8, 16, 32] as const;
const NEWLINE = 0x0a;

/**
 * Compiles RE2 patterns into one machine: looking for all of them takes time in proportion to the
 * text, as for one. Throws for the first that does not compile, and where all of them together
 * would be too large a machine; the library is loaded with the first set.
 */
export function patternSet(patterns: readonly string[]): PatternSet {
  requireSize(patterns);
  const { RE2Set } = re2();
  const set = new RE2Set();
  for (const pattern of patterns) set.add(pattern);
  set.compile();
  const automaton: Automaton = set.dfa;
  const program: Program = set.prog;
  let firsts: Firsts | undefined;
  const watch = (): Watch => new Watch(program, (firsts ??= { ofMatch: firstsOf(program) }));
  const search = (text: string): Steps<number | undefined> => searchIn(text, automaton, watch);
  return { find: (text) => atOnce(search(text)), search, watch };
}

/** Characters that are looked at before others may be served: by the automaton, and by all its ways. */
const STEP = 64 * 1024;
const SLOW_STEP = 256;

function* searchIn(text: string, automaton: Automaton, watch: () => Watch): Steps<number | undefined> {
  const search = new Search(text, automaton);
  for (let end = STEP; !search.run(end); end += STEP) yield;
  if (!search.hasGivenUp) return search.matched;
  const slow = watch(); // the automaton has no memory for all the states that such a text leads to
  for (let at = 0; at < text.length && slow.matched === undefined; at += SLOW_STEP) {
    slow.push(text.slice(at, at + SLOW_STEP));
    yield;
  }
  slow.end();
  return slow.matched;
}

/**
 * By the code of a character up to 255: 1 where a match can begin with it; `undefined` where one
 * may be empty.
 */
function firstsOf({ inst, start }: Program): Uint8Array | undefined {
  const firsts = new Uint8Array(256);
  const seen = new Set<number>([0]);
  const open = [start];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const instruction = inst[next];
    if (!instruction || seen.has(next)) continue;
    seen.add(next);
    if (instruction.op === MATCH) return undefined;
    if (instruction.op < FIRST_RUNE) open.push(instruction.out, ...(isBranch(instruction) ? [instruction.arg] : []));
    else
      for (let rune = 0; rune < firsts.length; rune += 1)
        if (instruction.matchRune(rune)) firsts.fill(1, rune, rune + 1);
  }
  return firsts;
}

const isBranch = ({ op }: Instruction): boolean => op === BRANCH || op === BRANCH_TO_MATCH;

interface Firsts {
  readonly ofMatch: Uint8Array | undefined;
}

const AT_BEGIN = { context: () => BEGIN_TEXT | BEGIN_LINE };

/** The library's own loop asks for each character by several calls. */
class Search {
  matched: number | undefined;
  /** The states of the automaton do not suffice. */
  hasGivenUp = false;
  readonly #text: string;
  readonly #automaton: Automaton;
  readonly #search = { resetPos: -1 };
  #state: State | null;
  #at = 0;

  constructor(text: string, automaton: Automaton) {
    this.#text = text;
    this.#automaton = automaton;
    this.#state = automaton.start(AT_BEGIN, 0);
  }

  /** Goes on up to this place; true once the search is over. */
  run(until: number): boolean {
    const automaton = this.#automaton;
    const text = this.#text;
    const search = this.#search;
    const { latin1Class } = automaton;
    const end = Math.min(until, text.length);
    let state = this.#state;
    let at = this.#at;
    for (; state !== null && at < end; at += 1) {
      let rune = text.charCodeAt(at);
      let cls: number;
      if (rune < 256) cls = latin1Class[rune] ?? 0;
      else {
        rune = text.codePointAt(at) ?? rune;
        cls = automaton.runeClass(rune);
      }
      state = state.next?.[cls] ?? automaton.stepOrReset(state, cls, rune, UNANCHORED, at, search);
      if (state?.isMatch) return this.#end(state);
      if (rune > 0xffff) at += 1;
    }
    this.#state = state;
    this.#at = at;
    if (state !== null && at < text.length) return false;
    return this.#end(
      state && automaton.stepOrReset(state, automaton.numClasses, END_OF_TEXT, UNANCHORED, text.length, search),
    );
  }

  #end(last: State | null): true {
    this.hasGivenUp = last === null;
    if (last?.isMatch) [this.matched] = last.matchIDs;
    return true;
  }
}

/**
 * Every way in which a match may go on, with where it began: of two at one instruction the earlier.
 */
class Watch implements PatternWatch {
  matched: number | undefined;
  safe = 0;
  readonly #program: Program;
  readonly #firsts: Uint8Array | undefined;
  readonly #seen: Uint32Array;
  #round = 0;
  #at = 0;
  #before = END_OF_TEXT;
  /** Half of a surrogate pair whose other half is still to come. */
  #half = '';
  /** Instructions and where their matches began, in the order of their beginnings. */
  #threads: number[] = [];

  constructor(program: Program, { ofMatch }: Firsts) {
    this.#program = program;
    this.#firsts = ofMatch;
    this.#seen = new Uint32Array(program.inst.length);
  }

  push(piece: string): void {
    let text = this.#half + piece;
    const last = text.charCodeAt(text.length - 1);
    this.#half = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : '';
    if (this.#half !== '') text = text.slice(0, -1);
    for (let at = 0; at < text.length && this.matched === undefined; at += 1) {
      const rune = text.codePointAt(at) ?? 0;
      this.#step(rune);
      if (rune > 0xffff) at += 1;
    }
  }

  end(): void {
    if (this.matched !== undefined) return;
    for (const half of this.#half) this.#step(half.charCodeAt(0));
    if (this.matched === undefined) this.#reach(END_OF_TEXT);
    this.safe = this.#at;
  }

  #step(rune: number): void {
    const { inst } = this.#program;
    if (this.#threads.length === 0 && this.#firsts?.[rune] === 0) {
      this.#before = rune;
      this.safe = this.#at += 1;
      return;
    }
    const reached = this.#reach(rune);
    const next: number[] = [];
    for (let at = 0; at < reached.length; at += 2) {
      const instruction = inst[reached[at] ?? 0];
      if (instruction?.matchRune(rune)) next.push(instruction.out, reached[at + 1] ?? 0);
    }
    this.#threads = next;
    this.#before = rune;
    this.#at += rune > 0xffff ? 2 : 1;
    this.safe = next[1] ?? this.#at;
  }

  /** The instructions that read a character next, from where the threads are and from the start. */
  #reach(rune: number): number[] {
    const { inst, start } = this.#program;
    const flags = flagsBetween(this.#before, rune);
    const reached: number[] = [];
    this.#round += 1;
    for (const [pc, began] of pairsOf(this.#threads, start, this.#at)) {
      const open = [pc];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        const instruction = inst[next];
        if (!instruction || next === 0 || this.#seen[next] === this.#round) continue;
        this.#seen.fill(this.#round, next, next + 1);
        const { op, out, arg } = instruction;
        if (op >= FIRST_RUNE) reached.push(next, began);
        else if (isBranch(instruction)) open.push(arg, out);
        else if (op === CAPTURE || op === NOTHING || (op === EMPTY_WIDTH && (arg & ~flags) === 0)) open.push(out);
        else if (op === MATCH) this.matched = Math.min(this.matched ?? arg, arg);
      }
    }
    return reached;
  }
}

function* pairsOf(
  threads: readonly number[],
  start: number,
  at: number,
): Generator<readonly [pc: number, began: number]> {
  for (let place = 0; place < threads.length; place += 2) yield [threads[place] ?? 0, threads[place + 1] ?? 0];
  yield [start, at];
}

/** What is true between two characters; `END_OF_TEXT` stands for none. */
function flagsBetween(before: number, after: number): number {
  let flags = isWord(before) === isWord(after) ? NO_WORD_BOUNDARY : WORD_BOUNDARY;
  if (before === END_OF_TEXT) flags |= BEGIN_TEXT | BEGIN_LINE;
  if (before === NEWLINE) flags |= BEGIN_LINE;
  if (after === END_OF_TEXT) flags |= END_TEXT | END_LINE;
  if (after === NEWLINE) flags |= END_LINE;
  return flags;
}

/** RE2 counts ASCII alone. */
function isWord(rune: number): boolean {
  return (rune >= 48 && rune <= 57) || (rune >= 65 && rune <= 90) || rune === 95 || (rune >= 97 && rune <= 122);
}
