import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Joi from 'joi';
import { bearer, definePlugin, defineProvider, type PluginModule, type PluginType, type Stage } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { MODULES } from '../../builtins/manifest.ts';
import {
  atEnd,
  eventually,
  inSoak,
  MASTER_KEY,
  type RawClient,
  rawClient,
  some,
  startHost,
  type TestHost,
} from '../kit/index.ts';
import { stubProvider } from '../kit/upstream.ts';

/**
 * Uploads that a client sends slowly, with every combination of shipped plugins that do not read them: the first bytes are at the
 * upstream before the client sends its last ones. A shipped plugin that is not named here must not hold them either.
 */
const READERS: readonly string[] = ['pii-redact', 'prompt-shield', 'secret-scan', 'webhook'];
/** These read with some settings only: here they have others. */
const READERS_BY_SETTINGS: Readonly<Record<string, object>> = {
  'regex-guard': { patterns: ['x'] },
  'word-filter': { blocked_words: ['x'] },
  'max-token': { max_input_length: 1e6 },
};
/** Settings that ask as much of a request as a plugin may without reading what is uploaded. */
const SETTINGS: Readonly<Record<string, object>> = {
  'schema-guard': { schema: { type: 'object' } },
  'request-logger': { persist: true },
  budget: { spend_limit_usd: 5, reserve_tokens: 10 },
  'rate-limit': { key_rpm: 1e6, user_rpm: 1e6, tokens_per_minute: 1e9, key_tpm: 1e9, user_tpm: 1e9 },
  'response-cache': { collapse: true },
  webhook: { url: 'http://127.0.0.1:1/' },
};

const PLUGINS = MODULES.filter((module): module is PluginModule => module.kind === 'plugin');
const STREAMING = PLUGINS.map(({ name }) => name).filter((name) => !READERS.includes(name));
const stagesOf = (name: string): readonly Stage[] => PLUGINS.find((module) => module.name === name)?.stages ?? [];
const entries = (name: string, stages = stagesOf(name), config = SETTINGS[name] ?? {}): readonly object[] =>
  stages.map((stage) => ({ name, stage, enabled: true, config }));

/** Every choice of the names: none, each alone, each two, … and all of them. */
const combinations = Array.from({ length: 2 ** STREAMING.length }, (_, bits) =>
  STREAMING.filter((_name, at) => ((bits >> at) & 1) === 1),
);
const isSmall = (names: readonly string[]): boolean => names.length <= 2 || names.length === STREAMING.length;

interface Upload {
  readonly what: string;
  readonly head: string;
  readonly first: string;
  readonly last: string;
}

const LAST = 600_000;
const BODIES: readonly (readonly [type: string, first: string, last: string])[] = [
  ['application/json', '{"purpose":"x","text":"', `${'y'.repeat(LAST)}"}`],
  [
    'multipart/form-data; boundary=b',
    '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nbegin',
    `${'y'.repeat(LAST)}\r\n--b--\r\n`,
  ],
  ['application/octet-stream', '\x00\x01begin', 'y'.repeat(LAST)],
];
/** Where uploads go that name no model. */
const PLACES: readonly (readonly [path: string, headers: string])[] = [
  ['/v1/vector_stores', 'X-Provider: a\r\n'],
  ['/v1/files', ''],
  ['/v1/batches', ''],
  ['/v1/responses/r/cancel', ''],
];

const UPLOADS: readonly Upload[] = PLACES.flatMap(([path, headers]) =>
  BODIES.flatMap(([type, first, last]) =>
    [false, true].map((isChunked): Upload => ({
      what: `${path}, ${type}, ${isChunked ? 'in chunks' : 'of a known length'}`,
      head: `POST ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer ${MASTER_KEY}\r\n${headers}Content-Type: ${type}\r\n${isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${first.length + last.length}`}\r\n\r\n`,
      first: isChunked ? chunk(first) : first,
      last: isChunked ? `${chunk(last)}0\r\n\r\n` : last,
    })),
  ),
);

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

interface Scene {
  readonly t: TestHost;
  /** Bytes of its newest request that the upstream has, and how many requests it had. */
  readonly arrived: () => { readonly bytes: number; readonly requests: number };
}

async function scene(
  plugins: readonly object[],
  modules: readonly PluginModule[] = [],
  config: object = {},
): Promise<Scene> {
  let bytes = 0;
  let requests = 0;
  const server = createServer((request, response) => {
    bytes = 0;
    requests += 1;
    request
      .on('error', () => {})
      .on('data', (piece: Buffer) => {
        bytes += piece.length;
      })
      .on('end', () => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"x"}');
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const provider = defineProvider({
    name: 'a',
    wire: 'common',
    params: {},
    translators: commonTranslators(['chat'], {}),
    passthrough: true,
    responses: true,
    batches: true,
    connection: {
      env: ['STUB_API_KEY'],
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      authorize: bearer('STUB_API_KEY'),
    },
  });
  const t = await startHost(
    {
      batch_target: 'a',
      responses_target: 'a',
      targets: [{ virtual_key: 'a', models: ['m'], [stubProvider]: provider }],
      plugins,
      ...config,
    },
    { modules },
  );
  return { t, arrived: () => ({ bytes, requests }) };
}

/** Sends the beginning of a body; gives the connection once it is at the upstream. */
async function begin({ t, arrived }: Scene, { head, first }: Upload): Promise<RawClient> {
  const before = arrived().requests;
  const client = await rawClient(t.url);
  client.send(head + first);
  await eventually(() => arrived().requests > before && arrived().bytes > 0);
  expect(arrived().requests, 'the upstream has not heard of it yet').to.equal(before + 1);
  return client;
}

async function streams(asked: Scene, upload: Upload): Promise<void> {
  const client = await begin(asked, upload);
  expect(asked.arrived().bytes).to.be.within(1, upload.first.length);
  client.send(upload.last);
  expect(await client.closed()).to.match(/^HTTP\/1\.1 200 /);
  expect(asked.arrived().bytes).to.be.above(LAST);
}

/** Sends the beginning, and sees that nothing of it is at the upstream when a later request has been answered. */
async function isHeld(asked: Scene, upload: Upload): Promise<void> {
  const client = await rawClient(asked.t.url);
  client.send(upload.head + upload.first);
  await asked.t.get('/livez');
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  expect(asked.arrived().requests).to.equal(0);
  client.send(upload.last);
  await client.closed();
}

describe('a slow upload', () => {
  it('is read by some of the shipped plugins, and by no others', () => {
    expect(STREAMING).to.have.members([
      'budget',
      'max-token',
      'rate-limit',
      'regex-guard',
      'request-logger',
      'response-cache',
      'schema-guard',
      'word-filter',
    ]);
  });

  for (const [at, upload] of some([...UPLOADS.entries()], { every: 5 })) {
    it(`goes up as it arrives with no plugin, and with all that do not read it: ${upload.what}`, async () => {
      await streams(await scene([]), upload);
      const asked = await scene(STREAMING.flatMap((name) => entries(name)));
      await streams(asked, upload);
      const lines = asked.t.lines.filter(({ msg }) => msg === 'gateway request' || msg === 'gateway response');
      expect(
        lines.map(({ msg, model, provider }) => [msg, model, provider]),
        String(at),
      ).to.deep.equal([
        ['gateway request', '', undefined],
        ['gateway response', '', 'a'],
      ]);
    });
  }

  for (const [at, names] of some(combinations.filter(isSmall), { every: 9 }).entries()) {
    it(`goes up as it arrives with ${names.join(', ') || 'none'}`, async () => {
      const asked = await scene(names.flatMap((name) => entries(name)));
      for (const upload of some(UPLOADS, { every: UPLOADS.length, from: at % UPLOADS.length }))
        await streams(asked, upload);
    });
  }

  inSoak('goes up as it arrives with every combination of them', async () => {
    for (const [at, names] of combinations.entries())
      await streams(await scene(names.flatMap((name) => entries(name))), UPLOADS[at % UPLOADS.length] as Upload);
  });

  for (const name of [...READERS, ...Object.keys(READERS_BY_SETTINGS)]) {
    it(`is held while ${name} must read it`, async () => {
      await isHeld(
        await scene(entries(name, ['before_request'], READERS_BY_SETTINGS[name] ?? SETTINGS[name])),
        UPLOADS[0] as Upload,
      );
    });
  }

  it('that names its model first goes up behind it, and the log has the model', async () => {
    const asked = await scene(STREAMING.flatMap((name) => entries(name)));
    const upload = UPLOADS[1] as Upload;
    await streams(asked, {
      ...upload,
      head: upload.head.replace('X-Provider: a\r\n', ''),
      first: chunk('{"model":"m","text":"'),
    });
    const lines = asked.t.lines.filter(({ msg }) => msg === 'gateway request' || msg === 'gateway response');
    expect(lines.map(({ model, provider }) => [model, provider])).to.deep.equal([
      ['m', undefined],
      ['m', 'a'],
    ]);
  });

  const TYPES: readonly PluginType[] = ['guardrail', 'ratelimit', 'transform', 'auth', 'logging', 'metrics'];
  const others = (needsBody?: boolean): readonly PluginModule[] =>
    TYPES.map((type) =>
      definePlugin({
        name: `my-${type}`,
        type,
        summary: 'For this test',
        stages: ['before_request'],
        settings: Joi.object({}),
        create: () => ({ before_request: () => {} }),
        ...(needsBody !== undefined && { needsBody: () => needsBody }),
      }),
    );

  for (const type of TYPES) {
    const plugins = entries(`my-${type}`, ['before_request']);
    it(`goes up as it arrives with a plugin of others that says it does not need the body: ${type}`, async () => {
      await streams(await scene(plugins, others(false)), UPLOADS[0] as Upload);
    });

    const mayRead = type === 'guardrail' || type === 'transform' || type === 'logging';
    it(`${mayRead ? 'is held for' : 'goes up as it arrives with'} a plugin of others that says nothing: ${type}`, async () => {
      await (mayRead ? isHeld : streams)(await scene(plugins, others()), UPLOADS[0] as Upload);
    });
  }

  /** More than the first MiB, which is held of `/v1/responses` with no plugin, too. */
  const MUCH = 2 * 1024 * 1024;
  const response = (isChunked: boolean): Upload => {
    const first = `{"model":"m","input":"${'x'.repeat(MUCH)}`;
    const last = `${'y'.repeat(LAST)}","user":"u","max_output_tokens":5}`;
    return {
      what: 'a response',
      first: isChunked ? chunk(first) : first,
      last: isChunked ? `${chunk(last)}0\r\n\r\n` : last,
      head: `POST /v1/responses HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Type: application/json\r\n${isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${first.length + last.length}`}\r\n\r\n`,
    };
  };
  /** What each needs of a long request for a response: a ceiling, a user. */
  const NEEDY: readonly (readonly [string, object])[] = [
    ['max-token', {}],
    ['rate-limit', { user_rpm: 100 }],
    ['budget', {}],
  ];
  const FRUGAL: readonly (readonly [string, object])[] = [
    ['request-logger', {}],
    ['rate-limit', { key_rpm: 100, tokens_per_minute: 1e6 }],
    ['max-token', { max_tokens: 0, max_messages: 0 }],
    ['regex-guard', {}],
    ['word-filter', {}],
    ['response-cache', {}],
    ['schema-guard', { schema: {} }],
  ];
  for (const isChunked of [false, true]) {
    it(`of a response goes up as it arrives with plugins that need no member of it${isChunked ? ', in chunks' : ''}`, async () => {
      const config = { max_request_bytes: 4 * MUCH };
      await streams(await scene([], [], config), response(isChunked));
      await streams(
        await scene(
          FRUGAL.flatMap(([name, settings]) => entries(name, stagesOf(name), settings)),
          [],
          config,
        ),
        response(isChunked),
      );
    });
  }

  for (const [name, settings] of NEEDY) {
    it(`of a response is held while ${name} needs a member of it`, async () => {
      await isHeld(
        await scene(entries(name, stagesOf(name), settings), [], { max_request_bytes: 4 * MUCH }),
        response(false),
      );
    });
  }
});
