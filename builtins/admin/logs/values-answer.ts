import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { DAY_MS } from '../../../host/common/once-per.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import type { KeyStore } from '../../../host/stores/keys/key-store.ts';
import { VALUE_FIELDS } from '../../../host/stores/log/log-values.ts';
import type { LogReader } from '../../../host/stores/log/request-log-store.ts';
import { Query } from '../query.ts';

const PAGE = 20;
const LONGEST_PAGE = 100;
const DAYS = 30;
/** Keys whose names are looked through, the busiest first. */
const MOST_KEYS = 1000;

/** What stands in a column of the request log, for suggestions. See docs/admin.md#values-of-the-request-log. */
export async function valuesAnswer(
  logs: LogReader,
  keys: Pick<KeyStore, 'stored'>,
  { request, signal }: JsonCall,
): Promise<JsonAnswer> {
  const query = new Query(request);
  const field = query.oneOf('field', VALUE_FIELDS);
  if (field === undefined) throw invalidRequest(`field is missing; use ${VALUE_FIELDS.join(', ')}`);
  const part = query.filter('q');
  const before = query.moment('until');
  const since = query.moment('since') ?? (before ?? logs.now()) - DAYS * DAY_MS;
  if (before !== undefined && before <= since) throw invalidRequest('until is not after since');
  const most = query.limit(PAGE, LONGEST_PAGE);
  if (field !== 'api_key_id') {
    const { values, isPartial } = await logs.values({ field, part, since, before, most }, signal);
    return { status: 200, body: { data: values, ...partial(isPartial) } };
  }
  const { values, isPartial } = await logs.values({ field, part: undefined, since, before, most: MOST_KEYS }, signal);
  const named = new Map((await keys.stored(values.map(({ value }) => value))).map(({ id, name }) => [id, name]));
  const data = values
    .map(({ value, count }) => ({ value, count, ...(named.has(value) && { name: named.get(value) }) }))
    .filter(({ value, name = '' }) => part === undefined || holds(value, part) || holds(name, part))
    .slice(0, most);
  return { status: 200, body: { data, ...partial(isPartial) } };
}

const partial = (isPartial: boolean): object => (isPartial ? { is_partial: true } : {});

const folded = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
const holds = (text: string, part: string): boolean => folded(text).includes(folded(part));
