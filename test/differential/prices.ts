/** Uses that the catalog, LiteLLM's `cost_calculator` and genai-prices of PyPI all price. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sourceKey } from '../../builtins/catalog/build/litellm.ts';
import { loadCatalog, readBundle } from '../../builtins/catalog/load.ts';
import type { CatalogEntry } from '../../host/common/catalog.ts';
import { BILLED, type Billed } from '../../host/contract/index.ts';
import { CHAINS } from '../catalog/catalogs.ts';
import { Dice } from '../kit/random.ts';
import { PYTHON } from './install.ts';

interface Use {
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
  readonly long: number;
  readonly completion: number;
  readonly tier: string;
}

export interface PricedCase {
  readonly key: string;
  readonly line: string;
  readonly use: Use;
  readonly ours: number;
  readonly litellm: number | null;
  readonly genai: number | null;
}

/** Where the two others keep the models of a provider of ours. */
const ELSEWHERE: Readonly<Record<string, { readonly litellm: string; readonly genai: string }>> = {
  openai: { litellm: 'openai', genai: 'openai' },
  anthropic: { litellm: 'anthropic', genai: 'anthropic' },
  gemini: { litellm: 'gemini', genai: 'google' },
  xai: { litellm: 'xai', genai: 'x-ai' },
  groq: { litellm: 'groq', genai: 'groq' },
  mistral: { litellm: 'mistral', genai: 'mistral' },
  deepseek: { litellm: 'deepseek', genai: 'deepseek' },
  moonshot: { litellm: 'moonshot', genai: 'moonshotai' },
  cohere: { litellm: 'cohere_chat', genai: 'cohere' },
};

const AT = '2026-11-27T12:00:00Z';
const TIERS = ['', 'flex', 'priority'];

const providerOf = (key: string): string => key.slice(0, key.indexOf('/'));
const modelOf = (key: string): string => key.slice(key.indexOf('/') + 1);

/** As many uses of each chat model; those near a threshold of its lines among them. */
export async function pricedCases(perModel: number): Promise<readonly PricedCase[]> {
  const { catalog, entries } = loadCatalog(await readBundle(), undefined, { chains: CHAINS });
  const cases = [...entries].flatMap(([key, entry], at) =>
    ELSEWHERE[providerOf(key)] && entry.mode === 'chat' && entry.pricing.input_per_m_tokens
      ? Array.from({ length: perModel }, (_, index) => ({ key, use: useOf(new Dice(at * 100 + index), key, entry) }))
      : [],
  );
  const asked = cases.map(({ key, use }) => ({
    use,
    at: AT,
    model: modelOf(key),
    litellm: sourceKey(key),
    litellm_provider: ELSEWHERE[providerOf(key)]?.litellm,
    genai_provider: ELSEWHERE[providerOf(key)]?.genai,
  }));
  const others = (await ask(asked)) as readonly { readonly litellm: number | null; readonly genai: number | null }[];
  return cases.map(({ key, use }, index) => {
    const cost = catalog.cost(providerOf(key), modelOf(key), billedOf(use), Date.parse(AT));
    const { litellm = null, genai = null } = others[index] ?? {};
    return { key, line: cost?.line ?? '', use, ours: cost?.totalUsd ?? Number.NaN, litellm, genai };
  });
}

function useOf(dice: Dice, key: string, { pricing: { lines = [], cache_read_per_m_tokens: read } }: CatalogEntry): Use {
  const above = lines.flatMap(({ when }) => when.input_above ?? []);
  const prompt = Math.max(
    1,
    dice.pick([dice.below(3000), dice.below(90_000), ...above.flatMap((edge) => [edge - 5, edge + 5, 2 * edge])]),
  );
  const written = providerOf(key) === 'anthropic' ? dice.pick([0, dice.below(4000)]) : 0;
  return {
    prompt,
    cached: read === null ? 0 : dice.pick([0, dice.below(prompt)]),
    written,
    long: dice.pick([0, 0, dice.below(written + 1)]),
    completion: dice.below(3000),
    tier: providerOf(key) === 'openai' || providerOf(key) === 'gemini' ? dice.pick(TIERS) : '',
  };
}

const billedOf = ({ prompt, cached, written, long, completion, tier }: Use): Billed => ({
  usage: {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached > 0 && { cache_read_tokens: cached }),
    ...(written > 0 && { cache_write_tokens: written }),
    [BILLED]: { ...(tier !== '' && { tier }), ...(long > 0 && { writtenLong: long }) },
  },
});

function ask(cases: readonly object[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      PYTHON,
      [fileURLToPath(new URL('prices.py', import.meta.url))],
      { timeout: 300_000, maxBuffer: 256 * 1024 * 1024 },
      (error, stdout) => {
        if (error) reject(error);
        else resolve(JSON.parse(stdout.slice(stdout.lastIndexOf('\n', stdout.length - 2) + 1)));
      },
    );
    child.stdin?.end(JSON.stringify(cases));
  });
}
