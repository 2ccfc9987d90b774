import { createServer, type IncomingMessage, request as forwarded, type ServerResponse } from 'node:http';
import { generateKeyPair, exportJWK } from 'jose';
import { localServer } from '../kit/local-server.ts';

/** What the library warns of at its start is meant for who serves real people. */
async function silently<T>(work: () => Promise<T>): Promise<T> {
  const { info, warn } = console;
  Object.assign(console, { info: () => {}, warn: () => {} });
  try {
    return await work();
  } finally {
    Object.assign(console, { info, warn });
  }
}

export const CLIENT = { id: 'gw', secret: 'a-secret-of-the-client' };

/** A real provider of this machine: a name and any password are that person, with the groups that `groupsOf` gives. */
export async function realProvider(
  redirectUri: string,
  groupsOf: (login: string) => readonly string[],
): Promise<{ readonly url: string }> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = [{ ...(await exportJWK(privateKey)), kid: 'provider', alg: 'RS256', use: 'sig' }];
  let callback: ((request: IncomingMessage, response: ServerResponse) => unknown) | undefined;
  const server = createServer((request, response) => callback?.(request, response));
  const url = await localServer(server);
  const settings = {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    jwks: { keys },
    cookies: { keys: ['a-key-for-cookies'] },
    scopes: ['openid', 'profile', 'groups'],
    claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
    conformIdTokenClaims: false,
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    pkce: { required: () => true },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, name: `${id} Lovelace`, groups: groupsOf(id) }),
    }),
  };
  callback = await silently(async () => {
    // @ts-expect-error it has no types
    const { default: Provider } = await import('oidc-provider');
    return new Provider(url, settings).callback();
  });
  return { url };
}

/** An address in front of a gateway that is not there yet: what a proxy is. */
export async function inFront(): Promise<{ readonly url: string; to: string }> {
  const front = { url: '', to: '' };
  const server = createServer((request, response) => {
    const onward = forwarded(
      new URL(request.url ?? '/', front.to),
      { method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(onward);
    onward.on('error', () => response.destroy());
  });
  front.url = await localServer(server);
  return front;
}
