import type { Atom, Fields, Meaning, Tool } from './meaning/meaning.ts';

/** A place where two bodies do not say the same; `undefined` on the side that says nothing there. */
export interface Difference {
  /** What differs, without the numbers of turns and tools: `settings.stop`, `turns.user.media.detail`, `tools.schema.items`. */
  readonly at: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** Everything in which the two do not say the same. */
export function differences(ours: Meaning, theirs: Meaning): Difference[] {
  return [
    ...ofFields('settings', ours.settings, theirs.settings),
    ...ofTools(ours.tools, theirs.tools),
    ...ofTurns(ours.turns, theirs.turns),
  ];
}

function ofFields(at: string, ours: Fields, theirs: Fields): Difference[] {
  return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].flatMap((name) =>
    ofValues(`${at}.${name}`, ours[name], theirs[name]),
  );
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const keyOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  ) ?? '';

/** Objects by their members, lists of one length by their items; anything else as it is. */
function ofValues(at: string, ours: unknown, theirs: unknown): Difference[] {
  if (keyOf(ours) === keyOf(theirs)) return [];
  if (isObject(ours) && isObject(theirs)) return ofFields(at, ours, theirs);
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length)
    return ours.flatMap((one, place) => ofValues(`${at}[]`, one, theirs[place]));
  return [{ at, ours, theirs }];
}

function ofTools(ours: readonly Tool[], theirs: readonly Tool[]): Difference[] {
  const [mine, other] = [
    new Map(ours.map((tool) => [tool.name, tool])),
    new Map(theirs.map((tool) => [tool.name, tool])),
  ];
  return [...new Set([...mine.keys(), ...other.keys()])].flatMap((name) => {
    const [left, right] = [mine.get(name), other.get(name)];
    return left && right ? ofFields('tools', left, right) : [{ at: 'tools', ours: left, theirs: right }];
  });
}

/** Atoms of one role and kind are the same thing said, in the longest order that both share; the rest is said by one side only. */
function ofTurns(ours: readonly Atom[], theirs: readonly Atom[]): Difference[] {
  const found: Difference[] = [];
  const lengths = sharedLengths(ours, theirs);
  let [a, b] = [0, 0];
  while (a < ours.length || b < theirs.length) {
    const [mine, other] = [ours[a], theirs[b]];
    const isShared = mine && other && kindOf(mine) === kindOf(other) && lengths[a]![b] === lengths[a + 1]![b + 1]! + 1;
    if (isShared) {
      found.push(...ofFields(`turns.${kindOf(mine)}`, mine, other));
      a += 1;
      b += 1;
    } else if (mine && (!other || lengths[a + 1]![b]! >= lengths[a]![b + 1]!)) {
      found.push({ at: `turns.${kindOf(mine)}`, ours: mine, theirs: undefined });
      a += 1;
    } else if (other) {
      found.push({ at: `turns.${kindOf(other)}`, ours: undefined, theirs: other });
      b += 1;
    }
  }
  return found;
}

const kindOf = ({ role, kind }: Atom): string => `${role}.${kind}`;

/** `[a][b]`: how many atoms the two share in order, from these on. */
function sharedLengths(ours: readonly Atom[], theirs: readonly Atom[]): number[][] {
  const lengths = Array.from({ length: ours.length + 1 }, () => Array.from({ length: theirs.length + 1 }, () => 0));
  for (let a = ours.length - 1; a >= 0; a -= 1) {
    for (let b = theirs.length - 1; b >= 0; b -= 1) {
      const row = lengths[a]!;
      row[b] =
        kindOf(ours[a]!) === kindOf(theirs[b]!)
          ? lengths[a + 1]![b + 1]! + 1
          : Math.max(lengths[a + 1]![b]!, row[b + 1]!);
    }
  }
  return lengths;
}

/** Whether a meaning says a value at a place that `differences` names. */
export function says({ settings, tools, turns }: Meaning, at: string, value: unknown): boolean {
  const [root = '', ...path] = at.split('.');
  const holders: readonly unknown[] =
    { settings: [settings], tools, turns: turns.filter((atom) => kindOf(atom) === path.slice(0, 2).join('.')) }[root] ??
    [];
  const rest = root === 'turns' ? path.slice(2) : path;
  return holders.some((holder) => valuesAt(holder, rest).some((found) => keyOf(found) === keyOf(value)));
}

function valuesAt(holder: unknown, [step, ...rest]: readonly string[]): readonly unknown[] {
  if (step === undefined) return [holder];
  const isList = step.endsWith('[]');
  const value = isObject(holder) ? holder[step.replaceAll('[]', '')] : undefined;
  const values = isList && Array.isArray(value) ? value : [value];
  return values.flatMap((one) => valuesAt(one, rest));
}
