import { invalidRequest } from '../../host/common/invalid-request.ts';
import { timestamp } from '../../host/common/timestamps.ts';
import type { OfferedModel } from './offered.ts';

const MOST = 1000;
const USUAL = 20;

/** Models as Anthropic lists them, a page of them. See docs/reference/ingress.md#lists-of-models. */
export function messagesPage(models: readonly OfferedModel[], query: URLSearchParams): object {
  const chat = models.filter(isChat);
  const limit = limitOf(query.get('limit'));
  const after = placeOf(chat, query, 'after_id');
  const before = placeOf(chat, query, 'before_id');
  if (after !== undefined && before !== undefined) throw invalidRequest('after_id and before_id exclude each other');
  const start = before === undefined ? (after ?? -1) + 1 : Math.max(0, before - limit);
  const shown = chat.slice(start, before ?? start + limit);
  const hasMore = before === undefined ? start + limit < chat.length : start > 0;
  return {
    data: shown.map(modelOf),
    has_more: hasMore,
    first_id: shown[0]?.id ?? null,
    last_id: shown.at(-1)?.id ?? null,
  };
}

/** One of them; `undefined` for what does not chat. */
export function messagesModel(model: OfferedModel): object | undefined {
  return isChat(model) ? modelOf(model) : undefined;
}

const isChat = ({ entry: { mode } }: OfferedModel): boolean => mode === undefined || mode === 'chat';

function limitOf(text: string | null): number {
  if (text === null) return USUAL;
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > MOST) throw invalidRequest(`limit must be between 1 and ${MOST}`);
  return limit;
}

function placeOf(models: readonly OfferedModel[], query: URLSearchParams, name: string): number | undefined {
  const id = query.get(name);
  if (id === null) return undefined;
  const place = models.findIndex((model) => model.id === id);
  if (place < 0) throw invalidRequest(`${name} is not the id of a model`);
  return place;
}

const dayOf = (date: string | null | undefined): string | null => (date ? `${date}T00:00:00Z` : null);
const timeOf = (seconds: number): string => timestamp(seconds * 1000);

function modelOf({
  id,
  entry: { created, context_window: input, max_output_tokens: output, deprecated },
  displayName,
  facts,
}: OfferedModel): object {
  return {
    type: 'model',
    id,
    display_name: displayName,
    created_at: timeOf(created),
    max_input_tokens: input ?? null,
    max_tokens: output ?? null,
    lifecycle: deprecated ? 'deprecated' : 'active',
    deprecated_at: dayOf(facts?.lifecycle.deprecation_date),
    retires_at: dayOf(facts?.lifecycle.sunset_date),
    line: null,
    capabilities: null,
  };
}
