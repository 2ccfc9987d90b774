/** What a key's limits say of the files, uploads and batches that it sends on. */
import type { GatewayConfig } from '../../host/config/document.ts';
import type { GatewayError, OutgoingRequest } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { forwardAttempt } from '../../host/pipeline/attempts/forward-attempt.ts';
import { notListed } from '../../host/pipeline/key-access.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { NamedModel } from '../../host/pipeline/named-models.ts';
import type { Destination } from './destination.ts';
import { contentRequest, filesOfBatch, requireListedLines } from './models/batch-files.ts';
import { listedUpload, passesSearched } from './models/listed.ts';
import { isBound, isNewBatch, isUpload, type Ownership, searchedUpload } from './ownership.ts';
import type { HeldBody } from './read-ahead.ts';
import type { Forwarding } from './read-forwarded.ts';

/** The body as it goes up: searched on its way for files of others, and for models that the key may not use. */
export function checkedBody(
  forwarding: Forwarding,
  ownership: Ownership | undefined,
  exchange: LiveExchange,
  generation: Generation,
): HeldBody {
  return listedBody(searchedBody(forwarding, ownership, generation.config), forwarding, exchange, generation);
}

/** A body that is not JSON may hold what names files, as the lines of a batch do. */
function searchedBody(
  { body, request, taken, host }: Forwarding,
  ownership: Ownership | undefined,
  config: GatewayConfig,
): HeldBody {
  const isSearched =
    ownership &&
    isBound('file', config) &&
    !taken &&
    hasBytes(body) &&
    isUpload(request.method ?? '', request.headers['content-type'] ?? '');
  return isSearched ? searchedUpload(body, ownership.owner, host.stores.owners.value) : body;
}

export const hasBytes = ({ held, rest }: HeldBody): boolean => held.length > 0 || rest !== undefined;

/** What a key with a list of models uploads may hold lines that name others. */
function listedBody(body: HeldBody, forwarding: Forwarding, exchange: LiveExchange, generation: Generation): HeldBody {
  if (!forwarding.listed || !hasBytes(body) || !passesSearched(forwarding)) return body;
  return listedUpload(body, forwarding.request, refusing(forwarding, exchange, generation));
}

/** Why the caller may not name these models, if it may not. */
export const refusing =
  ({ host }: Forwarding, { limits = {} }: LiveExchange, { config: { aliases } }: Generation) =>
  (named: readonly NamedModel[]): GatewayError | undefined =>
    notListed(limits, named, aliases, host.redactor);

/** A batch of a key with a list of models runs no file that names others, no matter who has uploaded it. */
export async function requireListedFiles(
  forwarding: Forwarding,
  { headers }: OutgoingRequest,
  destination: Destination,
  exchange: LiveExchange,
  generation: Generation,
): Promise<void> {
  const { listed, paths, body } = forwarding;
  if (!listed || !isNewBatch(paths) || !hasBytes(body)) return;
  for (const id of filesOfBatch(body.held, listed.models.length)) {
    const content = await forwardAttempt(
      exchange,
      { ...destination, request: contentRequest(id, destination, headers), isTimedToHeaders: true },
      generation,
    );
    await requireListedLines(content, refusing(forwarding, exchange, generation));
  }
}
