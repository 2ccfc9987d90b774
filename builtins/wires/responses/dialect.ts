import { type ChatRequest, type Fields, isFields, isText } from '../../../host/contract/index.ts';
import type { Adapted, Dialect, TargetFacts } from '../../../host/wire/client-request.ts';
import { adaptCommon, type FieldPaths } from '../adapt.ts';
import { lastUserTurn, refuseBlankTurn } from '../blank-turn.ts';
import { openEnvelope } from '../envelope.ts';
import { type NotedHistory, NO_HISTORY } from '../history-notes.ts';
import { strictTools } from '../strict-tools.ts';
import { speaksCommon, takesField, takesLongNames } from '../targets.ts';
import { shortName } from '../tool-names.ts';
import { isGiven, notCarried } from './checks.ts';
import { asksForSummary } from './reasoning.ts';
import { RESPONSES_TEXTS } from './texts.ts';

/** What this wire's requests hold beyond the common format. See docs/responses.md#what-is-carried. */
export const RESPONSES_DIALECT: Dialect = Object.freeze<Dialect>({
  wire: 'responses',
  texts: RESPONSES_TEXTS,
  forSameWire: withoutEnvelopes,
  adapt: (request, target, value) => adapt(request, target, value, NO_HISTORY),
  pathsOf: (field, _target, value) => pathsOf(field, value),
  wantsThoughts: ({ reasoning }) => asksForSummary(reasoning),
});

/** The dialect of one request, whose history was noted while it was read. */
export const responsesDialect = (history: NotedHistory): Dialect => ({
  ...RESPONSES_DIALECT,
  adapt: (request, target, value) => adapt(request, target, value, history),
});

/** Items that only this gateway can read are cut out. */
export function withoutEnvelopes(value: Readonly<Fields>): Adapted<Readonly<Fields>> {
  const input = itemsOf(value);
  const lost = input.flatMap((item, at) => (isEnvelope(item) ? [`input[${at}]`] : []));
  return { request: lost.length === 0 ? value : { ...value, input: input.filter((item) => !isEnvelope(item)) }, lost };
}

const itemsOf = ({ input }: Readonly<Fields>): readonly unknown[] => (Array.isArray(input) ? input : []);

const isEnvelope = (item: unknown): boolean =>
  isFields(item) && item['type'] === 'reasoning' && openEnvelope(item['encrypted_content']) !== undefined;

function adapt(
  request: ChatRequest,
  target: TargetFacts,
  value: Readonly<Fields>,
  history: NotedHistory,
): Adapted<ChatRequest> {
  if (speaksCommon(target)) refuseFileAddresses(value);
  refuseBlankTurn(request, target, () => `input[${lastUserTurn(itemsOf(value), (role) => role === 'user')}].content`);
  const {
    verbosity,
    prompt_cache_key: cacheKey,
    ...rest
  } = takesLongNames(target) ? request : withShortFinds(request, value);
  const [takesVerbosity, takesCacheKey] = [takesField(target, 'verbosity'), takesField(target, 'prompt_cache_key')];
  const adapted = adaptCommon(
    {
      ...rest,
      ...(takesVerbosity && verbosity !== undefined && { verbosity }),
      ...(takesCacheKey && cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    },
    target,
    pathsIn(value, history),
  );
  return verbosity === undefined || takesVerbosity
    ? adapted
    : { request: adapted.request, lost: [...adapted.lost, 'text.verbosity'] };
}

/** The names of tools that a search has found, as a target with shorter names gets them. */
function withShortFinds(request: ChatRequest, value: Readonly<Fields>): ChatRequest {
  const searches = new Set(
    itemsOf(value).map((item) =>
      isFields(item) && item['type'] === 'tool_search_output' ? item['call_id'] : undefined,
    ),
  );
  const shortened = (content: string): string => content.split('\n').map(shortName).join('\n');
  return {
    ...request,
    messages: request.messages.map((message) => {
      const { role, tool_call_id: id, content } = message;
      const isFind = role === 'tool' && isText(id) && searches.has(id) && typeof content === 'string';
      return isFind ? { ...message, content: shortened(content) } : message;
    }),
  };
}

const NO_PATHS = (): readonly string[] => [];

function pathsIn(value: Readonly<Fields>, history: NotedHistory): FieldPaths {
  return {
    effort: 'reasoning.effort',
    top_k: 'top_k',
    service_tier: 'service_tier',
    history,
    late: (index) => latePaths(value)[index],
    failures: NO_PATHS,
  };
}

const isSystemItem = (item: unknown): boolean =>
  isFields(item) && (item['role'] === 'system' || item['role'] === 'developer');

/** Items of these types are not of the conversation. */
const ASIDE = new Set<unknown>(['additional_tools', 'web_search_call']);

/** Where the roles of messages of the system and the developer stand behind the first other item. */
function latePaths(value: Readonly<Fields>): string[] {
  const input = itemsOf(value);
  const start = input.findIndex((item) => !isSystemItem(item) && isFields(item) && !ASIDE.has(item['type']));
  return input.flatMap((item, at) => (start >= 0 && at > start && isSystemItem(item) ? [`input[${at}].role`] : []));
}

/** Vendors of the common format fetch images, and no files. */
function refuseFileAddresses(value: Readonly<Fields>): void {
  itemsOf(value).forEach((item, at) => {
    if (!isFields(item)) return;
    for (const name of ['content', 'output']) {
      const parts = item[name];
      if (!Array.isArray(parts)) continue;
      const place = parts.findIndex(
        (part: unknown) => isFields(part) && part['type'] === 'input_file' && isText(part['file_url']),
      );
      if (place >= 0)
        throw notCarried(
          `input[${at}].${name}[${place}].file_url`,
          'is an address, and the provider of this model takes files as data only',
        );
    }
  });
}

const PATHS: ReadonlyMap<string, string> = new Map([
  ['max_completion_tokens', 'max_output_tokens'],
  ['max_tokens', 'max_output_tokens'],
  ['reasoning_effort', 'reasoning.effort'],
  ['response_format', 'text.format'],
  ['verbosity', 'text.verbosity'],
  ['messages', 'input'],
]);

/** What the client calls a field of the common format. */
function pathsOf(field: string, value: Readonly<Fields>): readonly string[] {
  if (field === 'strict') return strictTools(value);
  if (field === 'detail') return detailsIn(value);
  if (field === 'logprobs') return isGiven(value['top_logprobs']) ? [] : ['include'];
  if (field === 'user' && !isText(value['user'])) return ['safety_identifier'];
  return [PATHS.get(field) ?? field];
}

/** Where a client says how closely an image is to be looked at. */
function detailsIn(value: Readonly<Fields>): string[] {
  return itemsOf(value).flatMap((item, at) =>
    ['content', 'output'].flatMap((name) => {
      const parts = isFields(item) && Array.isArray(item[name]) ? item[name] : [];
      return parts.flatMap((part: unknown, place) =>
        isFields(part) && isGiven(part['detail']) ? [`input[${at}].${name}[${place}].detail`] : [],
      );
    }),
  );
}
