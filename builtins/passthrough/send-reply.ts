import type { ServerResponse } from 'node:http';
import type { OutgoingRequest } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import { attributionHeaders } from '../../host/http/attribution.ts';
import { contextOf } from '../../host/http/context.ts';
import { sendBytes } from '../../host/http/reply.ts';
import { sendRelayed } from '../../host/http/send-answer.ts';
import type { ForwardedReply } from '../../host/pipeline/attempts/forward-attempt.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { failReply, finishForwarded } from '../../host/pipeline/run.ts';
import { closeBody } from '../../host/upstream/reply-body.ts';
import type { OwnedKind } from '../../host/stores/owners.ts';
import type { FrameSearch } from './models/frame-search.ts';
import { metered, watched } from './metering/metered-answer.ts';
import type { Metering } from './metering/metering.ts';
import type { Ownership } from './ownership.ts';
import { MAX_LIST, withoutForeign } from './owned-list.ts';
import { cleanBody, collected } from './refusal-body.ts';
import { relayedHeaders, type Relaying } from './reply-headers.ts';
import { createScrub } from './scrub.ts';
import { runTunnel, type Taken } from './tunnel.ts';
import { isCoded, openUsageReader, type UsageReader } from './metering/usage-reader.ts';

export interface Answered {
  readonly reply: ForwardedReply;
  /** The request without its credential. */
  readonly before: OutgoingRequest;
  /** What is read of the answer's usage, and why. */
  readonly metering: Metering;
  /** The root of the provider's paths. */
  readonly root: string;
  readonly ownership: Ownership | undefined;
  readonly taken: Taken | undefined;
  readonly host: Host;
  /** What looks through a tunnel, where something must. */
  readonly frames: FrameSearch | undefined;
}

/** Sends an answer on; then those hear of it who come after an answer, or after a failure. */
export async function sendForwardedReply(
  { reply, before, root, metering, ownership, taken, host, frames }: Answered,
  exchange: LiveExchange,
  generation: Generation,
  response: ServerResponse,
): Promise<void> {
  const relaying = {
    scrub: createScrub(before, reply.sent, host.redactor),
    place: { url: before.url, root, paths: host.paths },
  };
  const own = attributionHeaders(exchange, host.redactor, reply.refusal === undefined);
  const usage = (metering !== 'none' || ownership?.told) && !reply.refusal ? openUsageReader(reply.headers) : undefined;
  if (ownership?.told && !reply.refusal && isCoded(reply.headers))
    host.log.error('an owner could not be kept', {
      trace_id: exchange.id,
      kind: ownership.told,
      error: 'the answer is compressed',
    });
  if (reply.socket && taken)
    await runTunnel(
      {
        taken,
        reply,
        upstream: reply.socket,
        headers: [...relayedHeaders(reply, relaying), ...own],
        response,
        host,
        frames,
      },
      exchange,
      generation,
    );
  else if (ownership?.isList && !reply.refusal && !isCleaned(reply.status))
    await sendOwnList(reply, ownership, relaying, own, { exchange, generation, response, host });
  else if (isCleaned(reply.status) && before.method !== 'HEAD')
    await sendCleaned(reply, relaying, own, exchange, generation, response);
  else {
    const seen =
      usage && metering !== 'none' ? metered(reply, usage, metering, { exchange, generation, host }) : reply.body;
    const body =
      ownership?.told && usage
        ? owned(
            metering === 'none' ? watched(seen, usage) : seen,
            usage,
            { kind: ownership.told, owner: ownership.owner },
            host,
            exchange,
          )
        : seen;
    await sendRelayed(
      { status: reply.status, headers: [...relayedHeaders(reply, relaying), ...own], body, isHeadFirst: true },
      exchange,
      generation,
      response,
    );
  }
  exchange.delivery.isSent = true;
  if (reply.refusal) {
    await failReply(exchange, reply.refusal, generation);
    return;
  }
  await finishForwarded(exchange, generation);
}

/** Whose bodies may hold what the request said. See docs/passthrough.md#what-is-changed-on-the-way. */
const isCleaned = (status: number): boolean => status >= 300 && status !== 304;

async function sendCleaned(
  reply: ForwardedReply,
  relaying: Relaying,
  own: readonly string[],
  exchange: LiveExchange,
  generation: Generation,
  response: ServerResponse,
): Promise<void> {
  try {
    const { bytes, contentType } = await cleanBody(reply, exchange, relaying.scrub, generation.services.clock);
    const headers = relayedHeaders(
      reply,
      relaying,
      contentType === undefined
        ? ['content-length', 'content-encoding']
        : ['content-length', 'content-encoding', 'content-type'],
    );
    sendBytes(
      response,
      reply.status,
      [...headers, ...(contentType === undefined ? [] : ['Content-Type', contentType]), ...own],
      bytes,
    );
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
async function sendOwnList(
  { body, headers, rawHeaders, status }: ForwardedReply,
  { owner }: Ownership,
  relaying: Relaying,
  own: readonly string[],
  { exchange, generation, response, host }: Ends,
): Promise<void> {
  try {
    const isPlain = /^(?:identity)?$/i.test(headers['content-encoding']?.trim() ?? '');
    const bytes = isPlain ? await collected(body, generation.services.clock, MAX_LIST) : undefined;
    if (!bytes) closeBody(body);
    const list = await withoutForeign(bytes, owner, host.stores.owners.value);
    sendBytes(
      response,
      status,
      [...relayedHeaders({ rawHeaders, headers }, relaying, ['content-length', 'etag']), ...own],
      list,
    );
    exchange.measured.sentBytes = contextOf(response).bytes;
  } catch (cause) {
    throw await failReply(exchange, exchange.cancellation.cause ?? cause, generation);
  }
}

/** Remembers whose what was made is, before the answer ends, also where it breaks off: the provider has made it. */
async function* owned(
  body: AsyncIterable<Uint8Array>,
  reader: UsageReader,
  { kind, owner }: { readonly kind: OwnedKind; readonly owner: string },
  { stores, log }: Host,
  { id }: LiveExchange,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    await stores.owners.value
      .add(kind, reader.end().ids, owner)
      .catch((error: unknown) => log.error('an owner could not be kept', { trace_id: id, kind, error }));
  }
}
