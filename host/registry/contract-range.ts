/** A version of the contract: its generation, and what was added within it. */
type Version = readonly [generation: number, additions: number];

const VERSION = /^(\d{1,5})(?:\.(\d{1,5}|x|\*))?(?:\.[\dx*]+)?$/;

/** Whether a version lies in a range as npm writes them: `^1.2`, `1`, `>=1.1 <3`, `1 || 2`, `*`. `undefined` for a text that is not a range. */
export function isInRange(version: string, range: string): boolean | undefined {
  const asked = parse(version);
  const alternatives = range.split('||').map((one) => one.trim().split(/\s+/).map(comparator));
  if (!asked || alternatives.some((comparators) => comparators.includes(undefined))) return undefined;
  return alternatives.some((comparators) => comparators.every((holds) => holds?.(asked.version)));
}

type Comparator = (version: Version) => boolean;

function comparator(text: string): Comparator | undefined {
  if (text === '*' || text === '') return text === '*' ? () => true : undefined;
  const [, operator = '', rest = ''] = /^(\^|~|>=|<=|>|<|=)?(.+)$/.exec(text) ?? [];
  const parsed = parse(rest);
  if (!parsed) return undefined;
  const {
    version: [generation, additions],
    isWhole,
  } = parsed;
  const against = (version: Version): number => version[0] - generation || version[1] - additions;
  switch (operator) {
    case '^':
      return (version) => version[0] === generation && against(version) >= 0;
    case '>=':
      return (version) => against(version) >= 0;
    case '<':
      return (version) => against(version) < 0;
    case '>':
      return (version) => (isWhole ? version[0] > generation : against(version) > 0);
    case '<=':
      return (version) => (isWhole ? version[0] <= generation : against(version) <= 0);
    default:
      return (version) => (isWhole ? version[0] === generation : against(version) === 0); // `~1.2` too: within 1.2 nothing changes
  }
}

function parse(text: string): { readonly version: Version; readonly isWhole: boolean } | undefined {
  const [, generation, additions] = VERSION.exec(text) ?? [];
  if (generation === undefined) return undefined;
  const isWhole = additions === undefined || !/^\d/.test(additions);
  return { version: [Number(generation), isWhole ? 0 : Number(additions)], isWhole };
}
