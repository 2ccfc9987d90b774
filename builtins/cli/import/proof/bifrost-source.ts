import {
  fieldsAt,
  listAt,
  numberAt,
  type ReadSource,
  SAMPLE,
  type SourceName,
  type SourcePlace,
  textAt,
  valueAt,
} from './source.ts';

/** Names of providers that are others here. Source: docs.getbifrost.ai, "Provider Setup", 2026-11-27. */
const KINDS: Readonly<Record<string, string>> = {
  azure: 'azure-openai',
  vertex: 'vertex-ai',
  huggingface: 'hugging-face',
  vllm: 'openai-compatible',
  sgl: 'openai-compatible',
};

interface Key {
  readonly place: Omit<SourcePlace, 'model'>;
  readonly weight: number;
  /** Empty for all. */
  readonly models: readonly string[];
  readonly renamed: ReadonlyMap<string, string>;
}

/** Reads which keys of which provider serve a name: `provider/model`, and models that are listed. Rules of governance that name one model go first. */
export const readBifrostSource: ReadSource = (document, valueOf) => {
  const providers = new Map(
    Object.entries(fieldsAt(document, 'providers')).map(
      ([name, entry]) => [name, keysOf(name, entry, valueOf)] as const,
    ),
  );
  const weights = weightsOf(document, providers);
  const names: SourceName[] = [];
  const bare = new Set<string>();
  for (const [provider, keys] of providers) {
    const listed = new Set(keys.flatMap(({ models, renamed }) => [...models, ...renamed.keys()]));
    for (const model of listed) {
      bare.add(model);
      names.push(nameOf(`${provider}/${model}`, routesOf(keys, model, 1)));
    }
    if (keys.some(({ models }) => models.length === 0))
      names.push({ ...nameOf(`${provider}/*`, routesOf(keys, SAMPLE, 1)), asked: `${provider}/${SAMPLE}` });
  }
  const ruled = rulesOf(document, providers);
  for (const model of bare) {
    if (ruled.some(({ name }) => name === model)) continue;
    const served = [...providers].filter(([, keys]) =>
      keys.some((key) => key.models.includes(model) || key.renamed.has(model)),
    );
    const sum = served.reduce((total, [provider, keys]) => total + (weights.get(provider) ?? weightOf(keys, model)), 0);
    names.push(
      nameOf(
        model,
        served.flatMap(([provider, keys]) =>
          routesOf(keys, model, (weights.get(provider) ?? weightOf(keys, model)) / sum),
        ),
      ),
    );
  }
  return [...names, ...ruled].filter(({ routes }) => routes.length > 0);
};

const nameOf = (name: string, routes: SourceName['routes']): SourceName => ({
  name,
  asked: name,
  routes,
  followers: [],
});

function keysOf(name: string, entry: unknown, valueOf: (name: string) => string): readonly Key[] {
  const text = (value: unknown): string => {
    const written = typeof value === 'string' ? value : textAt(value, 'env_var') || textAt(value, 'value');
    const variable = /^env\.(.+)$/.exec(written)?.[1] ?? (textAt(value, 'env_var') || undefined);
    return variable === undefined ? written : valueOf(variable.replace(/^env\./, ''));
  };
  const based = textAt(entry, 'custom_provider_config', 'base_provider_type');
  const called = (based === '' ? name : based).toLowerCase();
  const root = text(valueAt(entry, 'network_config', 'base_url'));
  const written = listAt(entry, 'keys');
  return (written.length === 0 ? [{}] : written).map((key) => {
    const endpoint = ['azure_key_config', 'vllm_key_config', 'sgl_key_config', 'ollama_key_config']
      .map((block) => text(valueAt(key, block, block === 'azure_key_config' ? 'endpoint' : 'url')))
      .find((one) => one !== '');
    const address = endpoint ?? root;
    const kind = KINDS[called] ?? called;
    const isForeign =
      kind === 'openai' && address !== '' && !/^https:\/\/(?:[\w.-]+\.)?api\.openai\.com(?:\/|$)/.test(address);
    const models = listAt(key, 'models').filter((one): one is string => typeof one === 'string');
    return {
      place: {
        kind: isForeign ? 'openai-compatible' : kind,
        address,
        within: [
          text(valueAt(key, 'bedrock_key_config', 'region')),
          text(valueAt(key, 'vertex_key_config', 'project_id')),
          text(valueAt(key, 'vertex_key_config', 'region')),
        ].filter((one) => one !== ''),
      },
      weight: numberAt(key, 'weight') ?? 1,
      models: models.includes('*') ? [] : models,
      renamed: renamedBy(key),
    };
  });
}

function renamedBy(key: unknown): ReadonlyMap<string, string> {
  const maps = [
    fieldsAt(key, 'aliases'),
    ...['azure_key_config', 'bedrock_key_config', 'vertex_key_config'].map((block) =>
      fieldsAt(key, block, 'deployments'),
    ),
  ];
  const found = new Map<string, string>();
  for (const [alias, value] of maps.flatMap((map) => Object.entries(map))) {
    const model = typeof value === 'string' ? value : textAt(value, 'model_id') || textAt(value, 'deployment_name');
    if (model !== '' && !found.has(alias)) found.set(alias, model);
  }
  return found;
}

const serves = ({ models, renamed }: Key, model: string): boolean =>
  models.length === 0 || models.includes(model) || renamed.has(model);

const weightOf = (keys: readonly Key[], model: string): number =>
  keys.filter((key) => serves(key, model)).reduce((total, { weight }) => total + weight, 0);

function routesOf(keys: readonly Key[], model: string, share: number): SourceName['routes'] {
  const able = keys.filter((key) => serves(key, model));
  const sum = weightOf(able, model);
  return able.map(({ place, renamed, weight }) => ({
    place: { ...place, model: renamed.get(model) ?? model },
    share: sum === 0 ? share / able.length : (share * weight) / sum,
  }));
}

/** Weights that virtual keys give to providers; those of the first that says any. */
function weightsOf(document: unknown, providers: ReadonlyMap<string, unknown>): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const key of listAt(document, 'governance', 'virtual_keys'))
    for (const config of listAt(key, 'provider_configs')) {
      const [provider, weight] = [textAt(config, 'provider'), numberAt(config, 'weight')];
      if (providers.has(provider) && weight !== undefined && weight >= 0 && !found.has(provider))
        found.set(provider, weight);
    }
  return [...found.values()].some((weight) => weight > 0) ? found : new Map();
}

/** Rules whose one condition is a model. */
function rulesOf(document: unknown, providers: ReadonlyMap<string, readonly Key[]>): readonly SourceName[] {
  return listAt(document, 'governance', 'routing_rules').flatMap((rule) => {
    const model = /^\s*model\s*==\s*["']([^"']+)["']\s*$/.exec(textAt(rule, 'cel_expression'))?.[1];
    const [target, ...more] = listAt(rule, 'targets');
    const keys = providers.get(textAt(target, 'provider'));
    if (model === undefined || more.length > 0 || !keys || valueAt(rule, 'enabled') === false) return [];
    const upstream = textAt(target, 'model') || model;
    const followers = listAt(rule, 'fallbacks').flatMap((one) => {
      const [provider = '', ...rest] = typeof one === 'string' ? one.split('/') : [];
      const name = rest.length > 0 ? rest.join('/') : model;
      return (providers.get(provider) ?? []).map(({ place, renamed }) => ({
        ...place,
        model: renamed.get(name) ?? name,
      }));
    });
    return [{ name: model, asked: model, routes: routesOf(keys, upstream, 1), followers }];
  });
}
