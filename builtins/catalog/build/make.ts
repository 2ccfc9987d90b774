import { readFileSync } from 'node:fs';
import type { CatalogEntry } from '../../../host/common/catalog.ts';
import { setMember } from '../../../host/contract/index.ts';
import { type EntryMap, readEntries } from '../entries.ts';
import { type DescribedModel, describedIds, describedModel } from './models.ts';
import { exactIds, type PricedModel, pricedModel, PRICES_DATE, pricingPage, toPricing } from './prices.ts';
import { readTiers, withTiers } from './tiers.ts';
import { HUGGING_FACE, isServed, type Source, SOURCES } from './sources.ts';

/** Rows and corrections by hand, each with the page it was read from. */
interface Curated {
  /** In the format of a catalog. */
  readonly entries: Readonly<Record<string, object>>;
  /** Facts of every row whose key the pattern matches; of two rules about one fact the later one counts. */
  readonly rules: readonly { readonly match: string; readonly source: string; readonly set: object }[];
}

interface PricedRow {
  readonly [fact: string]: unknown;
  readonly pricing: object;
}

type Rows = Record<string, object>;

export const CURATED_FILE = new URL('../curated.json', import.meta.url);

export const readCurated = (file: URL = CURATED_FILE): Curated => JSON.parse(readFileSync(file, 'utf8')) as Curated;

/** The text of `models.json`, the same for the same packages and curated file: one row a line, sorted, unknown facts left out. */
export function makeCatalog(curatedFile = CURATED_FILE): string {
  const curated = readCurated(curatedFile);
  const entries = withTiers(untiered(curated), readTiers(), linedByHand(curated));
  const lines = [...entries]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => `${JSON.stringify(key)}:${JSON.stringify(compact(entry))}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** Models whose lines were written by hand, all of them. */
export const linedByHand = ({ entries }: Curated): ReadonlySet<string> =>
  new Set(
    Object.entries(entries).flatMap(([key, { pricing }]: [string, { readonly pricing?: object }]) =>
      pricing && 'lines' in pricing ? [key] : [],
    ),
  );

/** The rows of the packages, with what is corrected by hand. */
export function untiered(curated: Curated): EntryMap {
  const rows: Rows = {};
  for (const source of SOURCES) addRows(rows, source);
  addHuggingFaceRows(rows);
  return withRules(checked(curated.entries, checked(rows)), curated.rules);
}

/** Reads rows as a gateway will; a mistake in them is ours. */
function checked(rows: Readonly<Record<string, object>>, base?: EntryMap): EntryMap {
  const { entries, malformed, ignored, doubled } = readEntries(rows, base);
  const wrong = [...malformed, ...ignored, ...doubled];
  if (wrong.length > 0) throw new Error(`unusable rows: ${wrong.join('; ')}`);
  return entries;
}

function withRules(entries: EntryMap, rules: Curated['rules']): EntryMap {
  return rules.reduce((known, { match, set }) => {
    const pattern = new RegExp(match);
    const keys = [...known.keys()].filter((key) => pattern.test(key));
    if (keys.length === 0) throw new Error(`no row matches the rule ${match}`);
    return checked(Object.fromEntries(keys.map((key) => [key, set])), known);
  }, entries);
}

function addRows(rows: Rows, source: Source): void {
  const { provider, prices, models = [], also = [], keep, drop } = source;
  const ids = [...describedIds(models), ...(prices === undefined ? [] : exactIds(prices)), ...also];
  for (const id of ids) {
    if (!keep.test(id) || drop?.test(id) || !isServed(id)) continue;
    const row = makeRow(
      id,
      describedModel(models, id),
      prices === undefined ? undefined : pricedModel(prices, id),
      prices,
    );
    if (row) setMember(rows, `${provider}/${id}`, row);
  }
}

/** A model by itself is routed to any of its providers: it has a price only where they all ask the same. */
function addHuggingFaceRows(rows: Rows): void {
  const offers = new Map<string, PricedRow[]>();
  for (const name of HUGGING_FACE) {
    const provider = `huggingface_${name}`;
    for (const id of new Set(exactIds(provider))) {
      const priced = pricedModel(provider, id);
      if (priced?.name === undefined) continue; // another name of a model that is listed
      const row = makeRow(id, undefined, priced, provider);
      if (row) setMember(rows, `hugging_face/${id}:${name}`, row);
      if (row) offers.set(id, [...(offers.get(id) ?? []), row]);
    }
  }
  for (const [id, [first, ...others]] of offers) {
    const isOnePrice = others.every(({ pricing }) => JSON.stringify(pricing) === JSON.stringify(first?.pricing));
    setMember(rows, `hugging_face/${id}`, {
      ...first,
      ...limitsOf(describedModel(['huggingface'], id)),
      ...(!isOnePrice && { pricing: {} }),
    });
  }
}

function limitsOf(described: DescribedModel | undefined): object {
  return described
    ? { max_output_tokens: described.maxOutputTokens, capabilities: { ...described.capabilities, streaming: true } }
    : {};
}

/** The price package is the newer one: what it says goes before the model package. */
function makeRow(
  id: string,
  described: DescribedModel | undefined,
  priced: PricedModel | undefined,
  prices: string | undefined,
): PricedRow | undefined {
  const mode = modeOf(id, described);
  if (!described && !priced) return undefined;
  const own = priced && Object.keys(priced.prices).length > 0 ? toPricing(mode, priced, prices ?? '') : undefined;
  const pricing = own ?? (mode === 'chat' ? described?.pricing : undefined) ?? {};
  const isFromPrices = priced !== undefined && prices !== undefined;
  return {
    display_name: described?.name ?? priced?.name ?? id,
    mode,
    context_window: priced?.contextWindow ?? described?.contextWindow ?? 0,
    max_output_tokens: described?.maxOutputTokens ?? 0,
    pricing,
    capabilities: {
      ...described?.capabilities,
      ...(mode === 'chat' && {
        streaming: true,
        ...(pricing.cache_read_per_m_tokens != null && { prompt_caching: true }),
      }),
    },
    lifecycle: { status: statusOf(id, priced) },
    source: isFromPrices ? pricingPage(prices) : (described?.page ?? ''),
    updated_at: isFromPrices ? PRICES_DATE : described?.date,
  };
}

const MODES: readonly (readonly [mode: string, ids: RegExp])[] = [
  ['rerank', /rerank/i],
  ['embedding', /embed|(^|\/)(bge|gte)-/i],
  ['audio_in', /whisper|transcribe|voxtral-mini-\d+$|voxtral-mini-latest/i],
  ['audio_out', /tts/i],
  ['image', /(^|\/)(gpt-image|dall-e|imagen|flux|stable-diffusion|grok-imagine)/i],
];

/** Models that answer with text as well as images are chat models: they are called on the chat route. */
function modeOf(id: string, described: DescribedModel | undefined): string {
  if (described?.outputs.length === 1 && described.outputs[0] === 'image') return 'image';
  return MODES.find(([, ids]) => ids.test(id))?.[0] ?? 'chat';
}

function statusOf(id: string, priced: PricedModel | undefined): string {
  if (priced?.isDeprecated) return 'deprecated';
  return /preview|-beta|-exp(-|$)|experimental/.test(id) ? 'preview' : 'ga';
}

/** A row without the values that a reader fills in by default; names sorted. */
function compact({
  provider: _provider,
  model_id,
  display_name,
  mode,
  context_window,
  max_output_tokens,
  pricing,
  capabilities,
  lifecycle,
  source,
  updated_at,
}: CatalogEntry): object {
  return {
    ...filled(
      'capabilities',
      keep(capabilities, (value) => value === true),
    ),
    ...(context_window > 0 && { context_window }),
    ...(display_name !== model_id && { display_name }),
    ...filled(
      'lifecycle',
      keep(lifecycle, (value) => value !== null && value !== 'ga'),
    ),
    ...(max_output_tokens > 0 && { max_output_tokens }),
    ...(mode !== 'chat' && { mode }),
    ...filled(
      'pricing',
      keep(pricing, (value) => value !== null),
    ),
    source,
    ...(updated_at !== '' && { updated_at }),
  };
}

function keep(facts: object, isKept: (value: unknown) => boolean): object {
  return Object.fromEntries(
    Object.entries(facts)
      .filter(([, value]) => isKept(value))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const filled = (name: string, facts: object): object => (Object.keys(facts).length > 0 ? { [name]: facts } : {});
