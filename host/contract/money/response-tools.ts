import { type Fields, isFields } from '../json/fields.ts';
import type { ToolCounts, ToolImage } from './usage-facts.ts';

/** Items of more than this are not looked at: no answer has as many. */
const MOST_ITEMS = 1024;

/**
 * What the vendor's own tools did for an answer of the Responses API, where it is billed by its
 * number: searches of the web (a page that is opened is not one), searches of files, containers of
 * code, images. Sources: types of npm openai 7.57.0, `ResponseFunctionWebSearch`,
 * `ResponseCodeInterpreterToolCall`, `ResponseOutputItem.ImageGenerationCall`; OpenAI
 * documentation, "Pricing", "Built-in tools"; 2026-11-27.
 *
 * @param output the items of the answer, from outside.
 * @param tools what the request offered, as the answer repeats it: what an image does not say of
 * itself.
 * @returns only what there is any of.
 */
export function responseToolCounts(output: unknown, tools: unknown): ToolCounts {
  const items = Array.isArray(output) ? output.slice(0, MOST_ITEMS).filter(isFields) : [];
  if (!items.some(isBilled)) return NOTHING;
  const count = (isCounted: (item: Fields) => boolean): number | undefined =>
    items.filter(isCounted).length || undefined;
  const containers = new Set(items.filter(ofType('code_interpreter_call')).map(({ container_id: id }) => id));
  const images = items.filter(isMade).map((item) => imageOf(item, tools));
  const counts: ToolCounts = {
    webSearches: count(isSearch),
    fileSearches: count(ofType('file_search_call')),
    codeSessions: containers.size || undefined,
    toolImages: images.length > 0 ? images : undefined,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined));
}

const NOTHING: ToolCounts = Object.freeze({});

const BILLED_ITEMS: ReadonlySet<unknown> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
]);

const isBilled = ({ type }: Fields): boolean => BILLED_ITEMS.has(type);
const ofType =
  (wanted: string) =>
  ({ type }: Fields): boolean =>
    type === wanted;

/** What is done with a page that was found is not a search; one without an action is of an older model, which only searches. */
function isSearch({ type, action }: Fields): boolean {
  return (
    type === 'web_search_call' && (!isFields(action) || action['type'] === undefined || action['type'] === 'search')
  );
}

const UNFINISHED: ReadonlySet<unknown> = new Set(['in_progress', 'generating', 'incomplete', 'failed']);
const isMade = ({ type, status }: Fields): boolean => type === 'image_generation_call' && !UNFINISHED.has(status);

function imageOf(item: Fields, tools: unknown): ToolImage {
  const tool = Array.isArray(tools)
    ? tools.find((one) => isFields(one) && one['type'] === 'image_generation')
    : undefined;
  const said = (name: string): string | undefined => {
    const value = item[name] ?? (isFields(tool) ? tool[name] : undefined);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return { model: said('model'), size: said('size'), quality: said('quality') };
}
