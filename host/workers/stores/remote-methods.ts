import type { Channel } from '../channel.ts';
import type { PrimaryTeam } from '../team.ts';

type Method = (...args: readonly unknown[]) => unknown;

/** What is called of a thing in another process. */
type NamesOf<T> = readonly (keyof T & string)[];

/** A thing of the primary, as a worker calls it: these methods of it, each with a promise. Arguments and answers travel as copies. */
export function remoteMethods<T extends object>(channel: Channel, of: string, names: NamesOf<T>): T {
  return Object.fromEntries(
    names.map((name) => [name, (...args: readonly unknown[]) => channel.ask(`${of}.${name}`, args)]),
  ) as T;
}

/** Lets workers call these methods of a thing. `thing` is asked each time: a place may be filled later. */
export function serveMethods<T extends object>(
  team: PrimaryTeam,
  of: string,
  { names, thing }: { readonly names: NamesOf<T>; readonly thing: () => T },
): void {
  for (const name of names)
    team.on(`${of}.${name}`, (args) => {
      const target = thing();
      return (target[name] as Method).apply(target, [...(args as readonly unknown[])]);
    });
}
