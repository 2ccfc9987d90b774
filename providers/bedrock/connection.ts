import { type Connection, type ConnectionDeps, type Credentials, GatewayError, type OpenConnection } from 'gw/contract';
import { type KeySource, RequestSigner } from './signing.ts';

const valueOf = (credentials: Credentials, name: string): string => credentials[name]?.trim() ?? '';

export function regionOf(credentials: Credentials): string {
  return valueOf(credentials, 'AWS_REGION') || 'us-east-1';
}

/** Partitions by the beginning of their regions: the name that ARNs have, and the domain. Source: AWS, botocore "partitions.json", 2026-11-23. */
const PARTITIONS: readonly (readonly [prefix: string, name: string, domain: string])[] = [
  ['cn-', 'aws-cn', 'amazonaws.com.cn'],
  ['us-gov-', 'aws-us-gov', 'amazonaws.com'],
  ['eusc-', 'aws-eusc', 'amazonaws.eu'],
  ['us-iso-', 'aws-iso', 'c2s.ic.gov'],
  ['us-isob-', 'aws-iso-b', 'sc2s.sgov.gov'],
  ['eu-isoe-', 'aws-iso-e', 'cloud.adc-e.uk'],
  ['us-isof-', 'aws-iso-f', 'csp.hci.ic.gov'],
  ['', 'aws', 'amazonaws.com'],
];

const isIn =
  (region: string) =>
  ([prefix]: readonly [string, ...string[]]): boolean =>
    region.startsWith(prefix);

/** ARNs name the partition of their region. */
export function partitionOf(region: string): string {
  return PARTITIONS.find(isIn(region))?.[1] ?? 'aws';
}

function hostOf(service: string, credentials: Credentials): string {
  const region = regionOf(credentials);
  return `https://${service}.${region}.${PARTITIONS.find(isIn(region))?.[2] ?? 'amazonaws.com'}`;
}

/** The root of the service that reranks. */
export function agentRoot(credentials: Credentials): string {
  return (
    valueOf(credentials, 'AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME').replace(/\/+$/, '') ||
    hostOf('bedrock-agent-runtime', credentials)
  );
}

/** Any one of three variables registers the provider; which credential counts first: docs/providers.md#bedrock-models. */
export const connection: Connection = {
  env: [['AWS_BEARER_TOKEN_BEDROCK', 'AWS_REGION', 'AWS_ACCESS_KEY_ID']],
  optionalEnv: [
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME',
    'AWS_CA_BUNDLE',
  ],
  baseUrlEnv: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME',
  baseUrl: (credentials) => hostOf('bedrock-runtime', credentials),
  rootStyle: 'host',
  connectTimeoutMs: 15_000,
  settings: {
    region: { variable: 'AWS_REGION', isRequired: true },
    agent_base_url: 'AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME',
  },
  secrets: {
    api_key: 'AWS_BEARER_TOKEN_BEDROCK',
    access_key_id: 'AWS_ACCESS_KEY_ID',
    secret_access_key: 'AWS_SECRET_ACCESS_KEY',
    session_token: 'AWS_SESSION_TOKEN',
  },
  secretSets: [
    { needs: ['api_key'] },
    { needs: ['access_key_id', 'secret_access_key'], mayHave: ['session_token'] },
    { needs: [] },
  ],
  keyShapes: [{ shape: 'AKIA[A-Z0-9]{16}', shownAs: 'AWS_KEY' }],
  open,
};

/** A bearer token wins over fixed keys, and those over the default chain. Throws on half a credential and on a bad address. */
function open(credentials: Credentials, { log, now, mayLookFurther }: ConnectionDeps): OpenConnection {
  const keys = fixedKeys(credentials);
  requireRegion(regionOf(credentials));
  const rerankRoot = agentRoot(credentials);
  requireAddress(rerankRoot);
  if (valueOf(credentials, 'AWS_CA_BUNDLE') !== '')
    log.warn('AWS_CA_BUNDLE is not read: name the certificates in NODE_EXTRA_CA_CERTS', { provider: 'bedrock' });
  const further = mayLookFurther ? defaultChain : noKeys;
  const signer = new RequestSigner(regionOf(credentials), keys ? async () => keys : further, now);
  const token = valueOf(credentials, 'AWS_BEARER_TOKEN_BEDROCK');
  if (token === '') return { authorize: (request) => signer.sign(request) };
  // The service that reranks takes no bearer token.
  return {
    authorize: (request) =>
      request.url.startsWith(`${rerankRoot}/rerank`) ? signer.sign(request) : { authorization: `Bearer ${token}` },
  };
}

/** Keys from the environment; `undefined` when there are none. */
function fixedKeys(credentials: Credentials): KeySource | undefined {
  const [accessKeyId, secretAccessKey, sessionToken] = [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
  ].map((name) => valueOf(credentials, name));
  if (!accessKeyId && !secretAccessKey && !sessionToken) return undefined;
  if (!accessKeyId || !secretAccessKey)
    throw new Error('it needs both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither');
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

function requireRegion(region: string): void {
  if (!/^[a-z0-9-]+$/i.test(region)) throw new Error(`its region AWS_REGION "${region}" is not the name of a region`);
}

function requireAddress(address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#]/.test(address);
  if (!isPlain)
    throw new Error('its address AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME is not a plain http or https address');
}

/** Signs for an instance that has an API key alone: it cannot. */
async function noKeys(): Promise<never> {
  throw new GatewayError(
    'upstream_auth_error',
    'rerank at bedrock takes no API key: the credential needs access_key_id and secret_access_key',
  );
}

/** Environment, shared files, SSO, web identity, container and instance metadata. Tried once each: the gateway retries. */
async function defaultChain(): Promise<KeySource> {
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  return fromNodeProviderChain({ maxRetries: 0, clientConfig: { maxAttempts: 1 } });
}
