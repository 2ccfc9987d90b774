import { listAt, numberAt, type ReadSource, SAMPLE, type SourcePlace, type SourceRoute, textAt } from './source.ts';

/** Names of providers that are others here. Source: Portkey-AI/gateway, src/globals.ts, 2026-11-27. */
const KINDS: Readonly<Record<string, string>> = {
  google: 'gemini',
  'x-ai': 'xai',
  'mistral-ai': 'mistral',
  'together-ai': 'together',
  'fireworks-ai': 'fireworks',
  'perplexity-ai': 'perplexity',
  'novita-ai': 'novita',
  'replicate-ai': 'replicate',
  'workers-ai': 'cloudflare',
  'azure-ai': 'azure-foundry',
  'azure-ai-inference': 'azure-foundry',
  huggingface: 'hugging-face',
  dashscope: 'qwen',
  nvidia: 'nvidia-nim',
};
const KNOWN = new Set(
  'ai21 anthropic azure-openai bedrock cerebras cohere databricks deepinfra deepseek fireworks gemini groq hugging-face mistral moonshot novita nvidia-nim ollama openai openrouter perplexity qwen replicate sambanova together vertex-ai xai'.split(
    ' ',
  ),
);

interface Tiers {
  readonly first: readonly { readonly place: SourcePlace; readonly share: number }[];
  readonly later: readonly SourcePlace[];
}

/** Any model goes to the targets, under its own name or that of `override_params`: the shares of a request that names one. */
export const readPortkeySource: ReadSource = (document, valueOf) => {
  if (!needsNames(document)) return [];
  const asked = SAMPLE;
  const { first, later } = tiersOf(document, '', (text) => resolved(text, valueOf));
  const named = (place: SourcePlace): SourcePlace => ({ ...place, model: place.model === '' ? asked : place.model });
  const routes: readonly SourceRoute[] = first.map(({ place, share }) => ({ place: named(place), share }));
  return routes.length === 0 ? [] : [{ name: 'any model', asked, routes, followers: later.map(named) }];
};

/** Targets of several kinds without models of their own are asked for the models that gw knows of each: there is no name to compare. */
function needsNames(node: unknown): boolean {
  const inner = listAt(node, 'targets');
  if (textAt(node, 'override_params', 'model') !== '' || textAt(node, 'overrideParams', 'model') !== '') return true;
  const kinds = inner.map((one) => kindOf((textAt(one, 'provider') || textAt(one, 'virtual_key')).replace(/^@/, '')));
  return (
    new Set(kinds).size < kinds.length ||
    (textAt(node, 'custom_host') !== '' && kindOf(textAt(node, 'provider')) === 'openai') ||
    inner.some((one) => needsNames(one) || listAt(one, 'targets').length > 0)
  );
}

const resolved = (text: string, valueOf: (name: string) => string): string => {
  const [, plain, braced] = /^(?:\$\{([^}]+)\}|\{\{([^}]+)\}\})$/.exec(text) ?? [];
  const name = plain ?? braced;
  return name === undefined ? text : valueOf(name);
};

function tiersOf(node: unknown, inherited: string, read: (text: string) => string): Tiers {
  const own = (textAt(node, 'override_params', 'model') || textAt(node, 'overrideParams', 'model')).replace(
    /^@[^/]+\//,
    '',
  );
  const model = own || inherited;
  const targets = listAt(node, 'targets');
  if (targets.length === 0) return leafOf(node, model, read);
  const parts = targets
    .map((target) => ({ target, tiers: tiersOf(target, model, read) }))
    .filter(({ tiers }) => tiers.first.length > 0);
  const mode = textAt(node, 'strategy', 'mode');
  if (mode === 'conditional') return conditional(node, parts);
  if (mode === 'single') return parts[0]?.tiers ?? { first: [], later: [] };
  if (mode === 'loadbalance') return drawn(parts);
  const [head, ...rest] = parts;
  return {
    first: head?.tiers.first ?? [],
    later: [
      ...(head?.tiers.later ?? []),
      ...rest.flatMap(({ tiers }) => [...tiers.first.map(({ place }) => place), ...tiers.later]),
    ],
  };
}

/** A request that no condition takes goes to the default. */
function conditional(node: unknown, parts: readonly { readonly target: unknown; readonly tiers: Tiers }[]): Tiers {
  const name = textAt(node, 'strategy', 'default');
  const chosen = parts.find(({ target }) => name !== '' && textAt(target, 'name') === name) ?? parts[0];
  const others = parts.filter((part) => part !== chosen);
  return {
    first: chosen?.tiers.first ?? [],
    later: others.flatMap(({ tiers }) => [...tiers.first.map(({ place }) => place), ...tiers.later]),
  };
}

function drawn(parts: readonly { readonly target: unknown; readonly tiers: Tiers }[]): Tiers {
  const weights = parts.map(({ target }) => numberAt(target, 'weight') ?? 1);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return {
    first: parts.flatMap(({ tiers }, at) =>
      tiers.first.map(({ place, share }) => ({ place, share: (share * (weights[at] ?? 0)) / sum })),
    ),
    later: parts.flatMap(({ tiers }) => tiers.later),
  };
}

function leafOf(node: unknown, model: string, read: (text: string) => string): Tiers {
  const named = textAt(node, 'provider') || textAt(node, 'virtual_key') || textAt(node, 'virtualKey');
  if (named === '') return { first: [], later: [] };
  const address = read(textAt(node, 'custom_host') || textAt(node, 'customHost'));
  const kind = kindOf(named.replace(/^@/, '').toLowerCase());
  const isForeign =
    kind === 'openai' && address !== '' && !/^https:\/\/(?:[\w.-]+\.)?api\.openai\.com(?:\/|$)/.test(address);
  const deployment = textAt(node, 'deployment_id') || textAt(node, 'deploymentId'); // it stands in the path: the model counts for nothing
  const resource = textAt(node, 'resource_name') || textAt(node, 'resourceName');
  const place: SourcePlace = {
    kind: isForeign ? 'openai-compatible' : kind,
    address: address || (resource === '' ? '' : `https://${resource}.openai.azure.com`),
    within: ['aws_region', 'awsRegion', 'vertex_region', 'vertexRegion']
      .map((member) => textAt(node, member))
      .filter((one) => one !== ''),
    model: deployment || model,
  };
  return { first: [{ place, share: 1 }], later: [] };
}

/** A slug begins with the provider whose it is. */
function kindOf(slug: string): string {
  const words = slug.split(/[-_/]/);
  for (let count = words.length; count > 0; count -= 1) {
    const name = words.slice(0, count).join('-');
    if (KINDS[name] !== undefined) return KINDS[name];
    if (KNOWN.has(name)) return name;
  }
  return slug;
}
