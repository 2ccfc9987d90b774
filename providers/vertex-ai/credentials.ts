import type { Authorize, ConnectionDeps, Credentials, HttpSend, OpenConnection } from 'gw/contract';
import { readServiceAccount, SCOPE, TokenSource } from './token.ts';

const bearing = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

/** The API key, else the service account, else application default credentials. Throws when there is none. See docs/providers.md#vertex-ai-credentials. */
export function open(credentials: Credentials, deps: ConnectionDeps): OpenConnection | Promise<OpenConnection> {
  const key = credentials['VERTEX_AI_API_KEY']?.trim();
  if (key) return { authorize: () => ({ 'x-goog-api-key': key }) };
  const account = credentials['VERTEX_AI_SERVICE_ACCOUNT_JSON']?.trim();
  if (!account) return openDefault(credentials, deps);
  const tokens = new TokenSource(readServiceAccount(account), deps.send, deps.now);
  return {
    authorize: () => {
      const token = tokens.get();
      return typeof token === 'string' ? bearing(token) : token.then(bearing);
    },
  };
}

/** The library finds them, keeps the token and refreshes it; its requests take our way, but for those to the metadata server. */
async function openDefault(
  { VERTEX_AI_PROJECT_ID: projectId = '' }: Credentials,
  { send }: ConnectionDeps,
): Promise<OpenConnection> {
  const { GoogleAuth } = await import('google-auth-library');
  const auth = new GoogleAuth({
    projectId,
    scopes: [SCOPE],
    clientOptions: { transporterOptions: { fetchImplementation: fetchBy(send) } },
  });
  const client = await auth.getClient();
  const authorize: Authorize = async () => {
    const { token } = await client.getAccessToken();
    if (!token) throw new Error('application default credentials gave no token');
    return { ...bearing(token), ...(client.quotaProjectId && { 'x-goog-user-project': client.quotaProjectId }) };
  };
  return { authorize };
}

/** The library's idea of a network, over our transport: pooled, bounded, and no redirect is followed. */
function fetchBy(send: HttpSend): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { status, headers, body } = await send({
      method: request.method as 'GET' | 'POST',
      url: request.url,
      headers: Object.fromEntries(request.headers),
      ...(request.body !== null && { body: await request.text() }),
    });
    return new Response(body.length > 0 ? Uint8Array.from(body) : null, { status, headers });
  };
}
