import type { ServerResponse } from 'node:http';
import type { OutgoingRequest } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import { attributionHeaders } from '../../host/http/attribution.ts';
import { contextOf } from '../../host/http/context.ts';
import { sendBytes } from '../../host/http/reply.ts';
import { sendRelayed } from '../../host/http/surface-route.ts';
import { billTurn } from '../../host/pipeline/billing.ts';
import type { ForwardedReply } from '../../host/pipeline/forward-attempt.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { failReply, finishForwarded } from '../../host/pipeline/run.ts';
import { closeBody } from '../../host/upstream/reply-body.ts';
import type { OwnedKind } from '../../host/stores/owners.ts';
import type { Ownership } from './ownership.ts';
import { MAX_LIST, withoutForeign } from './owned-list.ts';
import { cleanBody, collected } from './refusal-body.ts';
import { relayedHeaders } from './reply-headers.ts';
import { createScrub, type Scrub } from './scrub.ts';
import { runTunnel, type Taken } from './tunnel.ts';
import type { ResponseFacts } from './answer-facts.ts';
import { isCoded, isEventStream, openUsageReader, type UsageReader } from './usage-reader.ts';

export interface Answered {
  readonly reply: ForwardedReply;
  /** The request without its credential. */
  readonly before: OutgoingRequest;
  /** What the answer used is read, and paid for. */
  readonly isBilled: boolean;
  readonly ownership: Ownership | undefined;
  readonly taken: Taken | undefined;
  readonly host: Host;
}

/** Sends an answer on; then those hear of it who come after an answer, or after a failure. */
export async function sendForwardedReply({ reply, before, isBilled, ownership, taken, host }: Answered, exchange: LiveExchange, generation: Generation, response: ServerResponse): Promise<void> {
  const scrub = createScrub(before, reply.sent, host.redactor);
  const own = attributionHeaders(exchange, host.redactor);
  const usage = (isBilled || ownership?.told) && !reply.refusal ? openUsageReader(reply.headers) : undefined;
  if (ownership?.told && !reply.refusal && isCoded(reply.headers)) host.log.error('an owner could not be kept', { trace_id: exchange.id, kind: ownership.told, error: 'the answer is compressed' });
  if (reply.socket && taken) await runTunnel({ taken, reply, upstream: reply.socket, headers: [...relayedHeaders(reply, scrub), ...own], response, host }, exchange, generation);
  else if (ownership?.isList && !reply.refusal && !isCleaned(reply.status)) await sendOwnList(reply, ownership, scrub, own, { exchange, generation, response, host });
  else if (isCleaned(reply.status) && before.method !== 'HEAD') await sendCleaned(reply, scrub, own, exchange, generation, response);
  else {
    const seen = watched(reply, usage, isBilled, exchange, generation);
    const body = ownership?.told && usage ? owned(seen, usage, { kind: ownership.told, owner: ownership.owner }, host, exchange) : seen;
    await sendRelayed({ status: reply.status, headers: [...relayedHeaders(reply, scrub), ...own], body, isHeadFirst: true }, exchange, generation, response);
  }
  exchange.delivery.isSent = true;
  if (reply.refusal) {
    await failReply(exchange, reply.refusal, generation);
    return;
  }
  await finishForwarded(exchange, generation);
}

/** Whose bodies may hold what the request said. Source: data-plane reference 8.1. */
const isCleaned = (status: number): boolean => status >= 300 && status !== 304;

async function sendCleaned(reply: ForwardedReply, scrub: Scrub, own: readonly string[], exchange: LiveExchange, generation: Generation, response: ServerResponse): Promise<void> {
  try {
    const { bytes, contentType } = await cleanBody(reply, exchange, scrub, generation.services.clock);
    const headers = relayedHeaders(reply, scrub, contentType === undefined ? ['content-length', 'content-encoding'] : ['content-length', 'content-encoding', 'content-type']);
    sendBytes(response, reply.status, [...headers, ...(contentType === undefined ? [] : ['Content-Type', contentType]), ...own], bytes);
    exchange.measured.sentBytes = contextOf(response).bytes;
  } catch (cause) {
    throw await failReply(exchange, exchange.cancellation.cause ?? cause, generation);
  }
}

interface Ends {
  readonly exchange: LiveExchange;
  readonly generation: Generation;
  readonly response: ServerResponse;
  readonly host: Host;
}

/** A list leaves once it has been searched. */
async function sendOwnList({ body, headers, rawHeaders, status }: ForwardedReply, { owner }: Ownership, scrub: Scrub, own: readonly string[], { exchange, generation, response, host }: Ends): Promise<void> {
  try {
    const isPlain = /^(?:identity)?$/i.test(headers['content-encoding']?.trim() ?? '');
    const bytes = isPlain ? await collected(body, generation.services.clock, MAX_LIST) : undefined;
    if (!bytes) closeBody(body);
    const list = await withoutForeign(bytes, owner, host.stores.owners.value);
    sendBytes(response, status, [...relayedHeaders({ rawHeaders, headers }, scrub, ['content-length', 'etag']), ...own], list);
    exchange.measured.sentBytes = contextOf(response).bytes;
  } catch (cause) {
    throw await failReply(exchange, exchange.cancellation.cause ?? cause, generation);
  }
}

/** The bytes as they pass, seen by what reads their usage. What had come of an answer that breaks off, or is left, is billed as well. */
async function* watched({ body, headers }: ForwardedReply, usage: UsageReader | undefined, isBilled: boolean, exchange: LiveExchange, generation: Generation): AsyncGenerator<Uint8Array> {
  const { clock } = generation.services;
  const isStream = exchange.streaming && isEventStream(headers);
  let isWhole = false;
  try {
    for await (const piece of body) {
      if (isStream) exchange.measured.ttftMs ??= clock.monotonic() - exchange.arrivedAt;
      usage?.see(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
      yield piece;
    }
    isWhole = true;
  } finally {
    if (usage && isBilled) bill(usage.end(), isWhole, exchange, generation);
  }
}

/** Remembers whose what was made is, before the answer ends, also where it breaks off: the provider has made it. */
async function* owned(body: AsyncIterable<Uint8Array>, reader: UsageReader, { kind, owner }: { readonly kind: OwnedKind; readonly owner: string }, { stores, log }: Host, { id }: LiveExchange): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    await stores.owners.value.add(kind, reader.end().ids, owner).catch((error: unknown) => log.error('an owner could not be kept', { trace_id: id, kind, error }));
  }
}

/** The usage of an answer comes with its last event: what was reported is all of it. */
function bill({ usage, model, answered, images, doubts }: ResponseFacts, isWhole: boolean, exchange: LiveExchange, { services }: Generation): void {
  exchange.routing.reportedModel = model;
  billTurn(exchange, { usage, answered, images, doubts, isBroken: !isWhole && !usage }, services);
}
