import { type Checker, lineOf, nodesOf } from './source.ts';

/** Where a provider looks at the name of a model all the same: which wire or which form of a request it is, not what the model takes. */
export const FORMS: readonly { readonly in: string; readonly why: string }[] = [
  { in: 'providers/_common/anthropic/beside.ts', why: 'clouds speak another wire with these models' },
  { in: 'providers/_common/google/imagen.ts', why: 'a model that draws one image at a time' },
  { in: 'providers/ai21/index.ts', why: 'older models have another path and form' },
  { in: 'providers/bedrock/', why: 'each family has a wire of its own, which its id names' },
  { in: 'providers/gemini/images.ts', why: 'two methods that draw' },
  { in: 'providers/groq/search.ts', why: 'two forms of a search' },
  { in: 'providers/openai/index.ts', why: 'two forms of an answer that is an image' },
  { in: 'providers/vertex-ai/embeddings.ts', why: 'models that have vectors' },
];

/** Beginnings of names of models. */
const MODELS =
  /claude|gpt-|\bo[134]\b|gemini|gemma|grok|kimi|qwen|deepseek|mistral|magistral|codestral|command-|llama|nova|titan|dall-e|imagen|jamba|compound|\bglm|minimax/i;

const TESTS = new Set(['test', 'exec', 'match', 'startsWith', 'endsWith', 'includes', 'replace', 'search']);

const isListed = (path: string): boolean => FORMS.some(({ in: place }) => path.startsWith(place));

/** Refuses patterns of models' names in providers: what single models take stands in the rules of models. */
export const modelNames: Checker = (path, source) => (isListed(path) ? [] : namesIn(path, source));

/** Regular expressions, and texts that are looked for, which hold the name of a model. */
export function namesIn(path: string, source: string): string[] {
  const patterns = nodesOf(path, source, 'Literal').filter(
    ({ regex }) => regex !== undefined && MODELS.test(regex.pattern),
  );
  const calls = nodesOf(path, source, 'CallExpression').filter(
    ({ callee, arguments: given }) =>
      TESTS.has(callee.property?.name) && typeof given[0]?.value === 'string' && MODELS.test(given[0].value),
  );
  return [...patterns, ...calls].map((node) => `${path}:${lineOf(source, node)}: the name of a model`);
}
