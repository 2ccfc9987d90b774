import type { IncomingMessage } from 'node:http';
import { translatesResponses } from '../../host/config/responses-mode.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { bodyTooLarge } from '../../host/http/body/read-body.ts';
import type { OwnedKind } from '../../host/stores/owners.ts';
import type { Family } from './family.ts';
import { MemberScanner } from './models/member-scanner.ts';
import { MAX_READABLE, refuseRepeated } from './models/opaque-body.ts';
import { ReferenceCollector } from './models/reference-collector.ts';
import { EARLIER } from './ownership.ts';
import { type HeldBody, readAhead } from './read-ahead.ts';

/** Members of a body that the gateway looks for. */
export const NAMES = ['model', 'max_output_tokens', 'stream', 'user', EARLIER];

/** What of a body must be seen before it leaves. */
interface Sought {
  readonly isModelWanted: boolean;
  readonly kinds: readonly OwnedKind[];
  readonly isHeldWhole: boolean;
}

/** Holds as much of the body as must be seen before it leaves. */
export async function lookAhead(
  generation: Generation,
  family: Family,
  request: IncomingMessage,
  { isModelWanted, kinds, isHeldWhole }: Sought,
): Promise<{ body: HeldBody; scanner: MemberScanner | undefined; references: ReferenceCollector | undefined }> {
  const { maxRequestBytes, plugins, services } = generation;
  const isInspected = plugins.inspected.has(family.surface);
  const isSearched = isModelWanted || isInspected || kinds.length > 0;
  const references = kinds.includes('file') ? new ReferenceCollector() : undefined;
  const scanner = isSearched ? new MemberScanner(NAMES, references) : undefined;
  const declared = Number(request.headers['content-length'] ?? Infinity);
  const isSearchedThrough =
    family.asks !== undefined && (translatesResponses(generation.config) || hasAccounts(generation));
  const isSearchedWhole = kinds.length > 0 || (family.asks !== undefined && plugins.needsBody.has(family.surface)); // what is looked for may stand behind everything else
  const wants = (held: number): boolean => {
    if (isHeldWhole && held > maxRequestBytes) throw bodyTooLarge();
    if (isHeldWhole) return true;
    if (!scanner || (scanner.isMalformed && !isInspected)) return false;
    const isSmall = held <= MAX_READABLE && (isInspected || family.asks !== undefined || declared <= MAX_READABLE);
    const isSought = !scanner.isOver && ((isModelWanted && !scanner.found.has('model')) || isSearchedWhole);
    if (isSought && held > maxRequestBytes) throw bodyTooLarge();
    return isSmall || isSought || (isSearchedThrough && held <= maxRequestBytes);
  };
  const single = [...(isModelWanted ? ['model'] : []), ...(kinds.includes('response') ? [EARLIER] : [])];
  const see =
    scanner &&
    ((piece: Buffer): void => {
      scanner.push(piece);
      if (single.length > 0) refuseRepeated(scanner, single);
    });
  return {
    body: await readAhead(request, { maxBytes: family.isUncapped ? Infinity : maxRequestBytes, services, wants, see }),
    scanner,
    references,
  };
}

/** Whether it matters what a request of the Responses API leaves at a vendor: then its body says where it may go. */
const hasAccounts = ({ groups, targetList }: Generation): boolean =>
  groups !== undefined || targetList.some(({ instance }) => instance !== undefined);
