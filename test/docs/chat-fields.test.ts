import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import type { ChatRequest, ProviderModule } from '../../host/contract/index.ts';
import { unsupportedIn } from '../../host/pipeline/attempts/parameters.ts';
import { type SentWire, sentBy } from '../kit/index.ts';
import { isHeld } from '../providers/places.ts';
import { codes, rowsUnder } from './tables.ts';

type Fields = Readonly<Record<string, unknown>>;

const FUNCTION = {
  type: 'function',
  function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } },
};
const withTool = (more: Fields): Fields => ({ tools: [FUNCTION], ...more });

/** Every field of the clients' chat request, as one sets it that should be noticed; those of tools need a tool beside them. */
const FIELDS: Readonly<Record<string, Fields>> = {
  temperature: { temperature: 0.5 },
  top_p: { top_p: 0.9 },
  n: { n: 2 },
  seed: { seed: 7 },
  max_tokens: { max_tokens: 2048 },
  presence_penalty: { presence_penalty: 0.1 },
  frequency_penalty: { frequency_penalty: 0.1 },
  stop: { stop: ['END'] },
  tools: withTool({}),
  tool_choice: withTool({ tool_choice: 'required' }),
  response_format: {
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'n',
        schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
      },
    },
  },
  logprobs: { logprobs: true },
  top_logprobs: { logprobs: true, top_logprobs: 2 },
  parallel_tool_calls: withTool({ parallel_tool_calls: false }),
  user: { user: 'u' },
  logit_bias: { logit_bias: { 50256: -100 } },
  reasoning_effort: { reasoning_effort: 'high' },
  service_tier: { service_tier: 'auto' },
  metadata: { metadata: { a: 'b' } },
  store: { store: true },
  prediction: { prediction: { type: 'content', content: 'x' } },
  modalities: { modalities: ['text'] },
  verbosity: { verbosity: 'low' },
  prompt_cache_key: { prompt_cache_key: 'k' },
  safety_identifier: { safety_identifier: 's' },
  top_k: { top_k: 5 },
  web_search_options: { web_search_options: {} },
};

/** The model that a row speaks of, where providers differ by model; the page names it. */
const MODELS: Readonly<Record<string, string>> = {
  ai21: 'jamba-mini-1.7',
  anthropic: 'claude-sonnet-4-5',
  bedrock: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  cohere: 'command-a-reasoning-08-2025',
  gemini: 'gemini-2.5-flash',
  groq: 'openai/gpt-oss-120b',
  replicate: 'meta/meta-llama-3-8b-instruct',
};

const VARIABLES: Readonly<Record<string, Record<string, string>>> = {
  'vertex-ai': { VERTEX_AI_REGION: 'us-central1', VERTEX_AI_API_KEY: 'key' },
  bedrock: { AWS_SECRET_ACCESS_KEY: 'secret' },
};

/** Those with a vendor; test/providers/places.test.ts names one that the page lacks. */
const PROVIDERS = MODULES.filter(
  (module): module is ProviderModule =>
    module.kind === 'provider' && !module.offline && isHeld(module.name, 'docs/providers.md'),
).toSorted((a, b) => (a.name < b.name ? -1 : 1));

interface Fate {
  readonly named: boolean;
  readonly bounded: boolean;
  /** `as it is`: the field stands in the body with its value, and nothing else differs. */
  readonly travels: 'as it is' | 'in other words' | 'not at all';
}

const requestOf = (module: ProviderModule, fields: Fields): ChatRequest => ({
  model: MODELS[module.name] ?? 'm',
  messages: [{ role: 'user', content: 'hi' }],
  ...fields,
});
const wireOf = (module: ProviderModule, fields: Fields): Promise<SentWire> =>
  sentBy(module, 'chat', requestOf(module, fields), { variables: VARIABLES[module.name] ?? {} });

/** What becomes of a field at a provider, by what its translator makes of a request with and without it. */
async function fateOf(module: ProviderModule, field: string): Promise<Fate> {
  const fields = FIELDS[field] ?? {};
  const { [field]: value, ...beside } = fields;
  const [wire, without] = [await wireOf(module, fields), await wireOf(module, beside)];
  const request = requestOf(module, fields);
  const named = [
    ...unsupportedIn(request, module.paramsFor?.(request.model) ?? module.params),
    ...wire.ignored,
  ].includes(field);
  const body = { ...wire.body };
  const isAsItIs =
    isDeepStrictEqual(body[field], value) &&
    isDeepStrictEqual({ ...body, [field]: undefined }, { ...without.body, [field]: undefined });
  const isUnchanged = isDeepStrictEqual([wire.body, wire.headers], [without.body, without.headers]);
  return {
    named,
    bounded: wire.bounded.includes(field),
    travels: isAsItIs ? 'as it is' : isUnchanged ? 'not at all' : 'in other words',
  };
}

/** Fields whose value here asks for what the provider does anyway. */
const NEEDLESS: ReadonlyMap<string, readonly string[]> = new Map([
  ['bedrock', ['service_tier']],
  ['gemini', ['service_tier', 'modalities']],
]);

describe('docs/providers.md, fields of chat', () => {
  const page = rowsUnder('providers.md', '## Fields of chat').filter(([name]) =>
    isHeld(codes(name)[0] ?? '', 'docs/providers.md'),
  );

  it('has a row for each provider, with the model it speaks of where they differ', () => {
    expect(page.map(([name]) => codes(name))).to.deep.equal(
      PROVIDERS.map(({ name }) => (MODELS[name] === undefined ? [name] : [name, MODELS[name]])),
    );
  });

  for (const module of PROVIDERS) {
    it(`tells what becomes of each field at ${module.name}: named, in other words, bounded; every other travels as it is`, async () => {
      const fates = await Promise.all(
        Object.keys(FIELDS).map(async (field) => ({ field, ...(await fateOf(module, field)) })),
      );
      const listed = (which: (fate: Fate) => boolean): string[] => fates.filter(which).map(({ field }) => field);
      const expected = [
        listed(({ named }) => named),
        listed(({ named, travels }) => !named && travels === 'in other words'),
        listed(({ bounded }) => bounded),
      ];
      const row = page.find(([name]) => codes(name)[0] === module.name);
      const [, named, otherwise, bounded] = row ?? [];
      expect(
        [codes(named), codes(otherwise), codes(bounded)],
        `| ${expected.map((names) => names.map((name) => `\`${name}\``).join(', ')).join(' | ')} |`,
      ).to.deep.equal(expected);
      expect(
        listed(({ named: isNamed, travels }) => !isNamed && travels === 'not at all'),
        'dropped in silence',
      ).to.deep.equal(NEEDLESS.get(module.name) ?? []);
    });
  }
});
