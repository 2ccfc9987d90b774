import { timestamp } from '../../../host/common/timestamps.ts';
import type { DeniedCredentials } from '../../../host/http/door/denied-credentials.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import { Query } from '../query.ts';

const PAGE = 50;
const LONGEST_PAGE = 200;

/** Addresses whose credentials are not known, of this process alone. See docs/admin.md#credentials-that-are-not-known. */
export function deniedAnswer(denied: DeniedCredentials, { request }: JsonCall): JsonAnswer {
  const query = new Query(request);
  const limit = query.limit(PAGE, LONGEST_PAGE);
  const offset = query.offset();
  const { addresses, requests, forgotten, since } = denied;
  return {
    status: 200,
    body: {
      data: addresses.slice(offset, offset + limit).map(({ firstAt, lastAt, userAgent, ...each }) => ({
        address: each.address,
        missing: each.missing,
        invalid: each.invalid,
        first_at: timestamp(firstAt),
        last_at: timestamp(lastAt),
        user_agent: userAgent,
        path: each.path,
      })),
      summary: { addresses: addresses.length, requests, forgotten },
      since: timestamp(since),
    },
  };
}
