import { chatReply, replyJson, stubUpstream, type StubUpstream } from '../kit/index.ts';
import { type Gateway, type GatewayChoices, startDashboard } from './kit.ts';

/** Values of the credentials, none of which may ever reach the page. */
export const VALUES = {
  GOOD_KEY: 'zq-good-0123456789abcdef',
  OLD_KEY: 'zq-old-0123456789abcdef',
  BUSY_KEY: 'zq-busy-0123456789abcdef',
  GPU_KEY: 'zq-gpu-0123456789abcdef',
} as const;

const REFUSALS: Readonly<Record<string, number>> = { [VALUES.OLD_KEY]: 401, [VALUES.BUSY_KEY]: 429 };

export interface FleetGateway extends Gateway {
  readonly vendor: StubUpstream;
}

/** What every credential of the vendor answers with, by the value that it was asked with. */
export const vendorByKey = (): Promise<StubUpstream> =>
  stubUpstream((request, response) => {
    const status = REFUSALS[String(request.headers.authorization).replace('Bearer ', '')] ?? 200;
    if (request.url.endsWith('/models')) return replyJson(response, 200, { data: [{ id: 'Qwen/Qwen3-32B' }] });
    if (status === 429) response.setHeader('retry-after', '600');
    if (status === 200) return replyJson(response, 200, CACHED);
    return replyJson(response, status, { error: { message: 'no', code: status === 401 ? 'invalid_api_key' : 'rate' } });
  });

const CACHED = {
  ...chatReply('hi'),
  usage: {
    prompt_tokens: 2000,
    completion_tokens: 10,
    total_tokens: 2010,
    prompt_tokens_details: { cached_tokens: 1500 },
  },
};

export const fleetConfig = (url: string): Record<string, any> => ({
  providers: {
    'openai-eu': {
      kind: 'openai',
      base_url: `${url}/v1`,
      models: ['gpt-5', 'gpt-5-mini'],
      headers: { 'X-Tenant': 'blue' },
      credentials: [
        { name: 'team-a', api_key: '${OLD_KEY}', weight: 100000 },
        { name: 'team-b', api_key: '${BUSY_KEY}', weight: 1000 },
        { name: 'spare', api_key: '${GOOD_KEY}' },
      ],
    },
    'gpu-1': {
      kind: 'openai-compatible',
      base_url: url,
      credentials: [
        { name: 'key-1', api_key: '${GPU_KEY}', vendor_account: 'house' },
        { name: 'key-2', api_key: '${NOT_SET}' },
      ],
    },
    'gpu-2': { kind: 'openai-compatible', base_url: url, api_key: '${OLD_KEY}' },
  },
  targets: [{ virtual_key: 'openai-eu' }, { virtual_key: 'gpu-1' }, { virtual_key: 'gpu-2' }, { virtual_key: 'echo' }],
  models: [
    {
      name: 'smart',
      routes: [
        { target: 'openai-eu', model: 'gpt-5' },
        { target: 'openai-eu', model: 'gpt-5-mini' },
        { target: 'gpu-1', model: 'Qwen/Qwen3-32B' },
      ],
      strategy: { mode: 'fallback', affinity: 'session' },
      fallbacks: ['qwen3', 'anything'],
    },
    {
      name: 'qwen3',
      routes: [
        { target: 'gpu-2', model: 'Qwen/Qwen3-32B', weight: 100000 },
        { target: 'gpu-1', model: 'Qwen/Qwen3-32B', weight: 1 },
      ],
      strategy: { mode: 'loadbalance' },
      fallbacks: ['smart'],
    },
    { name: 'oss/*', routes: [{ target: 'gpu-1', model: '*' }], listed: false },
  ],
});

/** Three instances with pools of credentials, of which some are benched, rest or do not resolve, behind three groups, with rows of all of it. */
export async function startFleetDashboard(choices: GatewayChoices = {}): Promise<FleetGateway> {
  const vendor = await vendorByKey();
  const t = await startDashboard({
    ...choices,
    config: { ...fleetConfig(vendor.url), ...choices.config },
    variables: { ...VALUES, GW_CONFIG_ENV: Object.keys(VALUES).join(), ...choices.variables },
  });
  for (const model of ['smart', 'qwen3', 'oss/llama', 'smart'])
    await t.post(
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: 'hi' }] },
      { 'x-gateway-session': 's-1' },
    );
  await t.post('/v1/chat/completions', { model: 'Qwen/Qwen3-32B', messages: [{ role: 'user', content: 'hi' }] });
  return { ...t, vendor };
}
