import { isOfResponses } from '../../../host/common/sealed-thoughts.ts';
import {
  type ChatReply,
  type Exchange,
  type Fields,
  GatewayError,
  isFields,
  isText,
  parseExactJson,
  type ReplyMessage,
  type ToolCall,
} from '../../../host/contract/index.ts';
import { estimateAnswer, estimateTokens } from '../estimate.ts';
import { ownNames } from '../tool-names.ts';
import { toolNames } from './dialect.ts';
import { hidesThoughts } from './effort.ts';
import { stopDetails, stopReason } from './stop-reason.ts';
import { FORMAT, sealedBlock, sealThought, signsText } from './thoughts.ts';
import { countsOf, NO_COUNTS, usageOf } from './usage.ts';

type Block = Readonly<Fields>;

/** What of the client's request decides how its answer is written. */
export interface Wishes {
  readonly hidesThoughts: boolean;
  readonly nameOf: (name: string) => string;
}

export function wishesOf(value: Block): Wishes {
  return { hidesThoughts: hidesThoughts(value), nameOf: ownNames(toolNames(value)) };
}

const UNCITED = Object.freeze({ citations: null });

/** The first choice of a common answer as a message; `ofText` stands in each block of text. See docs/reference/ingress.md#messages-the-answer. */
export function messageOf(exchange: Exchange, value: Block, ofText: Block = UNCITED): object {
  const reply = exchange.reply as ChatReply;
  const [choice] = reply.choices;
  const { content, refusal, tool_calls: calls = [] }: Partial<ReplyMessage> = choice?.message ?? {};
  const { nameOf, ...wishes } = wishesOf(value);
  const thoughts = thoughtBlocks(choice?.message ?? {}, calls, wishes.hidesThoughts);
  const texts = [content, refusal].filter(isText).map((text) => ({ type: 'text', text, ...ofText }));
  const ids = idsOf(calls, exchange.id);
  const blocks = [
    ...thoughts.own,
    ...texts,
    ...calls.flatMap((call, at) => [
      ...sealedFor(call, thoughts.ofCalls),
      callBlock(call, { id: ids[at] ?? '', nameOf }),
    ]),
  ];
  const reason = stopReason(choice?.finish_reason, calls.length > 0, isText(refusal));
  return {
    id: `msg_${exchange.id}`,
    type: 'message',
    role: 'assistant',
    model: exchange.model,
    content: blocks,
    stop_reason: reason,
    stop_sequence: null,
    stop_details: stopDetails(reason),
    usage: usageOf(reply.usage ? countsOf(reply.usage) : estimated(exchange, choice?.message)),
    container: null,
    diagnostics: null,
  };
}

function estimated({ request }: Exchange, message: Partial<ReplyMessage> = {}): Parameters<typeof usageOf>[0] {
  return { ...NO_COUNTS, input: estimateTokens(request as never), output: estimateAnswer(charactersOf(message)) };
}

function charactersOf({
  content,
  refusal,
  reasoning_content: reasoning,
  reasoning_details: details,
  tool_calls: calls,
}: Partial<ReplyMessage>): number {
  const thoughts = (details ?? [])
    .filter(isFields)
    .map(({ text }) => text)
    .filter(isText);
  const texts = [
    content,
    refusal,
    ...(thoughts.length > 0 ? thoughts : [reasoning]),
    ...(calls ?? []).map((call) => call.function.arguments),
  ];
  return texts.filter(isText).reduce((sum, text) => sum + text.length, 0);
}

interface ThoughtBlocks {
  readonly own: readonly Block[];
  /** Items that belong to a call, by its id. */
  readonly ofCalls: Map<unknown, readonly Block[]>;
}

/** A thought of this wire's own vendor keeps its signature; others travel in an envelope in that place. */
function thoughtBlocks(message: Partial<ReplyMessage>, calls: readonly ToolCall[], isHidden: boolean): ThoughtBlocks {
  const items = (message.reasoning_details ?? []).filter(isFields);
  const callIds = new Set<unknown>(calls.map(({ id }) => id)); // other ids are those of the reasoning itself
  const hasText = isText(message.reasoning_content);
  const isOfCall = (item: Block): boolean =>
    isText(item['id']) && item['format'] !== FORMAT && callIds.has(item['id']) && !(hasText && isOfResponses(item)); // those stand with their own text
  const ofCalls = Map.groupBy(items.filter(isOfCall), ({ id }) => id);
  const rest = items.filter((item) => !isOfCall(item));
  const isThought = (item: Block): boolean =>
    isText(item['text']) || (item['format'] === FORMAT && isText(item['signature']));
  const loose = rest.filter((item) => !isThought(item) && item['format'] !== FORMAT && !signsText(item));
  const own: Block[] = rest.flatMap((item) => {
    if (isThought(item)) return [thinkingBlock(item['text'], signatureOf(item, isHidden), isHidden)];
    return item['format'] === FORMAT && isText(item['data']) ? [{ type: 'redacted_thinking', data: item['data'] }] : [];
  });
  const isBare = hasText && !rest.some(isThought);
  if (isBare) {
    const hidden = isHidden ? (message.reasoning_content ?? '') : '';
    own.push(thinkingBlock(message.reasoning_content, sealThought(hidden, loose), isHidden));
  } else if (loose.length > 0) own.push(sealedBlock(loose));
  return { own, ofCalls };
}

const thinkingBlock = (text: unknown, signature: string, isHidden: boolean): Block => ({
  type: 'thinking',
  thinking: isHidden || !isText(text) ? '' : text,
  signature,
});

function signatureOf({ text, ...item }: Block, isHidden: boolean): string {
  const isOwn = item['format'] === FORMAT;
  if (isOwn && isText(item['signature'])) return item['signature'];
  return sealThought(isHidden && isText(text) ? text : '', isOwn ? [] : [item]);
}

/** The block in front of a call; of two calls with one id it is the first one's. */
function sealedFor({ id }: ToolCall, items: ThoughtBlocks['ofCalls']): Block[] {
  const own = items.get(id);
  items.delete(id);
  return own ? [sealedBlock(own)] : [];
}

/** Clients answer calls by their id: one that has none, or that of a call before it, gets another. */
function idsOf(calls: readonly ToolCall[], exchangeId: string): string[] {
  const taken = new Set<string>();
  return calls.map(({ id }, at) => {
    const own = isText(id) && !taken.has(id) ? id : `toolu_${exchangeId}_${at}`;
    taken.add(own);
    return own;
  });
}

function callBlock(
  { function: called }: ToolCall,
  { id, nameOf }: { readonly id: string; readonly nameOf: Wishes['nameOf'] },
): Block {
  return {
    type: 'tool_use',
    id,
    name: nameOf(called.name ?? ''),
    input: inputOf(called.arguments),
    caller: { type: 'direct' },
  };
}

/** Every digit of the arguments; those that are not an object cannot be given to a tool. */
function inputOf(text: string | undefined): Block {
  if (text === undefined || text.trim() === '') return {};
  let input: unknown;
  try {
    input = parseExactJson(text);
  } catch (cause) {
    throw noArguments(cause);
  }
  if (isFields(input)) return input;
  throw noArguments();
}

export const noArguments = (cause?: unknown): GatewayError =>
  new GatewayError('upstream_error', 'the arguments of a tool call are not a JSON object', { cause });
