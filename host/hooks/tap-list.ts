import { nameOfPlace } from './order.ts';

/** A hook as this list needs it; tapable's own types say less of a tap than it has. */
interface Tapped {
  readonly taps: readonly { readonly name: string; readonly stage?: number; readonly by?: string }[];
  intercept(interceptor: { register: (tap: never) => never }): void;
}

/** Hooks by name; a hook of which there is one per surface is a table itself. */
type Hooks = Readonly<Record<string, object>>;

/** One tap of a hook, in the order of its run. */
export interface ListedTap {
  readonly name: string;
  /** The constant of `ORDER`, or the bare number of a place without one; `undefined` for the usual place. */
  readonly stage: string | number | undefined;
  /** The builtin that tapped; `undefined` for the host itself. */
  readonly builtin: string | undefined;
}

export interface ListedHook {
  readonly hook: string;
  /** The class of tapable: how taps are called, and what ends them. */
  readonly kind: string;
  /** Surfaces whose hooks have just these taps; `undefined` where there is one hook for all. */
  readonly surfaces: readonly string[] | undefined;
  readonly taps: readonly ListedTap[];
}

/** From now on each new tap of the hooks notes who made it: what `by` says then. */
export function noteTaps(hooks: Hooks, by: () => string | undefined): void {
  for (const { tapped } of each(hooks))
    tapped.intercept({ register: (tap: object) => ({ ...tap, by: by() ?? (tap as { by?: string }).by }) as never });
}

/** Every hook with its taps, as they are declared. Of those per surface, surfaces with the same taps share an entry. */
export function listTaps(hooks: Hooks): readonly ListedHook[] {
  const entries = each(hooks).map(({ hook, surface, tapped }) => ({
    hook,
    surface,
    kind: tapped.constructor.name,
    taps: tapped.taps.map(({ name, stage = 0, by }) => ({
      name,
      stage: nameOfPlace(hook, stage) ?? (stage === 0 ? undefined : stage),
      builtin: by,
    })),
  }));
  const alike = Map.groupBy(entries, ({ hook, surface, taps }) =>
    JSON.stringify([hook, surface === undefined, taps.map(({ name, stage, builtin }) => [name, stage, builtin])]),
  );
  return alike
    .values()
    .flatMap(([first, ...more]) => {
      if (!first) return [];
      const { hook, kind, taps, surface } = first;
      const surfaces = surface === undefined ? undefined : [surface, ...more.flatMap((other) => other.surface ?? [])];
      return [{ hook, kind, surfaces, taps }];
    })
    .toArray();
}

interface Member {
  readonly hook: string;
  readonly surface: string | undefined;
  readonly tapped: Tapped;
}

function each(hooks: Hooks): readonly Member[] {
  return Object.entries(hooks).flatMap(([hook, one]): Member[] => {
    if (isTapable(one)) return [{ hook, surface: undefined, tapped: one }];
    const members = Object.entries(one as Readonly<Record<string, object>>);
    return members.flatMap(([surface, tapped]) => (isTapable(tapped) ? [{ hook, surface, tapped }] : []));
  });
}

const isTapable = (hook: object): hook is Tapped => 'taps' in hook && 'intercept' in hook;
