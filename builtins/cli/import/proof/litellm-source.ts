import {
  fieldsAt,
  listAt,
  numberAt,
  type ReadSource,
  SAMPLE,
  type SourceName,
  type SourcePlace,
  type SourceRoute,
  textAt,
} from './source.ts';

/** Prefixes of models, and whose they are. Source: docs.litellm.ai, "Providers", 2026-11-27. */
const KINDS: Readonly<Record<string, string>> = {
  azure: 'azure-openai',
  azure_text: 'azure-openai',
  azure_ai: 'azure-foundry',
  bedrock: 'bedrock',
  bedrock_converse: 'bedrock',
  vertex_ai: 'vertex-ai',
  vertex_ai_beta: 'vertex-ai',
  fireworks_ai: 'fireworks',
  together_ai: 'together',
  dashscope: 'qwen',
  huggingface: 'hugging-face',
  nvidia_nim: 'nvidia-nim',
  anthropic_text: 'anthropic',
  cohere_chat: 'cohere',
  ai21_chat: 'ai21',
  ollama_chat: 'ollama',
  'text-completion-openai': 'openai',
  text_completion_openai: 'openai',
  hosted_vllm: 'openai-compatible',
  openai_like: 'openai-compatible',
  custom_openai: 'openai-compatible',
  lm_studio: 'openai-compatible',
  llamafile: 'openai-compatible',
};
const KNOWN = new Set(
  'ai21 anthropic azure-openai bedrock cerebras cohere databricks deepinfra deepseek fireworks gemini groq hugging-face mistral moonshot novita nvidia-nim ollama openai openrouter perplexity qwen replicate sambanova together vertex-ai xai'.split(
    ' ',
  ),
);
/** Models without a prefix. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^claude/, 'anthropic'],
  [/^gemini/, 'gemini'],
  [/^command/, 'cohere'],
  [/^(?:mistral|codestral)/, 'mistral'],
  [/^deepseek/, 'deepseek'],
  [/^grok/, 'xai'],
];

interface Deployment {
  readonly name: string;
  readonly place: SourcePlace;
  readonly order: number | undefined;
  readonly measures: readonly (number | undefined)[];
  readonly info: unknown;
}

/** Reads the names of a proxy configuration as its router resolves them: docs.litellm.ai, "How a deployment is picked", 2026-11-05. */
export const readLitellmSource: ReadSource = (document, valueOf) => {
  const deployments = listAt(document, 'model_list').flatMap((item) => deploymentOf(item, document, valueOf));
  const groups = Map.groupBy(deployments, ({ name }) => name);
  const strategies = strategiesOf(document);
  const routesOf = (name: string): readonly SourceRoute[] =>
    sharesOf(groups.get(name) ?? [], strategies(name)).map((route) => asked(route, name));
  const names = [...groups.keys()].map((name) => ({ name, routes: routesOf(name) }));
  const aliases = aliasesOf(document);
  const virtual = virtualOf(document, groups).filter(({ name }) => !groups.has(name));
  const named = [
    ...virtual,
    ...names.filter(({ name }) => !aliases.has(name)),
    ...[...aliases].map(([name, model]) => ({ name, routes: routesOf(model) })),
  ];
  const followersOf = (name: string): readonly SourcePlace[] =>
    [...allFollowers(document, ended(name, aliases), aliases)].flatMap((one) =>
      reached(one, groups).map(({ place }) => place),
    );
  return named
    .filter(({ routes }) => routes.length > 0)
    .map(({ name, routes }): SourceName => ({
      name,
      asked: name.replace('*', SAMPLE),
      routes,
      followers: followersOf(name),
    }));
};

/** The deployments of a name, or of the longest pattern that it matches. */
function reached(name: string, groups: ReadonlyMap<string, readonly Deployment[]>): readonly Deployment[] {
  const exact = groups.get(name);
  if (exact) return exact;
  const [pattern] = [...groups.keys()]
    .filter((one) => one.endsWith('*') && name.startsWith(one.slice(0, -1)))
    .toSorted((a, b) => b.length - a.length);
  if (pattern === undefined) return [];
  const rest = name.slice(pattern.length - 1);
  return (groups.get(pattern) ?? []).map((one) => ({
    ...one,
    place: { ...one.place, model: one.place.model.replace('*', rest) },
  }));
}

const asked = (route: SourceRoute, name: string): SourceRoute =>
  name.includes('*') ? { ...route, place: { ...route.place, model: route.place.model.replace('*', SAMPLE) } } : route;

function deploymentOf(item: unknown, document: unknown, valueOf: (name: string) => string): readonly Deployment[] {
  const own = fieldsAt(item, 'litellm_params');
  const shared = listAt(document, 'credential_list').find(
    (one) =>
      textAt(one, 'credential_name') !== '' &&
      textAt(one, 'credential_name') === textAt(own, 'litellm_credential_name'),
  );
  const params = { ...fieldsAt(shared, 'credential_values'), ...own };
  const text = (member: string): string => referred(textAt(params, member), valueOf);
  const [name, model] = [textAt(item, 'model_name'), textAt(params, 'model')];
  if (name === '' || model === '') return [];
  const address = text('api_base') || text('base_url') || text('aws_bedrock_runtime_endpoint');
  const found = kindOf(model, textAt(params, 'custom_llm_provider'));
  const isForeign =
    found.kind === 'openai' && address !== '' && !/^https:\/\/(?:[\w.-]+\.)?api\.openai\.com(?:\/|$)/.test(address);
  const place = {
    kind: isForeign ? 'openai-compatible' : found.kind,
    address,
    within: ['aws_region_name', 'vertex_location', 'vertex_project'].map(text).filter((one) => one !== ''),
    model: found.model,
  };
  const order = numberAt(params, 'order') ?? numberAt(item, 'model_info', 'order');
  return [{ name, place, order, measures: ['weight', 'rpm', 'tpm'].map((one) => numberAt(params, one)), info: item }];
}

const referred = (text: string, valueOf: (name: string) => string): string =>
  text.startsWith('os.environ/') ? valueOf(text.slice('os.environ/'.length)) : text;

function kindOf(model: string, stated: string): { readonly kind: string; readonly model: string } {
  const slash = model.indexOf('/');
  const prefix = slash < 0 ? '' : model.slice(0, slash).toLowerCase();
  const rest = withoutApi(model.slice(slash + 1));
  const named = KINDS[prefix] ?? dashed(prefix);
  if (stated !== '') {
    const kind = KINDS[stated.toLowerCase()] ?? dashed(stated.toLowerCase());
    return { kind, model: named === kind ? rest : withoutApi(model) };
  }
  if (prefix !== '') return { kind: named, model: rest };
  return { kind: FAMILIES.find(([beginning]) => beginning.test(model))?.[1] ?? 'openai', model: withoutApi(model) };
}

const dashed = (prefix: string): string =>
  KNOWN.has(prefix.replaceAll('_', '-')) ? prefix.replaceAll('_', '-') : prefix;

const withoutApi = (model: string): string =>
  model.replace(/^(?:responses|o_series|converse|invoke|converse_like|chat)\//, '');

/** The lowest order is asked first; within it the first measure that any has draws, else all are alike. */
function sharesOf(deployments: readonly Deployment[], strategy: string): readonly SourceRoute[] {
  const orders = deployments.flatMap(({ order }) => order ?? []);
  const open = orders.length === 0 ? deployments : deployments.filter(({ order }) => order !== undefined);
  const lowest = orders.toSorted((a, b) => a - b)[0];
  const first = orders.length === 0 ? open : open.filter(({ order }) => order === lowest);
  const measure = [0, 1, 2].find((at) => first.some(({ measures }) => (measures[at] ?? 0) > 0));
  const weights = new Map(first.map((one) => [one, measure === undefined ? 1 : (one.measures[measure] ?? 0)]));
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
  const isDrawn = strategy !== 'latency-based-routing' && strategy !== 'cost-based-routing';
  return open.map((one) => ({
    place: one.place,
    share: isDrawn ? (weights.get(one) ?? 0) / sum : weights.has(one) ? undefined : 0,
  }));
}

/** A routing group is a name too: all deployments of its members, by priority where it has any. */
function virtualOf(
  document: unknown,
  groups: ReadonlyMap<string, readonly Deployment[]>,
): readonly { readonly name: string; readonly routes: readonly SourceRoute[] }[] {
  return listAt(document, 'router_settings', 'routing_groups').map((group) => {
    const isRanked = textAt(group, 'routing_strategy') === 'priority';
    const members = listAt(group, 'models').filter((one): one is string => typeof one === 'string');
    const deployments = members.flatMap((member) =>
      (groups.get(member) ?? []).map((one) =>
        isRanked ? { ...one, order: numberAt(group, 'model_priorities', member) } : one,
      ),
    );
    return { name: textAt(group, 'group_name'), routes: sharesOf(deployments, textAt(group, 'routing_strategy')) };
  });
}

function strategiesOf(document: unknown): (name: string) => string {
  const general = textAt(document, 'router_settings', 'routing_strategy') || 'simple-shuffle';
  const groups = listAt(document, 'router_settings', 'routing_groups');
  return (name) => {
    const own = groups.find(
      (group) => listAt(group, 'models').includes(name) && textAt(group, 'routing_strategy') !== 'priority',
    );
    return own === undefined ? general : textAt(own, 'routing_strategy');
  };
}

function aliasesOf(document: unknown): ReadonlyMap<string, string> {
  const found = Object.entries(fieldsAt(document, 'router_settings', 'model_group_alias'));
  return new Map(
    found.flatMap(([name, value]) => {
      const model = typeof value === 'string' ? value : textAt(value, 'model');
      return model === '' ? [] : [[name, model] as const];
    }),
  );
}

/** An alias is followed once: it leads to a name of `model_list`. */
const ended = (name: string, aliases: ReadonlyMap<string, string>): string => aliases.get(name) ?? name;

/** Names that may follow, and what follows those: a fallback has its own. */
function allFollowers(document: unknown, name: string, aliases: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const follower of followersIn(document, next).map((one) => ended(one, aliases)))
      if (!found.has(follower)) {
        found.add(follower);
        waiting.push(follower);
      }
  return found;
}

/** Names that may follow, whatever the reason. */
function followersIn(document: unknown, name: string): readonly string[] {
  const places = [fieldsAt(document, 'router_settings'), fieldsAt(document, 'litellm_settings')];
  const members = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'];
  const listed = places.flatMap((place) =>
    members.flatMap((member) => listAt(place, member).flatMap((map) => [...listAt(map, name), ...listAt(map, '*')])),
  );
  const general = places.flatMap((place) => listAt(place, 'default_fallbacks'));
  return [...listed, ...general].filter((one): one is string => typeof one === 'string');
}
