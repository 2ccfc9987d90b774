/** An issuer that gives tokens to everybody, and the claims of which one must say whose tokens are meant. */
interface PublicIssuer {
  /** The host of its address. */
  readonly host: string;
  /** Where only a part of the host is public: how paths of that part begin. */
  readonly path?: string;
  readonly claims: readonly string[];
}

/**
 * Sources, all read 2026-11-28: Google, "OpenID Connect" (`hd`); GitHub Docs, "OpenID Connect reference"; GitLab Docs, "OpenID Connect (OIDC)
 * authentication using ID tokens"; Apple, "Sign in with Apple REST API"; Microsoft Learn, "ID token claims reference" (tenant of personal accounts).
 */
const PUBLIC_ISSUERS: readonly PublicIssuer[] = [
  { host: 'accounts.google.com', claims: ['hd', 'sub', 'email'] },
  {
    host: 'token.actions.githubusercontent.com',
    claims: ['repository', 'repository_id', 'repository_owner', 'repository_owner_id', 'sub'],
  },
  {
    host: 'gitlab.com',
    claims: ['project_path', 'project_id', 'namespace_path', 'namespace_id', 'groups', 'sub'],
  },
  { host: 'appleid.apple.com', claims: ['sub', 'email'] },
  {
    host: 'login.microsoftonline.com',
    path: '/9188040d-6c67-4c5b-b112-36a304b66dad/',
    claims: ['sub', 'oid', 'email'],
  },
];

/** Claims of one person or workload: a beginning of them says nothing. */
export const EXACT_CLAIMS: ReadonlySet<string> = new Set(['sub', 'oid', 'email']);

/** The claims of which a rule must name one; `undefined` of an issuer that is not known to be public. */
export function claimsOfPublic(issuer: string): readonly string[] | undefined {
  const { hostname = '', pathname = '' } = URL.parse(issuer) ?? {};
  return PUBLIC_ISSUERS.find(({ host, path = '' }) => host === hostname && pathname.startsWith(path))?.claims;
}
