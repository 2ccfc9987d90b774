import type { Redactor } from '../log/redact.ts';
import { holdsReference, parseHeaderReference, parseReference } from './references.ts';
import { isSecretHeader } from './secrets/secret-headers.ts';

/** Takes the place of a secret in what is shown. */
export const REDACTED = '[REDACTED]';

/** True for a text that is nothing but one `${NAME}` or `${file:/path}`: it says where a secret is, and not what. */
export function isReference(text: string): boolean {
  const reference = parseReference(text);
  return reference !== undefined && (reference.kind === 'variable' || reference.path.startsWith('/'));
}

/** A value that may be a secret as a whole, as it is shown. */
export function withheldText(text: string): string {
  return text === '' || isReference(text) ? text : REDACTED;
}

type Clean = (text: string) => string;

/** How the texts of a configuration are shown: everything that does not belong to a secret stays byte for byte. See docs/reference/admin.md#how-a-configuration-is-shown. */
export class TextScrubber {
  readonly #redact: Clean;
  readonly #redactName: Clean;

  constructor({ redact, redactName }: Pick<Redactor, 'redact' | 'redactName'>) {
    this.#redact = redact;
    this.#redactName = redactName;
  }

  /** A named text. */
  text(text: string): string {
    return this.#scrub(text, this.#redact);
  }

  /** A model id, an alias, a pattern: an `@` in it does not make an e-mail address. */
  name(text: string): string {
    return this.#scrub(text, this.#redactName);
  }

  /** An address whose path may be a secret, as those of webhooks are: each segment by itself. */
  address(text: string): string {
    if (text === '' || isReference(text)) return text;
    const url = URL_PARTS.exec(text);
    const [, scheme = '', rest = '', query = '', fragment = ''] =
      url ?? /^()([^?#]*)(\?[^#]*)?(#[\s\S]*)?$/.exec(text) ?? [];
    const shownFragment = fragment === '' ? '' : `#${shownSegment(fragment.slice(1))}`;
    return scheme + this.#place(rest, shownPath) + this.#query(query) + shownFragment;
  }

  /** A text that may quote an address of a configuration. */
  quoting(text: string): string {
    return text.replace(QUOTED_URL, (url) => this.name(url));
  }

  /** An argument of a command. The names of options are shown, and nothing else. */
  argument(text: string): string {
    if (!text.startsWith('-')) return withheldText(text);
    const at = text.indexOf('=');
    return at < 0
      ? this.#redactName(text)
      : `${this.#redactName(text.slice(0, at))}=${withheldText(text.slice(at + 1))}`;
  }

  /** The value of a header: one that is a reference, and one that neither its name nor its look makes a secret. */
  header(name: string, value: string): string {
    if (value === '' || parseHeaderReference(value)) return value;
    return isSecretHeader(name) ? REDACTED : this.#redact(value);
  }

  #scrub(text: string, clean: Clean): string {
    if (text === '' || isReference(text)) return text;
    const url = URL_PARTS.exec(text);
    if (!url) return clean(text);
    const [, scheme = '', rest = '', query = '', fragment = ''] = url;
    return scheme + this.#place(rest, clean) + this.#query(query) + clean(fragment);
  }

  /** Who, where and the path. A user without a password is shown, and does not count as an e-mail address. */
  #place(rest: string, clean: Clean): string {
    const end = endOfAuthority(rest);
    const authority = rest.slice(0, end);
    const at = authority.lastIndexOf('@');
    const user = authority.slice(0, Math.max(at, 0));
    const colon = user.indexOf(':');
    const hasPassword = colon >= 0 && colon < user.length - 1;
    const shownUser = hasPassword ? `${this.#redactName(user.slice(0, colon))}:${REDACTED}` : this.#redactName(user);
    return `${shownUser}${this.#redactName(authority.slice(Math.max(at, 0)))}${clean(rest.slice(end))}`;
  }

  /** With the question mark. Names are shown, and values that are one reference. */
  #query(query: string): string {
    return query
      .split('&')
      .map((pair) => {
        const at = pair.indexOf('=');
        return at < 0 ? this.#redact(pair) : `${this.#redact(pair.slice(0, at))}=${withheldText(pair.slice(at + 1))}`;
      })
      .join('&');
  }
}

/** Words of addresses: what is longer, has capitals or many digits may be a secret. */
const PLAIN_SEGMENT = /^(?!(?:[^\d]*\d){5})[a-z0-9._~-]{0,20}$/;

const shownSegment = (segment: string): string =>
  PLAIN_SEGMENT.test(segment) || isReference(segment) ? segment : REDACTED;

/** A path of an address as it is shown: see docs/reference/admin.md#how-a-configuration-is-shown. */
export const shownPath = (path: string): string => path.split('/').map(shownSegment).join('/');

/** Segments of less are in every sentence: taking them out would hide nothing. */
const LEAST_HIDDEN = 12;

/** What of the path of an address is not shown, and long enough to be looked for in other texts. */
export function hiddenSegments(text: string): string[] {
  const [, , rest = ''] = URL_PARTS.exec(text) ?? [];
  return rest
    .slice(endOfAuthority(rest))
    .split('/')
    .filter(
      (segment) => segment.length >= LEAST_HIDDEN && shownSegment(segment) !== segment && !holdsReference(segment),
    );
}

const QUOTED_URL = /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"]+/gi;

/** Scheme, place and path, query, fragment. */
const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/)([^?#]*)(\?[^#]*)?(#[\s\S]*)?$/i;

/** Where host and port end. A password with a slash makes the address invalid, and is hidden all the same. */
function endOfAuthority(rest: string): number {
  const slash = rest.indexOf('/');
  if (slash < 0) return rest.length;
  const authority = rest.slice(0, slash);
  const isHost = authority.includes('@') || /^(\[[^\]]*\]|[^:]*)(:\d*)?$/.test(authority);
  const at = rest.lastIndexOf('@');
  return isHost || at < 0 ? slash : Math.max(rest.indexOf('/', at), 0) || rest.length;
}
