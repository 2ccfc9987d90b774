import { expect } from 'chai';
import { catalogOf, CHAINS } from './catalogs.ts';

const priced = (input: number): object => ({ pricing: { input_per_m_tokens: input } });
const keyOf = (entry: { provider: string; model_id: string } | undefined): string | undefined =>
  entry && `${entry.provider}/${entry.model_id}`;

/** Rows in the places that make lookups differ. */
const catalog = catalogOf({
  'azure_openai/gpt-4o-mini': priced(0.15),
  'azure/gpt-4o-mini': priced(0.16),
  'azure/gpt-4o': priced(2.5),
  'azure_foundry/phi-4': { context_window: 16_384 },
  'azure/Phi-4': priced(0.125),
  'azure_foundry/lonely': { context_window: 1 },
  'qwen/qwq-plus': { context_window: 131_072 },
  'dashscope/qwq-plus': priced(0.8),
  'dashscope/qwen-old': priced(0.3),
  'vertex_ai/Gemini-X': priced(1),
  'vertex_ai/gemini-y': { mode: 'embedding' },
  'hugging_face/Org/Model': priced(1),
  'hugging_face/org/MODEL': priced(2),
  'openai/gpt-4o': priced(2.5),
  'openrouter/openai/gpt-4o': priced(9),
  'gemini/gpt-4o-mini': priced(77),
});
const inputOf = (provider: string, model: string): number | undefined => catalog.tokenPrice(provider, model)?.input;

describe('the chains of catalog prefixes', () => {
  it('are those of docs/catalog.md', () => {
    expect(Object.fromEntries(CHAINS)).to.deep.equal({
      'azure-openai': ['azure_openai', 'azure'],
      'azure-foundry': ['azure_foundry', 'azure'],
      'vertex-ai': ['vertex_ai'],
      'hugging-face': ['hugging_face'],
      'nvidia-nim': ['nvidia_nim'],
      'ollama-cloud': ['ollama_cloud'],
      qwen: ['qwen', 'dashscope'],
    });
  });
});

describe('the facts of a model', () => {
  it('come from the exact key', () => {
    expect(keyOf(catalog.entry('openai', 'gpt-4o'))).to.equal('openai/gpt-4o');
    expect(keyOf(catalog.entry('openrouter', 'openai/gpt-4o'))).to.equal('openrouter/openai/gpt-4o');
  });

  it('come from the first prefix of the chain that has it', () => {
    expect(keyOf(catalog.entry('azure-openai', 'gpt-4o-mini'))).to.equal('azure_openai/gpt-4o-mini');
    expect(keyOf(catalog.entry('azure-foundry', 'gpt-4o-mini'))).to.equal('azure/gpt-4o-mini');
    expect(keyOf(catalog.entry('qwen', 'qwen-old'))).to.equal('dashscope/qwen-old');
  });

  it('are found without regard to case for chained providers, an exact id first', () => {
    expect(keyOf(catalog.entry('vertex-ai', 'gemini-x'))).to.equal('vertex_ai/Gemini-X');
    expect(keyOf(catalog.entry('azure-foundry', 'PHI-4'))).to.equal('azure_foundry/phi-4');
    expect(keyOf(catalog.entry('hugging-face', 'org/MODEL'))).to.equal('hugging_face/org/MODEL');
  });

  it('of two ids that differ in case only are those of the first sorted', () => {
    expect(keyOf(catalog.entry('hugging-face', 'ORG/model'))).to.equal('hugging_face/Org/Model');
  });

  it('are found by exact case for every other provider', () => {
    expect(catalog.entry('openai', 'GPT-4O')).to.equal(undefined);
  });

  it('are never those of another provider', () => {
    expect(catalog.entry('openai', 'gpt-4o-mini')).to.equal(undefined);
    expect(catalog.entry('anthropic', 'gpt-4o')).to.equal(undefined);
    expect(catalog.entry('openai', 'openai/gpt-4o')).to.equal(undefined);
    expect(catalog.entry('', 'openai/gpt-4o')).to.equal(undefined);
    expect(catalog.entry('constructor', '__proto__')).to.equal(undefined);
  });
});

describe('the price of a model', () => {
  it('comes from the exact key', () => {
    expect(inputOf('openai', 'gpt-4o')).to.equal(2.5);
    expect(inputOf('azure-openai', 'gpt-4o-mini')).to.equal(0.15);
  });

  it('may come from a later prefix than the facts, in another case too', () => {
    expect(keyOf(catalog.entry('azure-foundry', 'phi-4'))).to.equal('azure_foundry/phi-4');
    expect(inputOf('azure-foundry', 'phi-4')).to.equal(0.125);
  });

  it('comes from the first prefix of the chain in another case, also where that is the provider itself', () => {
    const rows = catalogOf({ 'qwen/Qwen-Max': priced(1.6), 'dashscope/qwen-max': priced(9) });
    expect(rows.tokenPrice('qwen', 'qwen-max')?.input).to.equal(1.6);
  });

  it('comes from a later prefix when the exact chat row has none', () => {
    expect(inputOf('qwen', 'qwq-plus')).to.equal(0.8);
  });

  it('is none when no prefix has one: the model is known and unpriced', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    expect(catalog.cost('azure-foundry', 'lonely', { usage })).to.include({
      modelFound: true,
      priced: false,
      totalUsd: 0,
    });
    expect(catalog.cost('vertex-ai', 'gemini-y', { usage })).to.include({ modelFound: true, priced: false });
  });

  it('is never that of another provider', () => {
    expect(catalog.tokenPrice('openai', 'gpt-4o-mini')).to.equal(undefined);
    expect(catalog.tokenPrice('vertex-ai', 'gpt-4o-mini')).to.equal(undefined);
    expect(catalog.cost('azure-openai', 'qwen-old', {})).to.equal(undefined);
  });

  it('follows rows of any mode but chat without looking further', () => {
    const rows = catalogOf({
      'azure_openai/e': { mode: 'embedding' },
      'azure/e': { mode: 'embedding', pricing: { embedding_per_m_tokens: 1 } },
    });
    expect(rows.tokenPrice('azure-openai', 'e')?.embedding).to.equal(undefined);
  });
});

describe('the models of a provider', () => {
  it('are sorted, each once, over the whole chain, deprecated ones included', () => {
    const rows = catalogOf({
      'azure/b': {},
      'azure_openai/b': {},
      'azure_openai/c': { lifecycle: { status: 'deprecated' } },
      'azure/a': {},
      'openai/z': {},
    });
    expect(rows.modelsOf('azure-openai')).to.deep.equal(['a', 'b', 'c']);
    expect(rows.modelsOf('azure-foundry')).to.deep.equal(['a', 'b']);
    expect(rows.modelsOf('openai')).to.deep.equal(['z']);
    expect(rows.modelsOf('nosuch')).to.deep.equal([]);
  });
});
