import type { RequestOrigin } from '../../contract/index.ts';

/** A request of HTTP, as far as it tells where it came from. */
export interface RequestSource {
  /** The client's address, looked up behind trusted proxies. */
  readonly address: string;
  readonly request: {
    readonly method?: string | undefined;
    readonly url?: string | undefined;
    readonly headers: { readonly 'user-agent'?: string | undefined };
  };
}

/** Where a request came from. */
export function originOf({
  address,
  request: {
    method = '',
    url = '',
    headers: { 'user-agent': userAgent },
  },
}: RequestSource): RequestOrigin {
  const query = url.indexOf('?');
  return { address, userAgent, method, path: query < 0 ? url : url.slice(0, query) };
}
