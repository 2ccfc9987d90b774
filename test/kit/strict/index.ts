import { anthropicRules, bedrockClaudeRules, vertexClaudeRules } from './anthropic.ts';
import { claudeModelRules } from './claude-models.ts';
import { cohereRules } from './cohere.ts';
import { commonRules } from './common.ts';
import { deepseekModelRules } from './deepseek-models.ts';
import { converseRules, llamaRules, novaRules, titanRules } from './converse.ts';
import { geminiRules } from './gemini.ts';
import { mistralRules } from './mistral.ts';
import { openaiModelRules } from './openai-models.ts';
import { type Body, inOrder, type Validator, validator } from './schema.ts';
import { COMPLETION, PREDICTION, VENDORS } from './vendors.ts';

export { ownFaults } from './common.ts';
export { isOfChoice } from './openai-models.ts';

/** A chat request as it leaves for a vendor. */
export interface ChatWire {
  readonly provider: string;
  readonly model: string;
  /** The path below the root, which tells the wire where a provider has several. */
  readonly path: string;
  readonly body: Body;
}

const fixed: ReadonlyMap<string, Validator> = new Map([
  ['cohere', cohereRules],
  ['gemini', geminiRules],
  ['mistral', mistralRules],
  ['replicate', validator(PREDICTION)],
  ...Object.entries(VENDORS).map(([name, dialect]): [string, Validator] => [name, commonRules(dialect)]),
]);
const completion = validator(COMPLETION);

/** Why the real vendor would refuse the request: what the loopback vendors of the tests answer 400 to. Unknown providers refuse nothing. */
export function refusalsOf({ provider, model, path, body }: ChatWire): string[] {
  const rules = rulesFor(provider, model, path);
  return rules ? inOrder(rules, modelRules(provider, model, path))(body) : [];
}

const NOTHING: Validator = () => [];

/** What single models of a vendor take, beside the form of its API. */
function modelRules(provider: string, model: string, path: string): Validator {
  const name = model.toLowerCase();
  if (name.includes('claude-')) return isClaudeWire(provider, path) ? claudeModelRules(name) : NOTHING;
  if (provider === 'openai' || provider.startsWith('azure-')) return openaiModelRules(name, path);
  return provider === 'deepseek' ? deepseekModelRules(name) : NOTHING;
}

const isClaudeWire = (provider: string, path: string): boolean =>
  provider === 'anthropic' || /\/(anthropic|publishers\/anthropic)\//.test(path) || /\/invoke/.test(path);

function rulesFor(provider: string, model: string, path: string): Validator | undefined {
  if (path.endsWith('/responses')) return NOTHING;
  if (provider === 'anthropic') return anthropicRules(model);
  if (provider === 'azure-foundry' && path.includes('/anthropic/')) return anthropicRules(model);
  if (provider === 'vertex-ai' && path.includes('/publishers/anthropic/')) return vertexClaudeRules(model);
  if (provider === 'bedrock') return bedrockRules(model, path);
  if (provider === 'ai21' && path.endsWith('/complete')) return completion;
  return fixed.get(provider);
}

function bedrockRules(model: string, path: string): Validator {
  if (/\/converse(-stream)?$/.test(path)) return converseRules;
  if (model.includes('anthropic.')) return bedrockClaudeRules(model);
  if (model.includes('amazon.titan')) return titanRules;
  return model.includes('meta.llama') ? llamaRules : novaRules;
}
