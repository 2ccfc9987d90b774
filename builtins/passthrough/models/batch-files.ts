import { type GatewayError, isFields, type OutgoingRequest, tryParseJson } from '../../../host/contract/index.ts';
import type { ForwardedReply } from '../../../host/pipeline/attempts/forward-attempt.ts';
import { isData, lettersOf, type NamedModel } from '../../../host/pipeline/named-models.ts';
import { closeBody } from '../../../host/upstream/reply-body.ts';
import { addressAt, type Destination } from '../destination.ts';
import { cannotBeSearched } from './listed.ts';
import { ModelSearch } from './model-search.ts';

/** Files that one batch may name. */
const MOST_FILES = 10;

/** Members, by their letters alone, that name a file of requests, and those that name input which stands at another place than with the provider. */
const NAMES_FILE = /files?(?:ids?)?$/;
const NAMES_PLACE = /(?:blobs?|ur[il]s?|datasets?(?:ids?)?)$/;

/** Requests inside the body were looked through as a part of it. */
const isRequest = (letters: string): boolean => letters === 'requests' || isData(letters);

const FILE_ID = /^(?=.*[^.])[\w.:-]{1,256}$/;

/**
 * Ids of the files whose requests a batch is made of. Throws where its requests can be looked through neither there nor in its own body, which
 * has named so many models.
 */
export function filesOfBatch(body: Buffer, models: number): readonly string[] {
  const ids = new Set<string>();
  let isElsewhere = false;
  const open: [name: string, value: unknown][] = [['', tryParseJson(body.toString('utf8'))]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [name, value] = next;
    if (Array.isArray(value)) for (const item of value) open.push([name, item]);
    else if (isFields(value)) {
      for (const [member, held] of Object.entries(value))
        if (!isRequest(lettersOf(member))) open.push([lettersOf(member), held]);
    }
    if (typeof value !== 'string') continue;
    if (NAMES_FILE.test(name)) ids.add(value);
    else if (NAMES_PLACE.test(name)) isElsewhere = true;
  }
  const isUnseen = ids.size + models === 0 || ids.size > MOST_FILES || ids.values().some((id) => !FILE_ID.test(id));
  if (isElsewhere || isUnseen) throw cannotBeSearched('what the batch is made of');
  return [...ids];
}

/** How a file is fetched: as the request that asks for the batch was made, without its body. */
export function contentRequest(
  id: string,
  { provider }: Destination,
  headers: OutgoingRequest['headers'],
): OutgoingRequest {
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name]) => !name.startsWith('content-') && name !== 'idempotency-key'),
  );
  return {
    method: 'GET',
    url: addressAt(provider, `/v1/files/${encodeURIComponent(id)}/content`),
    headers: { ...kept, accept: '*/*' },
    body: undefined,
  };
}

/** Reads a file of requests, line by line. Throws for a model outside the list of the key, and for what cannot be looked through. */
export async function requireListedLines(
  { body, headers, status }: ForwardedReply,
  refusalOf: (named: readonly NamedModel[]) => GatewayError | undefined,
): Promise<void> {
  const search = new ModelSearch('');
  const check = (): void => {
    const refusal =
      refusalOf(search.take()) ?? (search.isUnclear ? cannotBeSearched('the file of the batch') : undefined);
    if (refusal) throw refusal;
  };
  try {
    if (status !== 200 || !/^(?:identity)?$/i.test(headers['content-encoding']?.trim() ?? ''))
      throw cannotBeSearched('the file of the batch');
    for await (const piece of body) {
      search.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
      check();
    }
    search.end();
    check();
  } finally {
    closeBody(body);
  }
}
