import { type Fields, isFields } from 'gw/common-wire';

type Step = string | number;
type Container = Record<string, unknown> | unknown[];

/** Deeper arguments are refused: no function takes such. */
const MAX_STEPS = 64;

/**
 * The arguments of a function call that arrives in pieces, each a value and where it belongs: `{jsonPath: '$.to[0].name',
 * stringValue: 'Br', willContinue: true}`. Texts of one path are joined; a piece without a value ends its path, which stays
 * an empty list (`$.to[]`) or object where nothing came for it. Throws on what fits nowhere. Source: @google/genai 2.32.0,
 * "PartialArg"; docs.cloud.google.com, "Streaming function call arguments"; 2026-11-22.
 */
export class PartialArguments {
  readonly #root: Record<string, unknown>;

  constructor(given: Fields) {
    this.#root = { ...given };
  }

  get json(): string {
    return JSON.stringify(this.#root);
  }

  add(piece: unknown): void {
    if (!isFields(piece) || typeof piece['jsonPath'] !== 'string')
      throw new Error('a piece of arguments says not where it belongs');
    const { jsonPath, stringValue: text, willContinue } = piece;
    const isListEnd = jsonPath.endsWith('[]');
    const steps = stepsOf(isListEnd ? jsonPath.slice(0, -2) : jsonPath);
    const last = steps.pop();
    const value = valueOf(piece);
    if (last === undefined) {
      if (value !== undefined) throw new Error('a piece of arguments is not in an object');
      return;
    }
    const holder = this.#holderOf(steps, last);
    const before = memberOf(holder, last);
    if (typeof text === 'string' && typeof before === 'string') setMember(holder, last, before + text);
    else if (value !== undefined) setMember(holder, last, value);
    else if (before === undefined && willContinue !== true) setMember(holder, last, isListEnd ? [] : {});
  }

  /** What holds the last step; made where it is missing. */
  #holderOf(steps: readonly Step[], last: Step): Container {
    let holder: Container = this.#root;
    for (const [at, step] of steps.entries()) {
      const next = steps[at + 1] ?? last;
      let inner = memberOf(holder, step);
      if (inner === undefined) setMember(holder, step, (inner = typeof next === 'number' ? [] : {}));
      if (typeof inner !== 'object' || inner === null) throw new Error('a piece of arguments is inside a value');
      holder = inner as Container;
    }
    if (Array.isArray(holder) !== (typeof last === 'number'))
      throw new Error('a piece of arguments takes a list for an object');
    return holder;
  }
}

function memberOf(holder: Container, step: Step): unknown {
  return Object.hasOwn(holder, step) ? (holder as Record<Step, unknown>)[step] : undefined;
}

/** Keeps a member that is called `__proto__` a member, and lists without gaps. */
function setMember(holder: Container, step: Step, value: unknown): void {
  if (Array.isArray(holder) && (typeof step !== 'number' || step > holder.length))
    throw new Error('a piece of arguments leaves a gap in a list');
  Object.defineProperty(holder, step, { value, enumerable: true, configurable: true, writable: true });
}

/** `undefined` for a piece that holds none. */
function valueOf({ stringValue, numberValue, boolValue, nullValue }: Fields): unknown {
  const value = [stringValue, numberValue, boolValue].find((given) => given !== undefined && given !== null);
  return value ?? (nullValue === undefined ? undefined : null);
}

const STEP = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** The steps of a path as RFC 9535 writes those that lead to one value. */
function stepsOf(path: string): Step[] {
  const from = path.startsWith('$') ? path.slice(1) : `.${path}`;
  const steps: Step[] = [];
  const step = new RegExp(STEP);
  for (let at = 0; at < from.length; at = step.lastIndex) {
    step.lastIndex = at;
    const [, name, index, single, double] = step.exec(from) ?? [];
    const quoted = single ?? double;
    if (index !== undefined) steps.push(Number(index));
    else if (name !== undefined || quoted !== undefined) steps.push(name ?? (quoted ?? '').replaceAll(/\\(.)/g, '$1'));
    else throw new Error('a piece of arguments has a path that cannot be read');
    if (steps.length > MAX_STEPS) throw new Error(`a piece of arguments lies deeper than ${MAX_STEPS} steps`);
  }
  return steps;
}
