/** What one route adds to the root of an API. */
const ENDINGS = /\/(?:chat\/completions|completions|embeddings|messages|responses|rerank|models)\/*$/i;

/** Why an address is not the text of the document; `undefined` where it is. */
export interface CleanedAddress {
  readonly text: string;
  readonly difference: string | undefined;
}

/** The root of an API, without what an address may not hold here; `undefined` where it has no host. */
export function cleanAddress(text: string, isAzure: boolean): CleanedAddress | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined;
  const cuts: string[] = [];
  if (url.username !== '' || url.password !== '') cuts.push('user and password');
  if (url.search !== '' || url.hash !== '') cuts.push('query');
  if (cuts.length > 0) Object.assign(url, { username: '', password: '', search: '', hash: '' });
  let path = url.pathname.replaceAll(/\/{2,}/g, '/');
  if (isAzure && /\/openai(?:\/|$)/.test(path)) path = path.replace(/\/openai(?:\/.*)?$/, '');
  while (ENDINGS.test(path)) path = path.replace(ENDINGS, '');
  if (path !== url.pathname) cuts.push('the path of one route');
  if (cuts.length === 0) return { text, difference: undefined };
  return { text: `${url.origin}${path}`.replace(/\/$/, ''), difference: `written without ${cuts.join(' and ')}` };
}
