import { countOf, type Fields, isFields } from 'gw/common-wire';
import { isText, type UsageFacts } from 'gw/contract';

/** Tiers by Vertex's word for them. Source: types of `@google/genai` 3, `TrafficType`, 2026-11-26. */
const TIERS: Readonly<Record<string, string>> = {
  ON_DEMAND_PRIORITY: 'priority',
  ON_DEMAND_FLEX: 'flex',
  ON_DEMAND_OFFPEAK: 'offpeak',
  PROVISIONED_THROUGHPUT: 'provisioned',
};

/** What the counts say of kinds of tokens, and of the tier. Source: ai.google.dev, "UsageMetadata", 2026-11-26. */
export function usageFacts(metadata: Fields): UsageFacts {
  const { trafficType: traffic } = metadata;
  const input = metadata['promptTokensDetails'];
  const cached = metadata['cacheTokensDetails'];
  const output = metadata['candidatesTokensDetails'];
  return {
    tier: isText(traffic) && Object.hasOwn(TIERS, traffic) ? TIERS[traffic] : undefined,
    audioInput: ofKind(input, 'AUDIO'),
    imageInput: ofKind(input, 'IMAGE'),
    videoInput: ofKind(input, 'VIDEO'),
    audioCached: ofKind(cached, 'AUDIO'),
    imageCached: ofKind(cached, 'IMAGE'),
    audioOutput: ofKind(output, 'AUDIO'),
    imageOutput: ofKind(output, 'IMAGE'),
    videoOutput: ofKind(output, 'VIDEO'),
  };
}

/** Tokens of a kind; `undefined` where there are none. */
function ofKind(details: unknown, kind: string): number | undefined {
  if (!Array.isArray(details)) return undefined;
  let sum = 0;
  for (const detail of details)
    if (isFields(detail) && detail['modality'] === kind) sum += countOf(detail['tokenCount']);
  return sum || undefined;
}
