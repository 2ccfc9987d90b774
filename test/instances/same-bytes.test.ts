import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { kindKeys } from '../../host/common/kinds/kind-keys.ts';
import { baseUrlVariable } from '../../host/common/kinds/base-url-variable.ts';
import type { ProviderModule } from '../../host/contract/index.ts';
import { ask, fakeClock, forSuite, replyJson, type SeenRequest, startHost, stubUpstream } from '../kit/index.ts';

/** Kinds that the environment registers too. */
const KINDS = MODULES.filter((module) => module.kind === 'provider').filter(
  ({ offline, connection }) => !offline && !connection.onlyDeclared,
);

/** Values of settings that have no other place. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'azure-openai': { deployment: 'house', api_version: '2025-01-01' },
  'azure-foundry': { api_version: '2025-05-01' },
  bedrock: { region: 'eu-central-1' },
  'vertex-ai': { project_id: 'p-1', region: 'europe-west4' },
  cloudflare: { account_id: 'acct' },
  replicate: { text_models: ['meta/llama', 'acme/chat'], image_models: ['acme/paint'] },
};
/** Models that a kind tells apart by their names. */
const UPSTREAM: Readonly<Record<string, string>> = {
  ai21: 'jamba-large',
  bedrock: 'amazon.nova-lite-v1:0',
  replicate: 'acme/chat',
  'vertex-ai': 'google/gemini-2.5-pro',
};
/** Secrets of the first set of a kind: a pair of keys and not a bearer token at Bedrock, because they sign. */
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  bedrock: ['access_key_id', 'secret_access_key', 'session_token'],
};

const secretsOf = (module: ProviderModule): readonly string[] =>
  SECRETS[module.name] ?? kindKeys(module).sets[0]?.needs ?? [];
const secretOf = (module: ProviderModule, key: string): string => `${module.name}-${key}-0123456789abcdef`;
const shared = (module: ProviderModule): string => `SHARED_${module.name}`.replaceAll('-', '_').toUpperCase();

const targetOf = (name: string, kind: string): object => ({
  virtual_key: name,
  models: [`m-${kind}`],
  ...(UPSTREAM[kind] && { model_map: { [`m-${kind}`]: UPSTREAM[kind] } }),
});

/** Variables of the kind itself. */
function environmentOf(module: ProviderModule, address: string): Record<string, string> {
  const { settings, secrets } = kindKeys(module);
  const written = Object.entries(SETTINGS[module.name] ?? {}).map(([key, value]) => [
    settings.get(key)!.variable,
    Array.isArray(value) ? value.join(',') : String(value),
  ]);
  return {
    ...Object.fromEntries(written),
    [baseUrlVariable(module)]: address,
    ...Object.fromEntries(secretsOf(module).map((key) => [secrets.get(key)!, secretOf(module, key)])),
  };
}

/** Variables of no kind, which an instance refers to. */
const referredBy = (module: ProviderModule): Record<string, string> =>
  Object.fromEntries(secretsOf(module).map((key) => [`${shared(module)}_${key.toUpperCase()}`, secretOf(module, key)]));

const blockOf = (module: ProviderModule, address: string): object => ({
  kind: module.name,
  base_url: address,
  ...(SETTINGS[module.name] && { settings: SETTINGS[module.name] }),
  ...Object.fromEntries(secretsOf(module).map((key) => [key, `\${${shared(module)}_${key.toUpperCase()}}`])),
});

/** Headers of one call alone. */
const OF_A_CALL = new Set(['traceparent', 'tracestate', 'x-request-id']);
const sent = ({ method, url, headers, text }: SeenRequest): object => ({
  method,
  url,
  headers: Object.entries(headers).filter(([name]) => !OF_A_CALL.has(name)),
  text,
});

describe('an instance of the configuration', () => {
  const run = forSuite(async () => {
    const stub = await stubUpstream((_request, response) => replyJson(response, 400, { error: { message: 'no' } }));
    const address = `${stub.url}/root`;
    const options = { clock: fakeClock(), isLenient: true };
    const environment = await startHost(
      { strategy: { mode: 'fallback' }, targets: KINDS.map(({ name }) => targetOf(name, name)) },
      { ...options, variables: Object.assign({}, ...KINDS.map((module) => environmentOf(module, address))) },
    );
    const declared = await startHost(
      {
        strategy: { mode: 'fallback' },
        providers: Object.fromEntries(KINDS.map((module) => [`own-${module.name}`, blockOf(module, address)])),
        targets: KINDS.map(({ name }) => targetOf(`own-${name}`, name)),
      },
      { ...options, variables: Object.assign({}, ...KINDS.map(referredBy)) },
    );
    return { seen: stub.seen, environment, declared };
  });

  const callOf = async (which: 'environment' | 'declared', kind: string, stream: boolean): Promise<object> => {
    const { seen, [which]: host } = run();
    const before = seen.length;
    await host.post('/v1/chat/completions', { ...ask('hi', { stream }), model: `m-${kind}` });
    expect(seen.length, kind).to.equal(before + 1);
    return sent(seen.at(-1)!);
  };

  for (const { name } of KINDS)
    for (const stream of [false, true])
      it(`of kind ${name} sends the bytes that the provider of the environment sends, ${stream ? 'streamed' : 'whole'}`, async () => {
        expect(await callOf('declared', name, stream)).to.deep.equal(await callOf('environment', name, stream));
      });
});
