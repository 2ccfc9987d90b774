import { type ChatRequest, type Fields, isFields } from '../../../host/contract/index.ts';
import type { Adapted, Dialect, TargetFacts } from '../../../host/wire/client-request.ts';
import { adaptCommon } from '../adapt.ts';
import { lastUserTurn, refuseBlankTurn } from '../blank-turn.ts';
import { type NotedHistory, NO_HISTORY } from '../history-notes.ts';
import { speaksCommon } from '../targets.ts';
import { BODY_TEXTS } from './body-texts.ts';
import { cannotCarry, listOf } from './request/members.ts';
import { withoutForeignSecrets } from './request/own-parts.ts';

/** What the client calls the fields of the common format. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ['temperature', 'generationConfig.temperature'],
  ['top_p', 'generationConfig.topP'],
  ['top_k', 'generationConfig.topK'],
  ['n', 'generationConfig.candidateCount'],
  ['max_tokens', 'generationConfig.maxOutputTokens'],
  ['stop', 'generationConfig.stopSequences'],
  ['seed', 'generationConfig.seed'],
  ['presence_penalty', 'generationConfig.presencePenalty'],
  ['frequency_penalty', 'generationConfig.frequencyPenalty'],
  ['logprobs', 'generationConfig.responseLogprobs'],
  ['top_logprobs', 'generationConfig.logprobs'],
  ['reasoning_effort', 'generationConfig.thinkingConfig'],
  ['tools', 'tools'],
  ['tool_choice', 'toolConfig.functionCallingConfig'],
  ['service_tier', 'serviceTier'],
  ['dimensions', 'outputDimensionality'],
  ['input_type', 'taskType'],
  ['messages', 'contents'],
]);

/** What requests of this wire hold beyond the common format. See docs/reference/ingress.md#gemini-the-request. */
export const GEMINI_DIALECT: Dialect = {
  wire: 'gemini',
  texts: BODY_TEXTS,
  forSameWire: withoutForeignSecrets,
  adapt: (request, target, value) => adapt(request, target, value, NO_HISTORY),
  pathsOf: (field, _target, value) =>
    field === 'response_format' ? [formatPath(value)] : [PATHS.get(field) ?? []].flat(),
  wantsThoughts: () => false,
};

/** The dialect of one request, whose history and whose wish for thoughts were noted while it was read. */
export const geminiDialect = (history: NotedHistory, includesThoughts = false): Dialect => ({
  ...GEMINI_DIALECT,
  adapt: (request, target, value) => adapt(request, target, value, history),
  wantsThoughts: () => includesThoughts,
});

function formatPath({ generationConfig: config }: Readonly<Fields>): string {
  const given = isFields(config)
    ? ['responseSchema', 'responseJsonSchema'].find((name) => config[name] !== undefined)
    : undefined;
  return `generationConfig.${given ?? 'responseMimeType'}`;
}

/** Embeddings are the same for every target. */
function adapt(
  request: ChatRequest,
  target: TargetFacts,
  value: Readonly<Fields>,
  history: NotedHistory,
): Adapted<ChatRequest> {
  if (request.messages === undefined) return { request, lost: [] };
  if (speaksCommon(target)) refuseFetched(value, target.provider);
  const contents = listOf(value['contents']) ?? [];
  refuseBlankTurn(request, target, () => `contents[${lastUserTurn(contents, (role) => role !== 'model')}].parts`);
  return adaptCommon(request, target, {
    effort: 'generationConfig.thinkingConfig',
    top_k: 'generationConfig.topK',
    service_tier: 'serviceTier',
    history,
    late: () => undefined, // all of its instructions stand apart from the turns
    failures: () => [], // the name of a member says it, and what it holds goes on
  });
}

/** Each part of the body, and where it stands. */
function* partsIn({ contents }: Readonly<Fields>): Generator<readonly [part: Fields, at: string]> {
  for (const [index, content] of (listOf(contents) ?? []).entries()) {
    const parts = isFields(content) ? listOf(content['parts']) : undefined;
    if (!parts) continue;
    for (const [place, part] of parts.entries()) if (isFields(part)) yield [part, `contents[${index}].parts[${place}]`];
  }
}

/** On the common wire only images may be addresses. */
function refuseFetched(value: Readonly<Fields>, provider: string): void {
  for (const [part, at] of partsIn(value)) {
    const file = part['fileData'] ?? part['file_data'];
    const type = isFields(file) ? (file['mimeType'] ?? file['mime_type']) : undefined;
    if (isFields(file) && !(typeof type === 'string' && /^image\//i.test(type)))
      throw cannotCarry(`${at}.fileData`, `${provider} fetches images only`);
  }
}
