import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { AsyncSeriesWaterfallHook } from 'tapable';
import type {
  CallInfo, GatewayError, OutgoingRequest, ProviderModule, ReplyOf, RequestOf, TranslatedSurface, Translator, UnaryReply, WireRequest,
} from '../../host/contract/index.ts';
import type { Attempt } from '../../host/pipeline/attempt.ts';
import { outgoingRequest } from '../../host/pipeline/translate.ts';
import { connectProvider, type ConnectedProvider, hasCredentials } from '../../host/upstream/connect.ts';
import { replyError } from '../../host/upstream/fault.ts';
import { ask, startHost, type TestHost } from './host.ts';
import { replyJson, type StubHandler, stubUpstream, type StubUpstream } from './upstream.ts';

/** What a vendor documents of one surface. */
export interface SurfaceFacts {
  readonly model: string;
  /** Where its requests go, for a configured address without a trailing slash. */
  readonly url: (address: string) => string;
}

/** What the suite is told about a provider: facts of its vendor, nothing of how its module is written. */
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

export function connect(module: ProviderModule, variables: Readonly<Record<string, string | undefined>>): Promise<ConnectedProvider> {
  return connectProvider(module, variables, { log: quiet as never, now: () => 0 });
}

export function callOf(provider: ConnectedProvider, model: string, stream = false): CallInfo {
  return {
    model, stream, root: provider.root, credentials: provider.credentials, exchangeId: '0'.repeat(32),
    signal: new AbortController().signal, wait: () => Promise.resolve(),
  };
}

/** The translator of a surface; fails the test when there is none. */
export function translator<S extends TranslatedSurface>(module: ProviderModule, surface: S): Translator<S> {
  const found = module.translators[surface];
  if (!found) throw new Error(`${module.name} has no translator for ${surface}`);
  return found as unknown as Translator<S>;
}

/** What a provider makes of a request: the wire, and the request as it leaves, credential included. */
export async function translate<S extends TranslatedSurface>(provider: ConnectedProvider, surface: S, request: RequestOf<S>, stream = false): Promise<{ wire: WireRequest; sent: OutgoingRequest }> {
  const wire = translator(provider.module, surface).toUpstream(Object.freeze(request), callOf(provider, request.model, stream));
  const attempt = { provider, exchange: { generation: { hooks: { outgoing: new AsyncSeriesWaterfallHook(['request', 'attempt']) } } } };
  const { form: _form, ...rest } = wire;
  return { wire, sent: await outgoingRequest(attempt as unknown as Attempt, rest) };
}

/** A whole reply with this body, JSON unless it is bytes or text. */
export function wireReply(body: unknown, status = 200, type = 'application/json'): UnaryReply & { readonly body: Buffer } {
  const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { status, headers: { 'content-type': type }, body: bytes, json: () => JSON.parse(bytes.toString('utf8')) as unknown };
}

export function readReply<S extends TranslatedSurface>(provider: ConnectedProvider, surface: S, request: RequestOf<S>, reply: UnaryReply): ReplyOf<S> {
  return translator(provider.module, surface).fromUpstream(reply, callOf(provider, request.model), request);
}

export interface ProviderGateway {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
}

/** A gateway whose only target is the provider, called at a stub. */
export async function gatewayOf(facts: ProviderFacts, handler: StubHandler, more: { readonly config?: object; readonly variables?: Record<string, string>; readonly modules?: readonly ProviderModule[] } = {}): Promise<ProviderGateway> {
  const upstream = await stubUpstream(handler);
  const models = [...new Set(Object.values(facts.surfaces).map(({ model }) => model))];
  const config = { targets: [{ virtual_key: facts.name, models }], ...more.config };
  const host = await startHost(config, { variables: { ...more.variables, ...variablesOf(facts, upstream.url) }, modules: more.modules ?? [] });
  return { host, upstream };
}

export function sendText(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

export const CHAT = '/v1/chat/completions';

/** The chat request of the suite: one user message, `max_tokens` 64, `temperature` 0.2. Source: providers reference 13. */
export function canonicalChat({ surfaces }: ProviderFacts, more: object = {}): Record<string, unknown> & { model: string } {
  return ask('hi', { model: surfaces.chat.model, max_tokens: 64, temperature: 0.2, ...more }) as Record<string, unknown> & { model: string };
}

/** Bodies no provider should send, and some do. */
export const STRANGE_BODIES: readonly string[] = [
  '', ' ', 'null', 'true', '0', '""', '[]', '[null]', '{}', '{"choices":null}', '{"choices":[]}', '{"choices":{}}', '{"choices":[null]}', '{"data":null}', '{"data":[]}',
  '{"data":[null]}', '{"data":[{"embedding":null}]}', '{"embeddings":null}', '{"embeddings":[]}', '{"results":null}', '{"results":[]}', '{"results":[null]}', '{"scores":[]}', '{"scores":"x"}',
  '{"rankings":[]}', '{"rankings":[{"index":99,"logit":"x"}]}', '{"audio_data":7}', '{"text":7}', '{"error":"broken"}', '{"error":{"message":"broken"}}', '{"choices":[{"message":', '<html>busy</html>',
  '\u0000\u0001\u0002', '[[]]', '[[null]]', '{"usage":"x","choices":7}', '{"__proto__":{"choices":[]}}',
];

/** Checks that hold for every provider. Declares them; call it inside or outside a `describe`. Sources: providers reference 1.2, 1.4, 2.1, 11, 12, 13. */
export function providerContract(module: ProviderModule, facts: ProviderFacts): void {
  describe(`${facts.name}, contract`, () => {
    registration(module, facts);
    addresses(module, facts);
    answers(facts);
    failures(module, facts);
    robustness(module, facts);
  });
}

function registration(module: ProviderModule, facts: ProviderFacts): void {
  it('is registered when its variables are all set, and not when one is missing or empty', () => {
    const all = variablesOf(facts, 'http://h:9911');
    expect(hasCredentials(module, all), 'all of them').to.equal(true);
    for (const variable of facts.required) {
      for (const value of [undefined, '']) expect(hasCredentials(module, { ...all, [variable]: value }), `${variable} ${value === '' ? 'empty' : 'missing'}`).to.equal(false);
    }
  });
}

function addresses(module: ProviderModule, facts: ProviderFacts): void {
  it('sends every surface to the configured address, with its own credential alone', async () => {
    for (const address of ['http://h:9911', 'http://h:9911/probe']) {
      const provider = await connect(module, variablesOf(facts, address));
      for (const [surface, { model, url }] of Object.entries(facts.surfaces)) {
        const { sent } = await translate(provider, surface as TranslatedSurface, minimal(surface as TranslatedSurface, model) as never);
        const expected = url(address);
        expect(sent, surface).to.include({ method: 'POST', url: expected });
        if (expected.startsWith(address)) expectInside(sent.url, address, facts);
        expect(Object.keys(sent.headers).filter((name) => name !== name.toLowerCase()), `${surface}: header names`).to.deep.equal([]);
        expect(sent.headers['authorization'], `${surface}: credential`).to.equal(facts.credential && `Bearer ${valueOf(facts.credential)}`);
        expect(Object.keys(sent.headers), `${surface}: headers`).to.be.an('array').that.satisfies((names: string[]) => names.every((name) => ['authorization', 'content-type', 'accept'].includes(name)));
      }
    }
  });
}

function expectInside(url: string, address: string, { addsVersion }: ProviderFacts): void {
  expect(url.startsWith(`${address}/`), url).to.equal(true);
  if (addsVersion || !address.endsWith('/probe')) return;
  expect(url.slice(address.length).split('/').filter((segment) => /^v\d+[a-z]*$/.test(segment)), `version segments of ${url}`).to.deep.equal([]);
}

/** The smallest request of each surface. */
export function minimal(surface: TranslatedSurface, model: string): object {
  async function* noBytes(): AsyncGenerator<Uint8Array> {}
  const file = { filename: 'a.wav', bytes: 0, open: noBytes };
  const requests: Readonly<Record<TranslatedSurface, object>> = {
    chat: { messages: [{ role: 'user', content: 'hi' }] }, embeddings: { input: ['first', 'second'] }, images: { prompt: 'a harbour' },
    rerank: { query: 'q', documents: ['first', 'second', 'third', 'fourth'] }, moderations: { input: ['one', 'two'] },
    'audio.transcriptions': { file }, 'audio.translations': { file }, 'audio.speech': { input: 'hello', voice: 'alloy' },
  };
  return { model, ...requests[surface] };
}

function answers(facts: ProviderFacts): void {
  const { name, surfaces: { chat: { model } }, finish = 'stop' } = facts;
  it('answers chat: content, role, finish reason, usage, model, id and its own name', async () => {
    const { host } = await gatewayOf(facts, (_request, response) => sendText(response, 200, 'application/json', facts.golden('reply.json')));
    const answer = await host.post(CHAT, canonicalChat(facts));
    expect(answer.status, answer.text).to.equal(200);
    const { choices, usage, ...rest } = answer.json();
    expect(choices).to.have.length(1);
    expect(choices[0]).to.deep.include({ index: 0, finish_reason: finish });
    expect(choices[0].message).to.include({ role: 'assistant', content: 'conformance ok' });
    expect(usage).to.include({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
    expect(rest).to.include({ object: 'chat.completion', model, provider: name, id: (JSON.parse(facts.golden('reply.json')) as { id: string }).id });
    expect(rest['created']).to.be.a('number').greaterThan(0);
  });

  it('streams chat: deltas, one role, id and model everywhere, finish last, usage not before it', async () => {
    const { host } = await gatewayOf(facts, (_request, response) => sendText(response, 200, 'text/event-stream', facts.golden('stream.txt')));
    const answer = await host.post(CHAT, canonicalChat(facts, { stream: true }));
    const events = answer.events();
    expect(answer.status, answer.text).to.equal(200);
    expect(events.at(-1)).to.equal('[DONE]');
    expectStream(events.slice(0, -1), model, finish);
  });
}

/** Invariants of a streamed answer (providers reference 13.1). */
export function expectStream(chunks: any[], model: string, finish: string): void {
  const bearing = chunks.filter(({ choices }) => choices.length > 0);
  const deltas = bearing.map(({ choices: [choice] }) => choice.delta);
  expect(deltas.map(({ content }) => content).filter((content) => content)).to.deep.equal(['conformance', ' ok']);
  expect(deltas.map(({ role }) => role), 'roles').to.deep.equal(['assistant', ...Array.from({ length: deltas.length - 1 })]);
  expect(bearing.map(({ choices: [choice] }) => choice.finish_reason)).to.deep.equal([...Array.from({ length: bearing.length - 1 }, () => null), finish]);
  for (const chunk of chunks) expect(chunk).to.include({ object: 'chat.completion.chunk', model }).and.to.have.property('id').that.is.a('string').and.not.empty;
  const last = chunks.indexOf(bearing.at(-1));
  expect(chunks.slice(0, last).filter(({ usage }) => usage), 'usage before the finish').to.deep.equal([]);
  expect(chunks.findLast(({ usage }) => usage)?.usage).to.include({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
}

function failures(module: ProviderModule, facts: ProviderFacts): void {
  it('reads its own 401 and 404 bodies, and tells clients the status by its class', async () => {
    for (const [status, code] of [[401, 'upstream_auth_error'], [404, 'model_not_found']] as const) {
      const text = facts.golden(`error-${status}.json`);
      const { code: told, fault } = replyError(module, wireReply(text, status), 0) satisfies GatewayError;
      expect({ told, kind: fault?.kind, status: fault?.status }).to.deep.equal({ told: code, kind: 'status', status });
      expect(fault?.message, `the message of ${status}`).to.be.oneOf([facts.errors[status]].flat());
      const { host } = await gatewayOf(facts, (_request, response) => sendText(response, status, 'application/json', text));
      const client = await host.post(CHAT, canonicalChat(facts));
      expect(client.json().error, `${status} as the client sees it`).to.include({ code }).and.to.have.property('message').that.is.a('string').and.not.empty;
      expect((await host.post(CHAT, canonicalChat(facts, { stream: true }))).json().error, `${status} of a stream`).to.include({ code });
    }
  });

  it('lets neither its credential nor anything outside the envelope of an error through', async () => {
    const secret = facts.credential === undefined ? 'sk-abcdefghijklmnopqrstuvwxyz' : valueOf(facts.credential);
    const said = { error: { message: `key ${secret} is refused` }, detail: `key ${secret} is refused`, message: `key ${secret} is refused`, marker: 'outside-the-envelope' };
    for (const status of [400, 401, 404, 422, 429, 500]) {
      const { host } = await gatewayOf(facts, (_request, response) => replyJson(response, status, said));
      for (const stream of [false, true]) {
        const { text } = await host.post(CHAT, canonicalChat(facts, { stream }));
        expect(text, `${status}`).to.not.include(secret).and.not.include('outside-the-envelope');
        expect(JSON.parse(text).error.message, `${status}`).to.be.a('string').and.not.empty;
      }
      expect(JSON.stringify(host.lines), `the log of ${status}`).to.not.include(secret);
    }
  });
}

function robustness(module: ProviderModule, facts: ProviderFacts): void {
  it('makes a value or an error of any body, never an empty success', async () => {
    const provider = await connect(module, variablesOf(facts, 'http://h:9911'));
    for (const [surface, { model }] of Object.entries(facts.surfaces) as [TranslatedSurface, SurfaceFacts][]) {
      for (const body of STRANGE_BODIES) {
        const reply = outcomeOf(() => readReply(provider, surface, minimal(surface, model) as never, wireReply(body)));
        if (reply instanceof Error) continue;
        expect(reply, `${surface} of ${JSON.stringify(body)}`).to.be.an('object');
      }
    }
  });
}

export function outcomeOf<T>(run: () => T): T | Error {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error('something other than an error was thrown', { cause: error });
  }
}
