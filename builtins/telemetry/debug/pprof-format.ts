import { Message } from './protobuf.ts';

/** One place of a stack, as V8 tells it: lines count from 0. */
export interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** What a kind of sample counts, and in which unit. */
export type ValueType = readonly [type: string, unit: string];

/** One node of a tree of calls. */
export interface CallNode {
  readonly frame: Frame;
  /** Values of this node alone, one for each value type; all of them 0 for a node that only leads to others. */
  readonly values: readonly number[];
  readonly children: readonly CallNode[];
}

export interface ProfileFacts {
  readonly valueTypes: readonly ValueType[];
  /** What one step of the sampling is. */
  readonly period: number;
  readonly periodType: ValueType;
  /** Unix milliseconds. */
  readonly at: number;
  readonly durationMs: number;
}

/**
 * A profile in the format of pprof, not compressed. Numbers of fields: github.com/google/pprof, proto/profile.proto, read 2026-11-22.
 */
export function pprofBytes(root: CallNode, { valueTypes, period, periodType, at, durationMs }: ProfileFacts): Buffer {
  const strings = new Numbers<string>(0);
  strings.of('', '');
  const profile = new Message();
  const typed = ([type, unit]: ValueType): Message =>
    new Message().integer(1, strings.of(type, type)).integer(2, strings.of(unit, unit));
  for (const valueType of valueTypes) profile.message(1, typed(valueType));
  const places = new Places(strings);
  // Not by recursion: stacks may be as deep as the program's own.
  const open: { readonly node: CallNode; readonly stack: readonly number[] }[] = root.children.map((node) => ({
    node,
    stack: [],
  }));
  for (let next = open.pop(); next; next = open.pop()) {
    const stack = [places.of(next.node.frame), ...next.stack];
    if (next.node.values.some((value) => value > 0))
      profile.message(2, new Message().integers(1, stack).integers(2, next.node.values));
    for (const node of next.node.children) open.push({ node, stack });
  }
  places.write(profile);
  const period_ = typed(periodType);
  for (const text of strings.values) profile.text(6, text);
  return profile
    .integer(9, BigInt(Math.round(at)) * 1_000_000n)
    .integer(10, BigInt(Math.round(durationMs * 1e6)))
    .message(11, period_)
    .integer(12, period)
    .bytes();
}

/** Numbers things in the order in which they are first seen. */
class Numbers<T> {
  readonly values: T[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #first: number;

  constructor(first: number) {
    this.#first = first;
  }

  of(key: string, value: T): number {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    this.values.push(value);
    const number = this.#first + this.values.length - 1;
    this.#byKey.set(key, number);
    return number;
  }
}

/** Functions and places in them; both are numbered from 1. */
class Places {
  readonly #strings: Numbers<string>;
  readonly #frames = new Numbers<Frame>(1);

  constructor(strings: Numbers<string>) {
    this.#strings = strings;
  }

  of(frame: Frame): number {
    return this.#frames.of(`${frame.functionName}\0${frame.url}\0${frame.lineNumber}`, frame);
  }

  /** V8 tells where a function begins, and so each function has one place. */
  write(profile: Message): void {
    const text = (value: string): number => this.#strings.of(value, value);
    this.#frames.values.forEach(({ functionName, url, lineNumber }, at) => {
      const id = at + 1;
      const line = Math.max(lineNumber + 1, 0);
      const name = text(functionName || '(anonymous)');
      profile.message(4, new Message().integer(1, id).message(4, new Message().integer(1, id).integer(2, line)));
      profile.message(
        5,
        new Message().integer(1, id).integer(2, name).integer(3, name).integer(4, text(url)).integer(5, line),
      );
    });
  }
}
