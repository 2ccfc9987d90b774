/** One sample of a scrape. */
export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface ScrapedFamily {
  help: string;
  type: string;
  readonly samples: ScrapedSample[];
}

export type Scrape = ReadonlyMap<string, ScrapedFamily>;

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/**
 * Reads the text format of metrics, apart from what writes it, and refuses what promtool would: families that come apart, samples
 * without a type, the same series twice, counters whose name does not say so, buckets that do not ascend or disagree with the count.
 */
export function parseScrape(text: string): Scrape {
  const families = new Map<string, ScrapedFamily>();
  let current: [string, ScrapedFamily] | undefined;
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(name)) throw new Error(`${name} comes in two parts`);
      current = [name, { help: rest, type: '', samples: [] }];
      families.set(...current);
    } else if (keyword === 'TYPE') {
      if (current?.[0] !== name || current[1].type !== '') throw new Error(`a type without its help: ${line}`);
      current[1].type = rest;
    } else if (!line.startsWith('#')) {
      if (!current) throw new Error(`a sample without a type: ${line}`);
      current[1].samples.push(sampleOf(line, ...current));
    }
  }
  for (const [name, family] of families) lint(name, family);
  return families;
}

function sampleOf(line: string, family: string, { type }: ScrapedFamily): ScrapedSample {
  const [, name = '', , pairs = '', number = ''] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? ([^ ]+)$/.exec(line) ?? [];
  if (!(SUFFIXES[type] ?? ['']).some((suffix) => name === family + suffix))
    throw new Error(`not a sample of ${family}: ${line}`);
  const labels: Record<string, string> = {};
  let rest = pairs;
  while (rest !== '') {
    const [found = '', label = '', value = ''] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/.exec(rest) ?? [];
    if (found === '' || label in labels) throw new Error(`not labels: ${line}`);
    labels[label] = value.replace(/\\(.)/g, (_escape, character: string) => (character === 'n' ? '\n' : character));
    rest = rest.slice(found.length);
  }
  const value = number === '+Inf' ? Infinity : Number(number);
  if (Number.isNaN(value) && number !== 'NaN') throw new Error(`not a number: ${line}`);
  return { name, labels, value };
}

function lint(name: string, { help, type, samples }: ScrapedFamily): void {
  if (help === '') throw new Error(`${name} has no help`);
  if (!/^(counter|gauge|histogram|summary)$/.test(type)) throw new Error(`${name} is a ${type}`);
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`the counter ${name} does not end in _total`);
  if (type !== 'counter' && name.endsWith('_total')) throw new Error(`${name} is not a counter`);
  const keys = samples.map((sample) => `${sample.name} ${keyOf(sample.labels)}`);
  if (new Set(keys).size < keys.length) throw new Error(`${name} has the same series twice`);
  if (type === 'histogram')
    for (const each of Map.groupBy(samples, ({ labels }) => keyOf({ ...labels, le: '' })).values())
      lintHistogram(name, each);
}

function lintHistogram(name: string, samples: readonly ScrapedSample[]): void {
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
  const bounds = buckets.map(({ labels: { le = '' } }) => (le === '+Inf' ? Infinity : Number(le)));
  const [count, sum] = ['_count', '_sum'].map((suffix) => samples.find((sample) => sample.name === name + suffix));
  if (!count || !sum) throw new Error(`${name} has no count or no sum`);
  if (bounds.some((bound, at) => at > 0 && bound <= bounds[at - 1]!))
    throw new Error(`the bounds of ${name} do not ascend`);
  if (buckets.some(({ value }, at) => at > 0 && value < buckets[at - 1]!.value))
    throw new Error(`the buckets of ${name} do not hold the ones before them`);
  if (bounds.at(-1) !== Infinity || buckets.at(-1)!.value !== count.value)
    throw new Error(`the last bucket of ${name} is not its count`);
}

/** The key of labels, in whatever order they came. */
const keyOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map((pair) => pair.join('='))
    .toSorted()
    .join(' ');

/** Values of one figure, by its labels as `name=value` in the order of their names. */
export function valuesOf(scrape: Scrape, name: string): Record<string, number> {
  const family = [...scrape].find(
    ([each, { type }]) => each === name || (SUFFIXES[type] ?? []).some((suffix) => each + suffix === name),
  );
  const samples = (family?.[1].samples ?? []).filter((sample) => sample.name === name);
  return Object.fromEntries(samples.map(({ labels, value }) => [keyOf(labels), value]));
}
