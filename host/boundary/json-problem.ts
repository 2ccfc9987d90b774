import { isRawNumber } from '../contract/json/json-numbers.ts';
import { ANSWER_BOUNDS, MAX_DEPTH, TOO_DEEP } from '../contract/json/json-shape.ts';

/**
 * What keeps a value that a module made from being written as JSON, with the place; `undefined` when nothing does. Found where the module
 * returns it, so that no other part of the gateway fails over it later.
 */
export function jsonProblem(value: object): string | undefined {
  if ('toJSON' in value && typeof value.toJSON === 'function') return 'it has a toJSON of its own';
  return problemIn(value, [], { left: ANSWER_BOUNDS.containers });
}

type Path = (string | number)[];

function problemIn(value: unknown, path: Path, count: { left: number }): string | undefined {
  if (typeof value === 'bigint') return `${placeOf(path)} is a BigInt`;
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return undefined;
  if (path.length > MAX_DEPTH) return `${placeOf(path)} is ${TOO_DEEP}, or holds itself`;
  if ((count.left -= 1) < 0) return `it holds more than ${ANSWER_BOUNDS.containers} lists and objects`;
  if ('toJSON' in value && typeof value.toJSON === 'function') return undefined; // a date, an address, bytes: it writes itself
  if (Array.isArray(value)) return firstProblem(value.entries(), path, count);
  for (const name in value)
    if (Object.hasOwn(value, name)) {
      const problem = at(name, (value as Readonly<Record<string, unknown>>)[name], path, count);
      if (problem !== undefined) return problem;
    }
  return undefined;
}

function firstProblem(
  items: Iterable<readonly [number, unknown]>,
  path: Path,
  count: { left: number },
): string | undefined {
  for (const [index, item] of items) {
    const problem = at(index, item, path, count);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function at(step: string | number, value: unknown, path: Path, count: { left: number }): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return undefined;
  path.push(step);
  const problem = problemIn(value, path, count);
  path.pop();
  return problem;
}

/** Steps of a path that are shown: of a long one the beginning says enough. */
const SHOWN = 8;

function placeOf(path: Path): string {
  const shown = path
    .slice(0, SHOWN)
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('');
  return path.length > SHOWN ? `${shown}…` : shown;
}
