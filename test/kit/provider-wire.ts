import { expect } from 'chai';
import {
  type CallInfo,
  type ChatRequest,
  type ClientWireName,
  type FormPart,
  GatewayError,
  type ModelFacts,
  type ProviderModule,
  type RequestOf,
  type TranslatedSurface,
  type Translator,
  type WireReply,
} from '../../host/contract/index.ts';
import { shippedFacts } from './facts.ts';
import { expectTaken } from './strict/check.ts';
import { createTrace } from '../../host/boundary/module-log.ts';
import { chatViaOf } from '../../host/pipeline/chat-via.ts';
import { baseUrlVariable } from '../../host/common/kinds/base-url-variable.ts';
import { type ConnectedProvider, connectProvider } from '../../host/upstream/connect.ts';

/** A request as a provider's translator makes it: where it goes, what it holds. */
export interface SentWire {
  readonly url: string;
  /** The body, as the upstream decodes it. */
  readonly body: any;
  readonly form: readonly FormPart[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly ignored: readonly string[];
  readonly bounded: readonly string[];
  readonly answerTokens: number | undefined;
  readonly withCredential: boolean | undefined;
}

export interface WireOptions {
  /** Beside the required ones, which are set. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly stream?: boolean;
  readonly clientHeaders?: Readonly<Record<string, string>>;
  readonly maxOutputTokens?: number;
  readonly facts?: ModelFacts;
  /** The wire of a client that does not speak the common one. */
  readonly clientWire?: ClientWireName;
  /** Whether the API of the service is the one that a gateway would choose; else it is chat. */
  readonly isChosen?: boolean;
}

interface Warned {
  readonly provider: ConnectedProvider;
  readonly warnings: readonly string[];
}

/**
 * One for all: each that has run stays in the context of what follows, and every further run copies that (Node 26.10). With one for each of some thousand
 * connections, a run took a hundred times as long.
 */
export const TRACE = createTrace();

/** A provider with its required variables set, and what it warned of. */
export async function connected(
  module: ProviderModule,
  variables: Readonly<Record<string, string>> = {},
): Promise<Warned> {
  const warnings: string[] = [];
  const quiet = (): void => {};
  const log = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (message: string) => {
      warnings.push(message);
    },
  };
  const address = baseUrlVariable(module);
  const required = Object.fromEntries(
    module.connection.env.flat().map((name) => [name, name === address ? 'http://h' : 'key']),
  );
  const provider = await connectProvider(module, { ...required, ...variables }, { log, now: () => 0, trace: TRACE });
  return { warnings, provider };
}

async function calling(
  module: ProviderModule,
  model: string,
  { variables = {}, stream = false, clientHeaders, maxOutputTokens, facts, clientWire }: WireOptions,
): Promise<CallInfo> {
  const {
    provider: { root, credentials },
  } = await connected(module, variables);
  return {
    clientHeaders,
    maxOutputTokens,
    facts: facts ?? shippedFacts(module.name, model),
    clientWire,
    model,
    stream,
    root,
    credentials,
    exchangeId: '0'.repeat(32),
    signal: new AbortController().signal,
    wait: async () => {},
  };
}

function translatorOf<S extends TranslatedSurface>(module: ProviderModule, surface: S): Translator<S> {
  const translator = module.translators[surface];
  if (!translator) throw new Error(`${module.name} serves no ${surface}`);
  return translator as unknown as Translator<S>;
}

/** The translator of the API that a gateway would choose for a chat, without configuration. */
function chosenOf(module: ProviderModule, request: ChatRequest, { model, facts = {} }: CallInfo): Translator<'chat'> {
  const provider = { module, ref: { kind: 'provider', name: module.name, file: undefined } } as never;
  const question = { target: { config: {} }, provider, model, facts, request, wantsThoughts: () => false } as never;
  const chat = translatorOf(module, 'chat') as NonNullable<ProviderModule['translators']['chat']>;
  return chatViaOf(question).via === 'responses' && chat.viaResponses ? chat.viaResponses : chat;
}

/** What leaves for a request; the request itself is frozen, and so must stay as it is. */
export async function sentBy<S extends TranslatedSurface>(
  module: ProviderModule,
  surface: S,
  request: RequestOf<S>,
  options: WireOptions = {},
): Promise<SentWire> {
  const call = await calling(module, request.model, options);
  const { isChosen = false } = options;
  const translator = isChosen ? chosenOf(module, request as ChatRequest, call) : translatorOf(module, surface);
  const wire = translator.toUpstream(frozen(request) as never, call);
  if (surface === 'chat') expectTaken(module, request, { wire, model: call.model, isChosen });
  const { path, body, form, headers = {}, ignored = [], bounded = [], answerTokens, withCredential } = wire;
  return {
    url: path.startsWith('/') ? call.root + path : path,
    body: body === undefined ? undefined : JSON.parse(JSON.stringify(body)),
    form,
    headers,
    ignored,
    bounded,
    answerTokens,
    withCredential,
  };
}

/** What the provider refuses to send, and why. */
export async function refusedBy<S extends TranslatedSurface>(
  module: ProviderModule,
  surface: S,
  request: RequestOf<S>,
  options: WireOptions = {},
): Promise<GatewayError> {
  try {
    await sentBy(module, surface, request, options);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  return expect.fail(`${module.name} refuses nothing`);
}

/** The reply in the common wire; a body that is not bytes arrives as JSON. */
export async function answeredBy<S extends TranslatedSurface>(
  module: ProviderModule,
  surface: S,
  request: RequestOf<S>,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<any> {
  const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(JSON.stringify(body));
  const reply = {
    status: 200,
    headers,
    body: bytes,
    json: () => JSON.parse(new TextDecoder().decode(bytes)) as unknown,
  };
  return translatorOf(module, surface).fromUpstream(reply, await calling(module, request.model, {}), request);
}

/** Whether reading a body as a reply fails; the message when it does. */
export async function unusableTo<S extends TranslatedSurface>(
  module: ProviderModule,
  surface: S,
  request: RequestOf<S>,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<string | undefined> {
  try {
    await answeredBy(module, surface, request, body, headers);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** An error reply, for `toFault`. */
export function failedReply(body: unknown, status = 400): WireReply {
  return {
    status,
    headers: {},
    body: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
  };
}

/** Where the provider's root lies for an address, or by default. */
export async function rootOf(
  module: ProviderModule,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  return (await connected(module, variables)).provider.root;
}

/** Only the first level: what translators must not touch are the fields of a request. */
function frozen<T extends object>(request: T): T {
  for (const value of Object.values(request)) if (Array.isArray(value)) value.forEach(Object.freeze);
  return Object.freeze(request);
}
