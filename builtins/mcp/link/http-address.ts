import { shownPath } from '../../../host/config/scrub-text.ts';
import { decodedUri } from '../../../host/contract/index.ts';

/** Where a server is, and what its address holds beside that. */
export interface HttpAddress {
  /** Without userinfo and fragment. */
  readonly url: string;
  readonly authorization: string | undefined;
}

/** Throws, without quoting it, for an address that is not an http or https one. */
export function addressOf(text: string): HttpAddress {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error('its url is not an http or https address');
  const url = new URL(text);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.hash = '';
  const authorization =
    username === '' && password === ''
      ? undefined
      : `Basic ${Buffer.from(`${decodedUri(username)}:${decodedUri(password)}`).toString('base64')}`;
  return { url: url.href, authorization };
}

/** An address as it may be shown: where it leads, without credentials and query, and of the path what cannot be a secret. */
export function shownAddress(text: string | undefined, base: string): string {
  if (text === undefined || !URL.canParse(text, base)) return 'an address that cannot be read';
  const { origin, pathname } = new URL(text, base);
  return `${origin}${shownPath(pathname)}`;
}
