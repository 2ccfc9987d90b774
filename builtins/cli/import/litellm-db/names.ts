/** Characters of a name in a path, and of one behind the beginning of a tag; room is left for a number behind it. */
const LONGEST = 48;

/** Names in paths, for things that people named: in lower case, each once. */
export class Slugs {
  readonly #taken = new Map<string, Set<string>>();
  /** Names that belong to something else, by the path above them. */
  readonly #reserved: ReadonlyMap<string, readonly string[]>;

  constructor(reserved: ReadonlyMap<string, readonly string[]> = new Map()) {
    this.#reserved = reserved;
  }

  /** A name that is free below `above`. A second one of a kind ends in `-2`. */
  of(name: string, above: string): string {
    const taken = this.#taken.get(above) ?? new Set(this.#reserved.get(above));
    this.#taken.set(above, taken);
    const slug = slugOf(name);
    let free = slug;
    for (let count = 2; taken.has(free); count += 1) free = `${slug}-${count}`;
    taken.add(free);
    return free;
  }
}

function slugOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, LONGEST)
    .replace(/-+$/, '');
  return plain === '' ? 'unnamed' : plain;
}
