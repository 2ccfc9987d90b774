import { parseJson } from '../contract/index.ts';
import { CODE, stringEnd } from '../contract/json/json-shape.ts';

/** A member of an object whose name stood there before. */
export interface RepeatedMember {
  readonly name: string;
  /** Names of the members that it stands in, outermost first; lists have none. */
  readonly way: readonly string[];
  /** Where its name stands in the text. */
  readonly offset: number;
}

const MOST_GIVEN = 1000;

interface Open {
  /** The names of an object so far; `undefined` for a list. */
  readonly names: Set<string> | undefined;
  readonly name: string | undefined;
}

/**
 * Members of a valid JSON text whose name stands twice in one object, however it is escaped: a parser keeps the last of them in
 * silence. One pass over the text, because it may be as long as a body; the first thousand are given.
 */
export function repeatedMembers(text: string): RepeatedMember[] {
  const found: RepeatedMember[] = [];
  const open: Open[] = [];
  let name: string | undefined;
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CODE.quote) {
      const end = stringEnd(text, at);
      if (end < 0) return found;
      if (isName) {
        name = textOf(text.slice(at, end + 1));
        const names = open.at(-1)?.names;
        if (names?.has(name)) found.push({ name, way: open.flatMap((each) => each.name ?? []), offset: at });
        if (found.length === MOST_GIVEN) return found;
        names?.add(name);
        isName = false;
      }
      at = end;
    } else if (code === CODE.comma) isName = open.at(-1)?.names !== undefined;
    else if ((code & ~CODE.brace) === CODE.left) {
      isName = code !== CODE.left;
      open.push({ names: isName ? new Set() : undefined, name });
      name = undefined;
    } else if ((code & ~CODE.brace) === CODE.right) {
      open.pop();
      name = undefined;
      isName = false;
    }
  }
  return found;
}

function textOf(written: string): string {
  return written.includes('\\') ? (parseJson(written) as string) : written.slice(1, -1);
}
