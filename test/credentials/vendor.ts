/** A vendor that answers each key as the test says, behind a declared instance with those keys. */
import {
  chatReply,
  replyJson,
  startHost,
  type SeenRequest,
  stubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

/** What a key gets: a status with a body, and headers. */
export interface VendorAnswer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Answers = (key: string, request: SeenRequest) => VendorAnswer | undefined;

export interface Vendor {
  readonly url: string;
  /** Keys in the order of the calls. */
  readonly keys: string[];
  readonly paths: string[];
  /** What it answers from now on; `undefined` of it is a chat. */
  answers: Answers;
}

export async function vendorOf(answers: Answers = () => undefined): Promise<Vendor> {
  const vendor: Vendor = { url: '', keys: [], paths: [], answers };
  const upstream = await stubUpstream((request, response) => {
    const key = keyIn(request.headers.authorization);
    vendor.keys.push(key);
    vendor.paths.push(request.url);
    const { status = 200, body = chatReply('hi'), headers = {} } = vendor.answers(key, request) ?? {};
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    replyJson(response, status, body);
  });
  return Object.assign(vendor, { url: upstream.url });
}

/** The key's name: `sk-of-a-0123456789` is `a`. */
const keyIn = (authorization = ''): string =>
  /^Bearer sk-of-(.+)-0123456789$/.exec(authorization)?.[1] ?? authorization;

export const variablesOf = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`KEY_${name.toUpperCase()}`, `sk-of-${name}-0123456789`]));

export interface PoolOptions extends TestHostOptions {
  readonly credentials?: Readonly<Record<string, object>>;
  readonly kind?: string;
  readonly target?: object;
  readonly config?: object;
  readonly provider?: object;
}

export const providerOf = (vendor: Vendor, names: readonly string[], more: PoolOptions = {}): object => ({
  kind: more.kind ?? 'openai',
  base_url: `${vendor.url}/v1`,
  credentials: names.map((name) => ({
    name,
    api_key: `\${KEY_${name.toUpperCase()}}`,
    ...more.credentials?.[name],
  })),
  ...more.provider,
});

/** A gateway with one instance `acme`, whose credentials have these names, for models `m` and `n`. */
export function startPool(vendor: Vendor, names: readonly string[], more: PoolOptions = {}): Promise<TestHost> {
  const { credentials: _credentials, kind: _kind, target, config, provider: _provider, variables, ...options } = more;
  return startHost(
    {
      strategy: { mode: 'fallback' },
      providers: { acme: providerOf(vendor, names, more) },
      targets: [{ virtual_key: 'acme', models: ['m', 'n'], ...target }],
      ...config,
    },
    { ...options, variables: { ...variablesOf(names), ...variables } },
  );
}

export const chat = (model = 'm', more: object = {}): object => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
});

export const RATE: VendorAnswer = {
  status: 429,
  body: { error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
};
export const BAD_KEY: VendorAnswer = {
  status: 401,
  body: { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } },
};
export const NO_CREDIT: VendorAnswer = {
  status: 429,
  body: { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
};
export const FORBIDDEN: VendorAnswer = { status: 403, body: { error: { message: 'not for you' } } };
export const BROKEN: VendorAnswer = { status: 500, body: { error: { message: 'oh' } } };
