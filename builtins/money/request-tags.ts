import { GatewayError } from '../../host/contract/index.ts';
import { isTagName } from '../../host/common/accounts/account-path.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';

const MOST_TAGS = 10;
const MOST_BYTES = 1024;
const NONE: readonly string[] = Object.freeze([]);

/** Names of tags that a request brings, in ascending order, each once: by `X-Gateway-Tags`, and by entries of `X-Gateway-Metadata`. Throws for what is not a list of such names. */
export function tagsOfRequest(
  { clientHeaders, metadata }: Pick<LiveExchange, 'clientHeaders' | 'metadata'>,
  { header = false, metadata: entries = NONE }: NonNullable<GatewayConfig['money']['tags']>,
): readonly string[] {
  const sent = header ? clientHeaders?.['x-gateway-tags'] : undefined;
  const named = sent === undefined ? NONE : namesIn(String(sent));
  const found = entries.flatMap((name) => (Object.hasOwn(metadata, name) ? `${name}=${metadata[name]}` : []));
  const wrong = found.find((tag) => !isTagName(tag));
  if (wrong !== undefined)
    throw refused(
      `the entry ${wrong.slice(0, wrong.indexOf('='))} of X-Gateway-Metadata makes no tag: a tag has ${FORM}`,
    );
  const all = [...new Set([...named, ...found])].toSorted();
  if (all.length > MOST_TAGS) throw refused(`this request brings ${all.length} tags, the limit is ${MOST_TAGS}`);
  return all;
}

const FORM = '1 to 64 letters, digits and ._:=/- and begins with a letter or a digit';

function namesIn(header: string): readonly string[] {
  if (header.trim() === '') return NONE;
  if (header.length > MOST_BYTES)
    throw refused(`X-Gateway-Tags has ${header.length} bytes, the limit is ${MOST_BYTES}`);
  const names = header.split(',').map((name) => name.trim());
  if (!names.every(isTagName))
    throw refused(`X-Gateway-Tags must be a list of tags with commas between them: a tag has ${FORM}`);
  return names;
}

const refused = (message: string): GatewayError => new GatewayError('invalid_request', message);
