import { decodedUri } from '../../host/contract/index.ts';
import { hiddenSegments } from '../../host/config/scrub-text.ts';
import type { McpServerConfig } from '../../host/config/document.ts';

/** Shorter texts are in every sentence: taking them out would hide nothing. */
const SHORTEST = 3;

/** Arguments that begin with a dash name an option; what follows an equals sign is its value. */
const OPTION = /^-[^=]*=?/;

/**
 * Takes out of what a server says what its configuration keeps to itself: values of `env` and `headers`, arguments, and the
 * userinfo, query and hidden path segments of its address. A server that fails often repeats what it was started with.
 */
export class HiddenTexts {
  readonly #texts: readonly string[];

  /** `resolved` are the values of `env` and `headers` with their references replaced. */
  constructor({ url, args = [] }: McpServerConfig, resolved: readonly string[]) {
    const texts = [...resolved, ...args.map((argument) => argument.replace(OPTION, '')), ...addressParts(url)];
    this.#texts = [...new Set(texts.filter(({ length }) => length >= SHORTEST))].toSorted(
      (a, b) => b.length - a.length,
    );
  }

  readonly clean = (text: string): string =>
    this.#texts.reduce((clean, hidden) => clean.replaceAll(hidden, '[REDACTED]'), text);
}

function addressParts(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { username, password, search } = new URL(url);
  const values = [...new URLSearchParams(search).values()];
  return [
    username,
    password,
    decodedUri(username),
    decodedUri(password),
    search.slice(1),
    ...values,
    ...hiddenSegments(url),
  ];
}
