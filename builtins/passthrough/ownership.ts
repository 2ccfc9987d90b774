import { GatewayError } from '../../host/contract/index.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import type { OwnedKind, Owners } from '../../host/stores/owners.ts';
import { type Family, FILES, RESPONSES, STORED_RESPONSES } from './family.ts';

/** What of a request and its answer belongs to one credential. */
export interface Ownership {
  readonly kind: OwnedKind;
  /** The credential that asks. */
  readonly owner: string;
  /** Ids in the path and the body of the request: each must be the caller's, as far as its owner is known. */
  readonly asked: readonly string[];
  /** Whether the answer tells of what was made, or of what came of it. */
  readonly isTold: boolean;
}

/** Names of members that tell ids of what exists already, in the bodies of requests. */
export const REFERENCES = ['previous_response_id', 'input_file_id'] as const;

interface Asked {
  readonly family: Family;
  /** As the upstream may read it. */
  readonly path: string;
  readonly method: string;
  readonly owner: string;
  readonly references: readonly unknown[];
}

const ID = /^\/v1\/(?:files|batches|responses)\/([^/]+)/;

/** `undefined` where owners are not kept. */
export function ownershipOf({ family, path, method, owner, references }: Asked, { files, responses }: GatewayConfig): Ownership | undefined {
  const isFile = family === FILES;
  const isBound = isFile ? files.bind_owner === true : (family === RESPONSES || family === STORED_RESPONSES) && responses.bind_owner === true;
  if (!isBound) return undefined;
  const id = ID.exec(path)?.[1];
  const asked = [id, ...references].filter((each): each is string => typeof each === 'string');
  const isBatch = path.startsWith('/v1/batches');
  return { kind: isFile ? 'file' : 'response', owner, asked, isTold: (method === 'POST' && id === undefined) || (isBatch && id !== undefined) };
}

/** Throws for what was made with another credential, as if it did not exist. */
export async function requireOwn({ kind, owner, asked }: Ownership, owners: Owners): Promise<void> {
  for (const id of asked) {
    const known = await owners.find(kind, id);
    if (known !== undefined && known !== owner) throw new GatewayError('resource_not_found', `the ${kind} does not exist`);
  }
}
