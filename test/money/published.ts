/** Vendors that bill as their pages say. What is due is computed here, of the fixture alone, in whole numbers. */
import { readFileSync } from 'node:fs';
import type { Dice } from '../kit/random.ts';

interface Row {
  /** It holds for prompts of more tokens than this, and of fewer than that. */
  readonly above?: number;
  readonly below?: number;
  readonly tier?: string;
  readonly from?: string;
  /** UTC. */
  readonly hours?: readonly [string, string];
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  readonly written?: number;
  readonly long?: number;
}

export interface Published {
  readonly provider: string;
  readonly model: string;
  readonly wire: 'common' | 'anthropic' | 'gemini' | 'cohere';
  readonly page: string;
  readonly read: string;
  readonly rows: readonly Row[];
  /** US dollars of a search, of a question, of a call by how much it reads. */
  readonly search?: number;
  readonly query?: number;
  readonly fee?: Readonly<Record<string, number>>;
}

interface Fixture {
  readonly models: readonly Published[];
  readonly not_found: readonly string[];
  readonly differences: readonly string[];
}

export const PUBLISHED: Fixture = JSON.parse(
  readFileSync(new URL('../fixtures/prices/published.json', import.meta.url), 'utf8'),
);

export interface Use {
  /** All that was read, with what came from a cache; without what was written to one. */
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
  readonly long: number;
  readonly completion: number;
  readonly tier: string;
  readonly searches: number;
  readonly size: string;
}

/** A use that the page has a price for. */
export function useOf(dice: Dice, { rows, search, query, fee }: Published): Use {
  const tier = dice.pick([...new Set(rows.map((row) => row.tier ?? ''))]);
  const ofTier = rows.filter((row) => (row.tier ?? '') === tier);
  const edges = rows.flatMap(({ above, below }) => [above ?? [], below ?? []].flat());
  const most = Math.max(...ofTier.map(({ below = 900_000 }) => below - 1));
  const around = edges.flatMap((edge) => [edge - 1, edge, edge + 1]);
  const prompt = Math.max(1, Math.min(most, dice.pick([dice.below(3000), dice.below(100_000), ...around])));
  const hasCache = ofTier.every(({ cached }) => cached !== undefined);
  const written = ofTier.every((row) => row.written !== undefined) ? dice.pick([0, dice.below(5000)]) : 0;
  const edge = edges.length > 0 ? 0 : written; // written tokens count for the length, and would pass an edge
  return {
    prompt,
    cached: hasCache ? dice.pick([0, dice.below(prompt + 1)]) : 0,
    written: edge,
    long: dice.pick([0, edge, dice.below(edge + 1)]),
    completion: 1 + dice.below(4000),
    tier,
    searches: search === undefined && query === undefined ? 0 : dice.pick([0, 0, 1 + dice.below(5)]),
    size: fee ? dice.pick(Object.keys(fee)) : '',
  };
}

const MILLION = 1_000_000;
const whole = (dollars: number): number => Math.round(dollars * MILLION);

/** Millionths of a micro-dollar: tokens at one row of the page, and what is billed beside them. */
export function due({ rows, search = 0, query = 0, fee = {} }: Published, use: Use, at: number): number {
  const row = rows.findLast((candidate) => holds(candidate, use, at));
  if (!row) throw new Error(`no row holds for ${JSON.stringify(use)}`);
  const { input, output, cached = input, written = 0, long = 0 } = row;
  const tokens =
    (use.prompt - use.cached) * whole(input) +
    use.cached * whole(cached) +
    (use.written - use.long) * whole(written) +
    use.long * whole(long) +
    use.completion * whole(output);
  const dollars = use.searches * (search + query) + (fee[use.size] ?? 0);
  return tokens + whole(dollars) * MILLION;
}

function holds({ above, below, tier = '', from, hours }: Row, use: Use, at: number): boolean {
  const clock = new Date(at).toISOString().slice(11, 16);
  return (
    use.tier === tier &&
    (above === undefined || use.prompt > above) &&
    (below === undefined || use.prompt < below) &&
    (from === undefined || at >= Date.parse(from)) &&
    (hours === undefined || (clock >= hours[0] && clock < hours[1]))
  );
}

const common = ({ fee }: Published, use: Use): object => ({
  id: 'c',
  object: 'chat.completion',
  ...(use.tier !== '' && { service_tier: use.tier }),
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: use.prompt,
    completion_tokens: use.completion,
    total_tokens: use.prompt + use.completion,
    ...(use.cached > 0 && { prompt_tokens_details: { cached_tokens: use.cached } }),
    ...(fee && { search_context_size: use.size }),
  },
});

const anthropic = (_model: Published, use: Use): object => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'x' }],
  stop_reason: 'end_turn',
  usage: {
    input_tokens: use.prompt - use.cached,
    output_tokens: use.completion,
    cache_read_input_tokens: use.cached,
    cache_creation_input_tokens: use.written,
    cache_creation: { ephemeral_5m_input_tokens: use.written - use.long, ephemeral_1h_input_tokens: use.long },
    server_tool_use: { web_search_requests: use.searches },
    service_tier: 'standard',
    inference_geo: 'global',
  },
});

const gemini = (_model: Published, use: Use): object => ({
  candidates: [
    {
      content: { role: 'model', parts: [{ text: 'x' }] },
      finishReason: 'STOP',
      groundingMetadata: { webSearchQueries: Array.from({ length: use.searches }, (_, at) => `question ${at}`) },
    },
  ],
  usageMetadata: {
    promptTokenCount: use.prompt,
    candidatesTokenCount: use.completion,
    totalTokenCount: use.prompt + use.completion,
  },
});

const cohere = (_model: Published, use: Use): object => ({
  id: 'c',
  finish_reason: 'COMPLETE',
  message: { role: 'assistant', content: [{ type: 'text', text: 'x' }] },
  usage: {
    billed_units: { input_tokens: use.prompt, output_tokens: use.completion },
    tokens: { input_tokens: use.prompt, output_tokens: use.completion },
  },
});

const WIRES = { common, anthropic, gemini, cohere } as const;

/** The answer for such a use, in the vendor's wire. */
export const answerOf = (model: Published, use: Use): object => WIRES[model.wire](model, use);
