/** Words of a request that decide what its answer costs, where the answer does not say them. */
import { isFields } from '../../contract/json/fields.ts';

export const wordOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** How much a search of the web is to read. Source: OpenAI API reference, "Create chat completion", `web_search_options`, 2026-11-27. */
export function searchSizeOf(request: { readonly [field: string]: unknown } | undefined): string | undefined {
  const options = request?.['web_search_options'];
  return isFields(options) ? wordOf(options['search_context_size']) : undefined;
}
