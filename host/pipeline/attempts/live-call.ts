import type { IncomingHttpHeaders } from 'node:http';
import {
  type CallInfo,
  type ChatRequest,
  type ClientWireName,
  type Credentials,
  type ModelFacts,
  setMember,
  SURFACES,
  type TranslatedSurface,
  type Translator,
} from '../../contract/index.ts';
import { describedEntry } from '../billing/catalog-entry.ts';
import { asksForThoughts } from '../chat-via.ts';
import type { PipelineServices } from '../pipeline-services.ts';
import type { Attempt } from './attempt.ts';

/** One call as translators see it. The signal is made only for those who ask. */
export class LiveCall implements CallInfo {
  readonly model: string;
  readonly stream: boolean;
  readonly root: string;
  readonly credentials: Credentials;
  readonly exchangeId: string;
  readonly #attempt: Attempt;
  readonly #services: PipelineServices;
  #facts: ModelFacts | undefined;

  constructor(attempt: Attempt, services: PipelineServices) {
    this.model = attempt.upstreamModel;
    this.stream = attempt.turn.streaming;
    this.root = attempt.provider.root;
    this.credentials = attempt.provider.credentials;
    this.exchangeId = attempt.exchange.id;
    this.#attempt = attempt;
    this.#services = services;
  }

  get maxOutputTokens(): number | undefined {
    const { target, exchange } = this.#attempt;
    const { catalog } = this.#services;
    const ofGroup = exchange.routing.group?.context?.max_output_tokens;
    if (ofGroup !== undefined) return ofGroup;
    const own = catalog.entry(target.catalogProvider, this.model)?.max_output_tokens;
    return own || describedEntry(target, this.model, catalog)?.max_output_tokens || undefined;
  }

  get provider(): string {
    return this.#attempt.provider.module.name;
  }

  /** One answer for the whole call: what other requests teach about the model counts from the next one on. */
  get facts(): ModelFacts {
    return (this.#facts ??= this.#attempt.target.factsOf(this.model));
  }

  get wantsThoughts(): boolean {
    const { exchange, turn } = this.#attempt;
    if (!SURFACES[exchange.surface].isChat) return false;
    const { sent } = exchange;
    return sent ? sent.dialect.wantsThoughts(sent.value) : asksForThoughts(turn.request as ChatRequest);
  }

  get leavesThoughts(): boolean {
    return this.#attempt.leavesThoughts;
  }

  get clientWire(): ClientWireName | undefined {
    return this.#attempt.exchange.sent?.wire;
  }

  get clientHeaders(): Readonly<Record<string, string>> | undefined {
    const {
      exchange,
      isSameWire,
      provider: {
        module: { clientHeaders: names },
      },
    } = this.#attempt;
    if (exchange.sent && !isSameWire) return undefined; // they speak of the client's own wire
    return names && exchange.clientHeaders && pickHeaders(exchange.clientHeaders, names);
  }

  get signal(): AbortSignal {
    return this.#attempt.cancellation.signal;
  }

  readonly wait = (ms: number): Promise<void> => this.#attempt.cancellation.wait(ms, this.#services.clock);
}

function pickHeaders(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) setMember(picked, name, Array.isArray(value) ? value.join(', ') : value);
  }
  return Object.keys(picked).length > 0 ? picked : undefined;
}

/** Whether an attempt's chat goes by the service's Responses API. */
export function goesByResponses({ via }: Attempt): boolean {
  return via?.via === 'responses';
}

/** The translator that serves the exchange's surface at the attempt's provider: of chats the one of the API that they go to. */
export function translatorOf(attempt: Attempt): Translator<TranslatedSurface> {
  const surface = SURFACES[attempt.exchange.surface].translator;
  const { translators } = attempt.provider.module;
  const translator = goesByResponses(attempt) ? translators.chat?.viaResponses : surface && translators[surface];
  if (!translator) throw new Error(`${attempt.provider.module.name} has no translator for ${attempt.exchange.surface}`); // routing has ruled it out
  return translator;
}
