import { invalidRequest } from '../../host/common/invalid-request.ts';
import { GatewayError } from '../../host/contract/index.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import type { OwnedKind, Owners } from '../../host/stores/owners.ts';
import { COMPACTION, type Family, FILES, GENERIC, RESPONSES, STORED_RESPONSES } from './family.ts';
import type { MemberScanner } from './models/member-scanner.ts';
import type { HeldBody } from './read-ahead.ts';
import { ReferenceCollector } from './models/reference-collector.ts';
import { UploadSearch } from './models/upload-search.ts';

/** What of a request and its answer belongs to one credential. */
export interface Ownership {
  /** The credential that asks. */
  readonly owner: string;
  /** Ids in the path and the body of the request: each must be the caller's, as far as its owner is known. */
  readonly asked: Readonly<Record<OwnedKind, readonly string[]>>;
  /** What the answer tells ids of: what was made, or what came of it. */
  readonly told: OwnedKind | undefined;
  /** Whether the answer is a list of files or batches, which others' are left out of. */
  readonly isList: boolean;
}

/** Name of the member that tells the id of an earlier response. */
export const EARLIER = 'previous_response_id';

/** Names of files that are looked up together. */
const MOST_WAITING = 1000;

interface Asked {
  readonly family: Family;
  /** Its path as upstreams may read it. */
  readonly paths: readonly string[];
  readonly method: string;
  readonly owner: string;
  /** Ids in the body, where it was searched for them. */
  readonly named: Readonly<Record<OwnedKind, readonly string[]>>;
}

const ID = /^\/v1\/(?:files|batches|responses)\/([^/]+)/i;
/** A file of something else, such as a vector store. */
const FILE_WITHIN = /\/files\/([^/]+)/i;
/** Files of something else too. */
const LIST = /^\/v1\/(?:batches|(?:.+\/)?files)$/i;
const COMPLETED_UPLOAD = /^\/v1\/uploads\/[^/]+\/complete$/i;
const BATCHES = /^\/v1\/batches/i;

/** Whether an id of this kind is served only to the credential that it was made with. */
export const isBound = (kind: OwnedKind, { files, responses }: GatewayConfig): boolean =>
  (kind === 'file' ? files : responses).bind_owner === true;

/** Which ids the body of a request may name that have an owner. An uploaded file names none. */
export function namedKinds(family: Family, paths: readonly string[], config: GatewayConfig): readonly OwnedKind[] {
  const isUpload = family === FILES && !isOfBatches(paths);
  return [
    ...(isBound('file', config) && !isUpload ? ['file' as const] : []),
    ...(isBound('response', config) && family.asks ? ['response' as const] : []),
  ];
}

/** Whether some reading of a path is that of batches. */
export const isOfBatches = (paths: readonly string[]): boolean => paths.some((path) => BATCHES.test(path));

/** Whether some reading of a path is the one under which batches are made. */
export const isNewBatch = (paths: readonly string[]): boolean => paths.some((path) => /^\/v1\/batches$/i.test(path));

/** What every reading of a path holds in this place. */
const heldIn = (paths: readonly string[], place: RegExp): readonly string[] =>
  paths.flatMap((path) => place.exec(path)?.[1] ?? []);

/** `undefined` where owners are not kept. */
export function ownershipOf(
  { family, paths, method, owner, named }: Asked,
  config: GatewayConfig,
): Ownership | undefined {
  const isFile = isBound('file', config);
  const isResponse = isBound('response', config);
  if (!isFile && !isResponse) return undefined;
  const own = heldIn(paths, ID);
  const file = [
    ...(family === FILES ? own : []),
    ...(family === GENERIC ? heldIn(paths, FILE_WITHIN) : []),
    ...named.file,
  ];
  const response = [...(family === STORED_RESPONSES ? own : []), ...named.response];
  return {
    owner,
    asked: { file: isFile ? file : [], response: isResponse ? response : [] },
    told: toldBy(),
    isList: isFile && method === 'GET' && paths.some((path) => LIST.test(path)),
  };

  function toldBy(): OwnedKind | undefined {
    if (family === RESPONSES || family === COMPACTION) return isResponse && method === 'POST' ? 'response' : undefined;
    if (!isFile) return undefined;
    if (family === GENERIC)
      return method === 'POST' && paths.some((path) => COMPLETED_UPLOAD.test(path)) ? 'file' : undefined;
    const isMade = method === 'POST' && own.length === 0;
    return family === FILES && (isMade || (isOfBatches(paths) && own.length > 0)) ? 'file' : undefined;
  }
}

const JSON_TYPE = /^(?:$|text\/|[^;]*\bjson\b)/i;

/** Whether a body is something else than JSON, and may hold files. */
export const isUpload = (method: string, mediaType: string): boolean =>
  method !== 'GET' && method !== 'HEAD' && !JSON_TYPE.test(mediaType.trim());

/** The ids that a body names. Throws for one that may name ids and cannot be searched for them. */
export function namedIn(
  scanner: MemberScanner | undefined,
  references: ReferenceCollector | undefined,
  mediaType: string,
): Readonly<Record<OwnedKind, readonly string[]>> {
  if (references?.isOver) throw invalidRequest('the body names too many files');
  if (scanner?.isMalformed && JSON_TYPE.test(mediaType.trim()))
    throw invalidRequest('the body is not JSON, and is searched for what belongs to others');
  const earlier = scanner?.found.get(EARLIER)?.value;
  return { file: [...(references?.found ?? [])], response: typeof earlier === 'string' ? [earlier] : [] };
}

/** Throws for what was made with another credential, as if it did not exist. */
export async function requireOwn({ owner, asked }: Ownership, owners: Owners): Promise<void> {
  for (const kind of ['file', 'response'] as const) {
    const ids = asked[kind];
    if (ids.length > 0 && (await foreignIds(owners, kind, ids, owner)).size > 0) throw notFound(kind);
  }
}

/** Those of the ids that are another's. Throws 503 where the store cannot tell: it may fail while a provider reads an upload, which is not to blame. */
export async function foreignIds(
  owners: Owners,
  kind: OwnedKind,
  ids: readonly string[],
  owner: string,
): Promise<ReadonlySet<string>> {
  try {
    return await owners.foreignOf(kind, ids, owner);
  } catch (cause) {
    throw new GatewayError(
      'store_unavailable',
      `whose ${kind} this is cannot be looked up: the store does not answer`,
      { cause },
    );
  }
}

const notFound = (kind: OwnedKind): GatewayError =>
  new GatewayError('resource_not_found', `the ${kind} does not exist`);

/** Looks up what an upload names, which leaves as it arrives: its last piece stays here until all that it names was looked up, so that no whole one of them arrives. */
export function searchedUpload(body: HeldBody, owner: string, owners: Owners): HeldBody {
  const references = new ReferenceCollector();
  const search = new UploadSearch(references);
  const requireOwnFiles = async (): Promise<void> => {
    if (references.found.size > 0 && (await foreignIds(owners, 'file', [...references.found], owner)).size > 0)
      throw notFound('file');
    references.found.clear();
  };
  async function* searched(): AsyncGenerator<Uint8Array> {
    let waiting: Uint8Array | undefined;
    for (const pieces of [[body.held], body.rest ?? []]) {
      for await (const piece of pieces) {
        search.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
        if (references.found.size >= MOST_WAITING) await requireOwnFiles();
        if (waiting) yield waiting;
        waiting = piece;
      }
    }
    await requireOwnFiles();
    if (waiting) yield waiting;
  }
  return {
    held: Buffer.alloc(0),
    rest: searched(),
    declared: body.declared ?? (body.rest ? undefined : body.held.length),
  };
}
