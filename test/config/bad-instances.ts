import type { BadDocument } from './bad-documents.ts';

type Instances = Readonly<Record<string, object>>;
const providers = (instances: Instances): object => ({ targets: [{ virtual_key: 'echo' }], providers: instances });
const one = (more: object): object => providers({ a: { kind: 'openai', api_key: '${A_KEY}', ...more } });
const pool = (...credentials: object[]): object => providers({ a: { kind: 'openai', credentials } });
const local = (more: object): object =>
  providers({ a: { kind: 'openai-compatible', base_url: 'http://localhost:8000', ...more } });
const at = (address: string): object => providers({ a: { kind: 'openai', base_url: address } });
const many = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));

/** A literal that no message may hold. */
export const LITERAL = 'literal-hunter2-hunter2';

const routes = ['chat/completions', 'completions', 'Embeddings', 'MESSAGES/', 'responses', 'rerank', 'models'];

const names: Readonly<Record<string, readonly BadDocument[]>> = {
  CV42: ['', 'A', 'a_b', '-a', 'a.b', 'a'.repeat(65), 'none', 'cache', 'unknown', 'gateway', 'mcp'].map((name) => ({
    document: providers({ [name]: { kind: 'openai', api_key: '${A_KEY}' } }),
    at: [`providers.${name}`],
    says: [`"${name}"`],
  })),
  CV45: [
    {
      document: providers({ a: { kind: 'openai', api_key: '${A}', credentials: [{ name: 'x', api_key: '${B}' }] } }),
      at: ['providers.a.api_key'],
      says: ['"a" has api_key beside credentials'],
    },
    { document: pool(), at: ['providers.a.credentials'], says: ['is empty'] },
  ],
  CV46: [
    {
      document: pool(
        { api_key: '${A}' },
        { name: 'X', api_key: '${A}' },
        { name: 'x', api_key: '${A}', vendor_account: 'Acme Inc' },
        { name: 'x', api_key: '${A}', vendor_account: 'a'.repeat(65) },
      ),
      at: [
        'providers.a.credentials[0].name',
        'providers.a.credentials[1].name',
        'providers.a.credentials[2].vendor_account',
        'providers.a.credentials[3].name',
        'providers.a.credentials[3].vendor_account',
      ],
      says: ['has no name', '"X"', '"x" twice', '"Acme Inc"'],
    },
  ],
  CV57: [
    {
      document: providers(
        Object.fromEntries(many(257, (index) => [`a${index}`, { kind: 'openai', api_key: '${A}' }] as const)),
      ),
      at: ['providers'],
      says: ['257 instances', '256'],
    },
    {
      document: providers(
        Object.fromEntries(
          many(17, (index) => [
            `a${index}`,
            {
              kind: 'openai',
              credentials: many(index === 0 ? 1 : 64, (each) => ({ name: `c${each}`, api_key: '${A}' })),
            },
          ]),
        ),
      ),
      at: ['providers'],
      says: ['1025 credentials', '1024'],
    },
    {
      document: pool(...many(65, (index) => ({ name: `c${index}`, api_key: '${A}' }))),
      at: ['providers.a.credentials'],
      says: ['65 credentials of "a"', '64'],
    },
    {
      document: one({ headers: Object.fromEntries(many(33, (index) => [`x-${index}`, 'v'] as const)) }),
      at: ['providers.a.headers'],
      says: ['33 headers', '32'],
    },
    {
      document: one({ models: many(10_001, (index) => `m${index}`) }),
      at: ['providers.a.models'],
      says: ['10001 models', '10000'],
    },
  ],
};

const secrets: Readonly<Record<string, readonly BadDocument[]>> = {
  CV47: [LITERAL, 'a${X}', '${X}${Y}', '${X:-y}', '$X', '${X} ', '', '${FILE:/run/secrets/x}', '${1X}'].flatMap(
    (text) => [
      {
        document: one({ api_key: text }),
        at: ['providers.a.api_key'],
        says: ['a credential must be a reference: ${NAME} or ${file:/run/secrets/name}'],
      },
      {
        document: providers({
          a: { kind: 'bedrock', settings: { region: 'eu-west-1' }, access_key_id: text, secret_access_key: '${S}' },
          b: { kind: 'openai', credentials: [{ name: 'c', api_key: text }] },
        }),
        at: ['providers.a.access_key_id', 'providers.b.credentials[0].api_key'],
        says: [],
      },
      {
        document: local({ proxy: { url: 'http://proxy:3128', username: 'gw', password: text } }),
        at: ['providers.a.proxy.password'],
        says: [],
      },
    ],
  ),
  CV48: [
    'x',
    '/etc/passwd',
    '/run/secrets/../../etc/passwd',
    '/run/secrets/./x',
    '/run/secrets',
    '/run/secretsx/y',
  ].map((path) => ({
    document: local({ api_key: `\${file:${path}}`, headers: { 'X-Api-Token': `Bearer \${file:${path}}` } }),
    at: ['providers.a.api_key', 'providers.a.headers.X-Api-Token'],
    says: [`the file "${path}"`],
  })),
  CV49: [
    'MASTER_KEY',
    'GW_API_KEY',
    'GW_STATE_URL',
    'GW_SEAL_KEY',
    'API_KEY_STORE_DSN',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    'OIDC_CLIENT_SECRET',
  ].map((name) => ({
    document: local({
      headers: { 'X-Token': `Bearer \${${name}}`, 'X-Key': `\${${name}}` },
      proxy: { url: 'http://proxy:3128', password: `\${${name}}` },
      credentials: [{ name: 'c', api_key: `\${${name}}` }],
    }),
    at: [
      'providers.a.headers.X-Token',
      'providers.a.headers.X-Key',
      'providers.a.proxy.password',
      'providers.a.credentials[0].api_key',
    ],
    says: [`${name} holds a secret of the gateway itself`],
  })),
};

const addresses: Readonly<Record<string, readonly BadDocument[]>> = {
  CV50: [
    ...[
      'ftp://h/v1',
      'h:8000',
      'https://',
      'https://h/v1?key=x',
      'https://h/v1#x',
      `https://user:${LITERAL}@h/v1`,
      'https://user@h/v1',
      'https://${HOST}/v1',
      'https://h/a b',
      'https://h\\@x/v1',
      'https://h//v1',
      'https://h/v1//',
      'http://169.254.169.254/v1',
      'http://169.254.0.1',
      'http://2852039166/v1',
      'http://0xa9fea9fe/v1',
      'http://0251.0376.0251.0376/v1',
      'http://[::ffff:169.254.169.254]/v1',
      'http://[fe80::1]/v1',
      'http://[fd00:ec2::254]/v1',
      'http://metadata.google.internal/v1',
      'http://metadata.google.internal./v1',
      'http://169.254.169.254./v1',
    ].map((address) => ({ document: at(address), at: ['providers.a.base_url'], says: ['base_url of "a"'] })),
    ...routes.map((route) => ({
      document: at(`https://h.example/v1/${route}`),
      at: ['providers.a.base_url'],
      says: ['which the gateway adds itself'],
      fix: `cut off "/${route.toLowerCase().replace(/\/$/, '')}"`,
    })),
    ...['azure-openai', 'azure-foundry', 'databricks', 'hugging-face'].map((kind) => ({
      document: providers({ a: { kind, api_key: '${A_KEY}' } }),
      at: ['providers.a.base_url'],
      says: [`"a" has no base_url, which ${kind} needs`],
    })),
    {
      document: providers({ a: { kind: 'ollama' }, b: { kind: 'openai-compatible' } }),
      at: ['providers.a.base_url', 'providers.b.base_url'],
      says: [],
    },
  ],
  CV51: [
    'a b',
    '',
    'host',
    'Content-Length',
    'content-type',
    'transfer-encoding',
    'connection',
    'upgrade',
    'TE',
    'trailer',
  ]
    .concat(['expect', 'accept-encoding', 'traceparent', 'tracestate', 'baggage', 'X-Gateway-Foo', 'x-request-id'])
    .concat([
      'keep-alive',
      'Proxy-Connection',
      'content-encoding',
      'http2-settings',
      'x_gateway_session',
      'Content_Length',
    ])
    .concat(['x'.repeat(257)])
    .map((name): BadDocument => ({
      document: one({ headers: { [name]: 'v' } }),
      at: ['providers.a.headers'],
      says: [`the header "${name.slice(0, 256)}"`],
    }))
    .concat([{ document: one({ headers: { 'X-A': 'v', 'x-a': 'w' } }), at: ['providers.a.headers'], says: ['twice'] }]),
  CV52: [
    ...['X-Api-Key', 'my_token', 'Session.Cookie', 'x-credentials', 'proxy-authorization', 'X-SECRET'].map((name) => ({
      document: local({ headers: { [name]: LITERAL } }),
      at: [`providers.a.headers.${name}`],
      says: ['must be a reference'],
    })),
    ...[`sk-proj-${'a'.repeat(30)}`, 'a${X}', 'Bearer x${X}', '${X} ', ' v', 'v\n', 'é', '', 'v'.repeat(4097)].map(
      (value) => ({ document: one({ headers: { 'X-A': value } }), at: ['providers.a.headers.X-A'], says: [] }),
    ),
    ...['Authorization', 'x-api-key', 'api-key', 'X-Goog-Api-Key'].map((name) => ({
      document: one({ headers: { [name]: '${X}' } }),
      at: [`providers.a.headers.${name}`],
      says: ['"a" has a credential, which writes this header'],
    })),
  ],
  CV53: [
    { proxy: {} },
    { proxy: { url: 'socks5://proxy:1080' } },
    { proxy: { url: `http://gw:${LITERAL}@proxy:3128` } },
    { proxy: { url: 'http://proxy:3128/?x=1' } },
    { proxy: { url: 'http://proxy:3128', username: 'a:b' } },
  ].map((more) => ({ document: one(more), at: ['providers.a.proxy'], says: ['the proxy of "a"'] })),
  CV54: [
    { document: one({ tls: { ca_file: 'ca.pem' } }), at: ['providers.a.tls.ca_file'], says: ['not an absolute path'] },
    { document: local({ tls: { ca_file: '/ca.pem' } }), at: ['providers.a.tls.ca_file'], says: ['http address'] },
  ],
};

const models: Readonly<Record<string, readonly BadDocument[]>> = {
  CV55: [
    {
      document: one({ models: ['', ' a', 'a*', 'a?', 'b', 'b'] }),
      at: [0, 1, 2, 3, 5].map((index) => `providers.a.models[${index}]`),
      says: ['white space', 'patterns', 'repeats "b"'],
    },
  ],
  CV56: [{ document: one({ models: [], discover: true }), at: ['providers.a.discover'], says: ['lists its models'] }],
  CV58: [
    {
      document: pool({ name: 'c', api_key: '${A}', weight: -1 }, { name: 'd', api_key: '${A}' }),
      at: ['providers.a.credentials[0].weight'],
      says: ['weight of "c" is -1'],
    },
    {
      document: pool({ name: 'c', api_key: '${A}', weight: 0 }, { name: 'd', api_key: '${A}', weight: 0 }),
      at: ['providers.a.credentials'],
      says: ['weight 0'],
    },
  ],
  CV59: [0, 10_001, -1].map((value) => ({
    document: pool({ name: 'c', api_key: '${A}', max_concurrency: value }),
    at: ['providers.a.credentials[0].max_concurrency'],
    says: [`is ${value}`],
  })),
  CV60: [
    {
      document: pool({ name: 'c', api_key: '${A}', models: ['gpt-*', '*', 'a*b', '**', 'a?', '', ' a'] }),
      at: [2, 3, 4, 5, 6].map((index) => `providers.a.credentials[0].models[${index}]`),
      says: ['"a*b"', '"**"'],
    },
    {
      document: pool({ name: 'c', api_key: '${A}', models: many(1001, (index) => `m${index}`) }),
      at: ['providers.a.credentials[0].models'],
      says: ['1001 models', '1000'],
    },
  ],
  CV69: [
    {
      document: one({ data: { region: 'r'.repeat(65), retention_days: -1 } }),
      at: ['providers.a.data.region', 'providers.a.data.retention_days'],
      says: ['65 characters', '-1'],
    },
  ],
};

const kinds: Readonly<Record<string, readonly BadDocument[]>> = {
  BV10: [
    {
      document: providers({ a: {}, b: { kind: 'opnai' }, c: { kind: 'echo' } }),
      at: ['providers.a.kind', 'providers.b.kind', 'providers.c.kind'],
      says: ['"a" has no kind', '"opnai"', '"echo"'],
      fix: 'openai-compatible',
    },
  ],
  BV11: [
    {
      document: providers({
        a: { kind: 'openai', api_key: '${A}', settings: { organisation: 'x', project: 'ü' } },
        b: { kind: 'groq', api_key: '${A}', settings: { region: 'x' }, session_token: '${T}' },
        c: { kind: 'anthropic', api_key: '${A}', settings: { auth: 'basic' } },
        d: { kind: 'cloudflare', api_key: '${A}', settings: { account_id: ' ' }, discover: true },
        e: { kind: 'replicate', api_key: '${A}', settings: { text_models: { a: 1 } }, catalog: 'acme' },
        f: { kind: 'groq', credentials: [{ name: 'x', api_key: '${A}', organization: 'o' }] },
      }),
      at: [
        'providers.a.settings.organisation',
        'providers.a.settings.project',
        'providers.b.settings.region',
        'providers.b.session_token',
        'providers.c.settings.auth',
        'providers.d.settings',
        'providers.d.discover',
        'providers.e.settings.text_models',
        'providers.e.catalog',
        'providers.f.credentials[0].organization',
      ],
      says: [
        'openai has no setting "organisation"',
        'groq has no secret "session_token"',
        '"d" has no settings.account_id',
      ],
      fix: 'did you mean "organization"? use one of: organization, project',
    },
    {
      document: providers({ a: { kind: 'bedrock' }, b: { kind: 'vertex-ai' } }),
      at: ['providers.a.settings', 'providers.b.settings'],
      says: ['"a" has no settings.region', '"b" has no settings.project_id'],
    },
    {
      document: providers({ a: { kind: 'openai-compatible', base_url: 'http://h', settings: { auth: 'x-api-key' } } }),
      at: ['providers.a.settings.auth'],
      says: ['is not allowed'],
      fix: 'use one of: bearer, api-key',
    },
  ],
  BV12: [
    ...[
      { kind: 'openai' },
      { kind: 'openai', base_url: 'https://api.openai.com/other' },
      { kind: 'databricks', base_url: 'https://x.databricks.example' },
      { kind: 'cloudflare', settings: { account_id: 'a' }, base_url: 'https://api.cloudflare.com/client/v4' },
    ].map((block) => ({
      document: providers({ a: block }),
      at: ['providers.a'],
      says: ['"a" has no secret'],
      fix: 'api_key',
    })),
    {
      document: providers({
        a: { kind: 'bedrock', settings: { region: 'eu-west-1' }, access_key_id: '${A}' },
        b: { kind: 'bedrock', settings: { region: 'eu-west-1' }, api_key: '${A}', session_token: '${B}' },
        c: { kind: 'vertex-ai', settings: { project_id: 'p' }, api_key: '${A}', service_account_json: '${B}' },
        d: { kind: 'openai', credentials: [{ name: 'x', api_key: '${A}' }, { name: 'y' }] },
      }),
      at: ['providers.a', 'providers.b', 'providers.c', 'providers.d.credentials[1]'],
      says: ['has access_key_id', 'has api_key, session_token'],
      fix: 'bedrock takes api_key; or access_key_id, secret_access_key, perhaps session_token; or none',
    },
  ],
  BV13: [
    {
      document: providers({ groq: { kind: 'openai', api_key: '${A}' }, echo: { kind: 'openai', api_key: '${A}' } }),
      at: ['providers.groq', 'providers.echo'],
      says: ['"groq" is the name of another kind'],
    },
  ],
};

/** Documents that break the rules on `providers`. */
export const BAD_INSTANCES: Readonly<Record<string, readonly BadDocument[]>> = {
  ...names,
  ...secrets,
  ...addresses,
  ...models,
  ...kinds,
};
