import { decodedUri } from '../../host/contract/index.ts';
import { EnvHttpProxyAgent, request } from 'undici';
import type { Variables } from '../../host/environment/variables.ts';
import { isHttp } from './address.ts';

/** The longest chain of redirects. See docs/catalog.md#a-newer-catalog. */
const MAX_REDIRECTS = 10;

export interface CatalogFetch {
  readonly url: string;
  readonly maxBytes: number;
  readonly variables: Variables;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

/**
 * The text of a remote catalog, or of rules of models. Of all clients of this gateway only this one follows redirects and honours the proxy
 * variables. It sends no credential but the userinfo of the address, and that on the first hop alone.
 */
export async function fetchCatalog({ url, maxBytes, variables, userAgent, signal }: CatalogFetch): Promise<string> {
  const agent = proxyAgent(variables);
  try {
    let address = new URL(url);
    let authorization = basicAuthorization(address);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const { statusCode, headers, body } = await request(address.origin + address.pathname + address.search, {
        dispatcher: agent,
        signal,
        headersTimeout: 0,
        bodyTimeout: 0,
        headers: {
          accept: 'application/json',
          'user-agent': userAgent,
          ...(authorization !== undefined && { authorization }),
        },
      });
      if (statusCode === 200) return await collect(body, maxBytes);
      body.on('error', () => {}).destroy();
      address = redirectTarget(statusCode, headers['location'], address);
      authorization = undefined;
    }
    throw new Error(`more than ${MAX_REDIRECTS} redirects`);
  } finally {
    await agent.destroy();
  }
}

/** Empty texts, where nothing is set: for `undefined` the agent would read the environment of the process. */
function proxyAgent(variables: Variables): EnvHttpProxyAgent {
  const of = (name: string): string => variables[name.toLowerCase()] || variables[name] || '';
  return new EnvHttpProxyAgent({ httpProxy: of('HTTP_PROXY'), httpsProxy: of('HTTPS_PROXY'), noProxy: of('NO_PROXY') });
}

function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `Basic ${Buffer.from(`${decodedUri(username)}:${decodedUri(password)}`).toString('base64')}`;
}

function redirectTarget(status: number, location: string | string[] | undefined, from: URL): URL {
  const isRedirect = [301, 302, 303, 307, 308].includes(status);
  const target = isRedirect && typeof location === 'string' ? URL.parse(location, from) : null;
  if (!target) throw new Error(`it answers ${status}`);
  if (!isHttp(target.href)) throw new Error(`it redirects to ${target.protocol}, which is not followed`);
  return target;
}

async function collect(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`); // leaving the loop closes the connection
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
