import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { AsyncSeriesHook } from 'tapable';
import type {
  CallInfo,
  OutgoingRequest,
  ProviderModule,
  ReplyOf,
  RequestOf,
  TranslatedSurface,
  Translator,
  UnaryReply,
  WireRequest,
} from '../../host/contract/index.ts';
import type { Attempt } from '../../host/pipeline/attempts/attempt.ts';
import type { Departure } from '../../host/pipeline/hooks.ts';
import { outgoingRequest } from '../../host/pipeline/attempts/outgoing-request.ts';
import { connectProvider, type ConnectedProvider } from '../../host/upstream/connect.ts';
import { ask, startHost, type TestHost, type TestHostOptions } from './host.ts';
import { shippedFacts } from './facts.ts';
import { TRACE } from './provider-wire.ts';
import { expectTaken } from './strict/check.ts';
import { type StubHandler, stubUpstream, type StubUpstream } from './upstream.ts';

/** What a vendor documents of one surface. */
export interface SurfaceFacts {
  readonly model: string;
  /** Where its requests go, for a configured address without a trailing slash. */
  readonly url: (address: string) => string;
}

/** What the suite gets to know about a provider: facts of its vendor, nothing of how its module is written. */
export interface ProviderFacts {
  readonly name: string;
  /** The variables that register it. */
  readonly required: readonly string[];
  /** The variable that holds its address; may be one of the required ones. */
  readonly address: string;
  /** The variable whose value leaves as a bearer token; absent where nothing does. */
  readonly credential?: string | undefined;
  /** Its paths bring version segments of their own, whatever the address says. */
  readonly addsVersion?: boolean;
  readonly surfaces: Readonly<Partial<Record<TranslatedSurface, SurfaceFacts>>> & { readonly chat: SurfaceFacts };
  /** Text of a golden file of its chat surface: `reply.json`, `stream.txt`, `error-401.json`, `error-404.json`. */
  readonly golden: (file: string) => string;
  /** What its error files say, by status: a text, or several where more than one reading is right. */
  readonly errors: Readonly<Record<401 | 404, string | readonly string[]>>;
  /** `stop` unless said. */
  readonly finish?: string;
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The value the suite gives a variable. */
export function valueOf(variable: string): string {
  return `${variable.toLowerCase().replaceAll('_', '-')}-0123456789`;
}

/** Everything that registers the provider, with this address. */
export function variablesOf({ required, address }: ProviderFacts, url: string): Record<string, string> {
  return { ...Object.fromEntries(required.map((variable) => [variable, valueOf(variable)])), [address]: url };
}

export function connect(
  module: ProviderModule,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<ConnectedProvider> {
  return connectProvider(module, variables, { log: quiet, now: () => 0, trace: TRACE });
}

export function callOf(provider: ConnectedProvider, model: string, stream = false): CallInfo {
  return {
    model,
    stream,
    root: provider.root,
    credentials: provider.credentials,
    facts: shippedFacts(provider.module.name, model),
    exchangeId: '0'.repeat(32),
    signal: new AbortController().signal,
    wait: () => Promise.resolve(),
  };
}

/** The translator of a surface; fails the test when there is none. */
export function translator<S extends TranslatedSurface>(module: ProviderModule, surface: S): Translator<S> {
  const found = module.translators[surface];
  if (!found) throw new Error(`${module.name} has no translator for ${surface}`);
  return found as unknown as Translator<S>;
}

export interface Translated {
  readonly wire: WireRequest;
  readonly sent: OutgoingRequest;
  /** The body as the upstream decodes it; `undefined` for a form. */
  readonly body: any;
}

/** What a provider makes of a request: the wire, and the request as it leaves, credential included. */
export async function translate<S extends TranslatedSurface>(
  provider: ConnectedProvider,
  surface: S,
  request: RequestOf<S>,
  stream = false,
): Promise<Translated> {
  const wire = translator(provider.module, surface).toUpstream(
    Object.freeze(request),
    callOf(provider, request.model, stream),
  );
  if (surface === 'chat') expectTaken(provider.module, request, { wire, model: request.model, isChosen: false });
  const { form: _form, ...rest } = wire;
  const sent = await outgoingRequest({ provider } as Attempt, rest, {
    outgoing: new AsyncSeriesHook<[Departure]>(['departure']),
  });
  return { wire, sent, body: typeof sent.body === 'string' ? JSON.parse(sent.body) : undefined };
}

/** A whole reply with this body, JSON unless it is bytes or text. */
export function wireReply(
  body: unknown,
  status = 200,
  type = 'application/json',
): UnaryReply & { readonly body: Buffer } {
  const bytes =
    body instanceof Uint8Array
      ? Buffer.from(body)
      : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    status,
    headers: { 'content-type': type },
    body: bytes,
    json: () => JSON.parse(bytes.toString('utf8')) as unknown,
  };
}

export function readReply<S extends TranslatedSurface>(
  provider: ConnectedProvider,
  surface: S,
  request: RequestOf<S>,
  reply: UnaryReply,
): ReplyOf<S> {
  return translator(provider.module, surface).fromUpstream(reply, callOf(provider, request.model), request);
}

const nothing: StubHandler = (_request, response) => {
  response.end();
};

export interface ProviderGateway {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  /** From now on the stub answers like this. */
  readonly answerWith: (handler: StubHandler) => void;
}

export interface GatewayOptions {
  readonly config?: object;
  readonly variables?: Readonly<Record<string, string>>;
  readonly modules?: TestHostOptions['modules'];
}

/** A gateway whose only target is the provider, called at a stub. */
export async function gatewayOf(
  facts: ProviderFacts,
  handler: StubHandler = nothing,
  more: GatewayOptions = {},
): Promise<ProviderGateway> {
  let current = handler;
  const upstream = await stubUpstream((request, response) => current(request, response));
  const models = [...new Set(Object.values(facts.surfaces).map(({ model }) => model))];
  const config = { targets: [{ virtual_key: facts.name, models }], ...more.config };
  const host = await startHost(config, {
    variables: { ...more.variables, ...variablesOf(facts, upstream.url) },
    ...(more.modules && { modules: more.modules }),
  });
  return {
    host,
    upstream,
    answerWith: (next) => {
      current = next;
    },
  };
}

export function sendText(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

export const CHAT = '/v1/chat/completions';

/** The chat request of the suite: one user message, `max_tokens` 64, `temperature` 0.2. */
export function canonicalChat(
  { surfaces }: ProviderFacts,
  more: object = {},
): Record<string, unknown> & { model: string } {
  return ask('hi', { model: surfaces.chat.model, max_tokens: 64, temperature: 0.2, ...more }) as Record<
    string,
    unknown
  > & { model: string };
}

/** The smallest request of each surface. */
export function minimal(surface: TranslatedSurface, model: string): object {
  async function* noBytes(): AsyncGenerator<Uint8Array> {}
  const file = { filename: 'a.wav', bytes: 0, open: noBytes };
  const requests: Readonly<Record<TranslatedSurface, object>> = {
    chat: { messages: [{ role: 'user', content: 'hi' }] },
    embeddings: { input: ['first', 'second'] },
    images: { prompt: 'a harbour' },
    'images.edits': {
      prompt: 'a harbour',
      form: [
        { name: 'model', value: model },
        { name: 'image', file },
      ],
    },
    rerank: { query: 'q', documents: ['first', 'second', 'third', 'fourth'] },
    moderations: { input: ['one', 'two'] },
    'audio.transcriptions': { file },
    'audio.translations': { file },
    'audio.speech': { input: 'hello', voice: 'alloy' },
  };
  return { model, ...requests[surface] };
}

/** Routes of the surfaces that take JSON. */
export const ROUTES: Readonly<Partial<Record<TranslatedSurface, string>>> = {
  chat: CHAT,
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  rerank: '/v1/rerank',
  moderations: '/v1/moderations',
  'audio.speech': '/v1/audio/speech',
};

/** Fails unless the promise rejects with an error. */
export async function expectRejection(run: () => Promise<unknown>, what: string): Promise<void> {
  const outcome: unknown = await run().then(
    () => 'resolved',
    (error: unknown) => error,
  );
  expect(outcome, what).to.be.an('error');
}

export function outcomeOf<T>(run: () => T): T | Error {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error('something other than an error was thrown', { cause: error });
  }
}
