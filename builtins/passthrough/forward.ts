import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, type OutgoingRequest } from '../../host/contract/index.ts';
import { translatesResponses } from '../../host/config/responses-mode.ts';
import type { AnswerStream } from '../../host/answer/stream.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import { contextOf } from '../../host/http/context.ts';
import { sendError } from '../../host/http/reply.ts';
import { answerExchange, type ReadRequest, type Serving } from '../../host/http/surface-route.ts';
import { forwardAttempt, type ForwardedReply } from '../../host/pipeline/attempts/forward-attempt.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { failReply, run } from '../../host/pipeline/run.ts';
import { checkedBody, refusing, requireListedFiles } from './checked-body.ts';
import { decide, type Decision } from './decision.ts';
import { type Destination, rootOf } from './destination.ts';
import { RESPONSES } from './family.ts';
import { leavingRequest } from './leaving-request.ts';
import { NAMES } from './look-ahead.ts';
import { rememberRunning } from './metering/later-usage.ts';
import { isFree, meteringOf, requirePrice } from './metering/metering.ts';
import { FrameSearch } from './models/frame-search.ts';
import { MemberScanner } from './models/member-scanner.ts';
import { type Ownership, ownershipOf, requireOwn } from './ownership.ts';
import type { HeldBody } from './read-ahead.ts';
import { type Forwarding, readForwarded } from './read-forwarded.ts';
import { resolve } from './resolve.ts';
import { sendForwardedReply } from './send-reply.ts';
import { answerTranslated } from './translation.ts';
import type { Taken } from './tunnel.ts';

/** Sends a request on to a provider, and its answer back. `taken` is the connection of a request for another protocol. */
export async function forwardRequest(
  host: Host,
  request: IncomingMessage,
  response: ServerResponse,
  taken?: Taken,
): Promise<void> {
  let forwarding: Forwarding;
  let read: ReadRequest;
  try {
    [forwarding, read] = await readForwarded(host, request, response, taken);
    contextOf(response).askedModel = forwarding.model;
    if (forwarding.family.asks && host.current) {
      const decision = decide(forwarding, read, host.current);
      if (await isAnsweredAsChat(forwarding, decision)) return;
      if (decision.drawn) read = { ...read, drawn: decision.drawn };
    }
    forwarding = withoutEnvelopes(forwarding);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    sendError(response, error, host.redactor);
    return;
  }
  const serving = new ForwardServing(forwarding);
  try {
    await answerExchange(host, forwarding.family.surface, read, response, serving);
  } finally {
    if (serving.exchange) rememberRunning(serving.exchange, host);
    forwarding.body.rest?.return(undefined).catch(() => {}); // what was not read is left to be read in vain
  }
}

/** Whether a request of `/v1/responses` was translated, because its target has another API. Nothing else of that API is. */
async function isAnsweredAsChat(forwarding: Forwarding, { isTranslated, drawn }: Decision): Promise<boolean> {
  const { host, family, request, response, named, body, taken } = forwarding;
  const generation = host.current;
  if (!generation || !isTranslated) return false;
  if (family !== RESPONSES)
    throw new GatewayError(
      'proxy_not_supported',
      'the provider of this model has no such request, and it cannot be translated',
    );
  if (taken) throw new GatewayError('proxy_not_supported', 'a response that is translated has no WebSocket');
  await answerTranslated({ host, generation, request, response, body, named, drawn });
  return true;
}

/** What only this gateway understands is cut out of a request that goes on as it is. */
function withoutEnvelopes(forwarding: Forwarding): Forwarding {
  const { host, family, body } = forwarding;
  const held =
    family.asks && !body.rest && host.current && translatesResponses(host.current.config)
      ? host.hooks.cleanForwarded.call(body.held)
      : undefined;
  if (!held) return forwarding;
  const scanner = new MemberScanner(NAMES);
  scanner.push(held);
  return { ...forwarding, body: { held, rest: undefined, declared: held.length }, scanner };
}

/** Serves one exchange by one request that goes on, and keeps both for what follows. */
class ForwardServing implements Serving {
  /** The exchange that is served, once there is one. */
  exchange: LiveExchange | undefined;
  readonly #forwarding: Forwarding;
  #body: HeldBody;
  #ownership: Ownership | undefined;
  #root = '';
  #outgoing: OutgoingRequest | undefined;
  #reply: ForwardedReply | undefined;

  constructor(forwarding: Forwarding) {
    this.#forwarding = forwarding;
    this.#body = forwarding.body;
  }

  async run(exchange: LiveExchange, generation: Generation): Promise<AnswerStream | undefined> {
    this.exchange = exchange;
    if (this.#forwarding.family.asks === 'count') {
      exchange.isCounting = true;
      exchange.measured.costUsd = 0;
    }
    exchange.routing.isFree = this.#forwarding.taken === undefined && isFree(this.#forwarding);
    let destination: Destination;
    try {
      destination = await this.#prepare(exchange, generation);
    } catch (cause) {
      throw await failReply(exchange, cause, generation);
    }
    return run(exchange, generation, async () => {
      await this.#forward(destination, exchange, generation);
      return undefined;
    });
  }

  /** Where the request goes, once it is clear that the key may send it there. */
  async #prepare(exchange: LiveExchange, generation: Generation): Promise<Destination> {
    const { family, paths, request, owned, host } = this.#forwarding;
    const destination = resolve(this.#forwarding, exchange, generation);
    this.#root = rootOf(destination.provider);
    this.#ownership = ownershipOf(
      { family, paths, method: request.method ?? '', owner: exchange.principal?.id ?? '', named: owned },
      generation.config,
    );
    if (this.#ownership) await requireOwn(this.#ownership, host.stores.owners.value);
    this.#body = checkedBody(this.#forwarding, this.#ownership, exchange, generation);
    return destination;
  }

  /** What is to be paid for is known by now: routes of a group without a price may have to be left out. */
  #priced(destination: Destination, exchange: LiveExchange, generation: Generation): Destination {
    const { unpriced, group } = exchange.routing;
    if (!group || unpriced?.rule !== 'refuse' || this.#forwarding.named !== undefined) return destination;
    const priced = resolve(this.#forwarding, exchange, generation);
    this.#root = rootOf(priced.provider);
    return priced;
  }

  async #forward(first: Destination, exchange: LiveExchange, generation: Generation): Promise<void> {
    const { taken, family, host, request } = this.#forwarding;
    const destination = this.#priced(first, exchange, generation);
    requirePrice(this.#forwarding, exchange, destination, generation);
    const isRead =
      this.#ownership?.told !== undefined ||
      this.#ownership?.isList === true ||
      meteringOf(this.#forwarding, exchange, generation, host) !== 'none';
    const outgoing = leavingRequest({ ...this.#forwarding, body: this.#body }, exchange, destination, isRead);
    this.#outgoing = outgoing;
    await requireListedFiles(this.#forwarding, outgoing, destination, exchange, generation);
    this.#reply = await forwardAttempt(
      exchange,
      {
        ...destination,
        request: outgoing,
        upgrade: taken && 'websocket',
        isTimedToHeaders: family.isTimedToHeaders,
        tells: family === RESPONSES && request.method === 'POST' && !taken ? 'status' : undefined,
      },
      generation,
    );
  }

  async send(
    _read: ReadRequest,
    exchange: LiveExchange,
    generation: Generation,
    response: ServerResponse,
  ): Promise<void> {
    const { taken, host, listed } = this.#forwarding;
    if (!this.#reply || !this.#outgoing) return;
    await sendForwardedReply(
      {
        reply: this.#reply,
        before: this.#outgoing,
        root: this.#root,
        ownership: this.#ownership,
        metering: meteringOf(this.#forwarding, exchange, generation, host),
        taken,
        host,
        frames:
          listed && taken
            ? new FrameSearch(generation.maxRequestBytes, refusing(this.#forwarding, exchange, generation))
            : undefined,
      },
      exchange,
      generation,
      response,
    );
  }
}
