export interface Root {
  /** Without userinfo and without a trailing slash. */
  readonly root: string;
  /** `Basic …`, when the address carried userinfo. */
  readonly basicAuthorization: string | undefined;
}

/** `api-root` and `host` as a connection declares them, or its own way from an address to a root. */
export type RootStyle = 'api-root' | 'host' | ((address: string, defaultRoot: string) => string);

/**
 * The API root of a provider, from the configured address or its default. A bare host takes over the version segment
 * that ends the default; a path is taken as it is. Throws on anything that is not a plain http(s) address.
 * See docs/reference/providers.md#addresses.
 */
export function resolveRoot(configured: string | undefined, defaultRoot: string, style: RootStyle): Root {
  const text = configured?.trim() || defaultRoot;
  const parts = /^(https?:\/\/)(?:([^/?#]*)@)?([^/?#@]+)(\/[^?#]*)?([?#].*)?$/i.exec(text);
  if (!parts || !URL.canParse(text))
    throw new Error(`its address "${withoutUserinfo(text)}" is not an http or https address with a host`);
  const [, scheme = '', userinfo, host = '', path = '', rest] = parts;
  if (rest !== undefined) throw new Error(`its address "${withoutUserinfo(text)}" has a query or fragment`);
  const kept = path.replace(/\/+$/, '');
  const suffix = kept === '' && style === 'api-root' && configured?.trim() ? versionSegment(defaultRoot) : kept;
  const address = `${scheme}${host}${suffix}`;
  const root = typeof style === 'function' ? style(address, defaultRoot) : address;
  return { root, basicAuthorization: userinfo === undefined ? undefined : basic(userinfo) };
}

/** `/v1` of `https://api.example/openai/v1`; empty when the last segment is not a version. */
function versionSegment(root: string): string {
  return /\/v\d[^/]*$/.exec(root.replace(/\/+$/, ''))?.[0] ?? '';
}

function basic(userinfo: string): string {
  const [user = '', ...password] = userinfo.split(':');
  return `Basic ${Buffer.from(`${decodeURIComponent(user)}:${decodeURIComponent(password.join(':'))}`).toString('base64')}`;
}

function withoutUserinfo(address: string): string {
  return address.replace(/\/\/.*@/, '//');
}
