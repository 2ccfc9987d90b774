import { invalidRequest } from '../../host/common/invalid-request.ts';
import type { OfferedModel } from './offered.ts';

const DEFAULT_PAGE = 50;
const MAX_PAGE = 1000;

/** What clients of the Gemini API can do with models of a mode; others are not listed for them. A mode that is not known is chat. */
const METHODS: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  [undefined, ['generateContent', 'countTokens']],
  ['chat', ['generateContent', 'countTokens']],
  ['embedding', ['embedContent', 'batchEmbedContents']],
]);

/** Models as the Gemini API lists them. See docs/reference/ingress.md#lists-of-models. */
export function geminiModels(models: readonly OfferedModel[]): readonly object[] {
  return models.flatMap((model) => geminiModel(model) ?? []);
}

/** `undefined` for a model that such a client cannot use. */
export function geminiModel({ id, entry, displayName }: OfferedModel): object | undefined {
  const methods = METHODS.get(entry.mode);
  return (
    methods && {
      name: NAME + id,
      version: '',
      displayName,
      description: '',
      inputTokenLimit: entry.context_window ?? 0,
      outputTokenLimit: entry.max_output_tokens ?? 0,
      supportedGenerationMethods: methods,
    }
  );
}

const NAME = 'models/';

/** One page of a list. Throws a 400 for a size out of bounds, and for a token that no page of this list has given. */
export function geminiPage(models: readonly OfferedModel[], query: URLSearchParams): object {
  const usable = models.filter(({ entry }) => METHODS.has(entry.mode));
  const start = startOf(usable, query.get('pageToken') ?? query.get('page_token') ?? '');
  const page = usable.slice(start, start + sizeOf(query.get('pageSize') ?? query.get('page_size') ?? ''));
  const last = page.at(-1);
  const hasMore = last !== undefined && start + page.length < usable.length;
  return { models: geminiModels(page), ...(hasMore && { nextPageToken: tokenOf(last.id) }) };
}

function sizeOf(text: string): number {
  if (text === '') return DEFAULT_PAGE;
  const size = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (size < 1 || size > MAX_PAGE) throw invalidRequest(`pageSize must be an integer between 1 and ${MAX_PAGE}`);
  return size;
}

function tokenOf(id: string): string {
  return Buffer.from(`after ${id}`, 'utf8').toString('base64url');
}

function startOf(models: readonly OfferedModel[], token: string): number {
  if (token === '') return 0;
  const last = Buffer.from(token, 'base64url').toString('utf8').slice('after '.length);
  const at = tokenOf(last) === token ? models.findIndex(({ id }) => id === last) : -1;
  if (at < 0) throw invalidRequest('pageToken is not one of this list');
  return at + 1;
}
