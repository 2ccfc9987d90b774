import type { ChatMessage, ChatRequest } from '../../../../host/contract/index.ts';
import { ownNames } from '../../tool-names.ts';
import type { NotedHistory } from '../../history-notes.ts';
import { knownWord, WORDS } from '../../words.ts';
import type { AnswerFacts } from '../answer/answer.ts';
import { readConfig } from './config.ts';
import { readContents, readSystem } from './contents.ts';
import { cannotCarry, given, Lost, Members } from './members.ts';
import { readTools } from './tools.ts';

/** Members that no other wire has. */
const VENDOR_ONLY = ['labels', 'store', 'modelArmorConfig'];
const KNOWN = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'safetySettings',
  'cachedContent',
  'serviceTier',
  'generationConfig',
  ...VENDOR_ONLY,
]);
/** `service_tier` by `serviceTier`. See docs/reference/ingress.md#gemini-the-request. */
const TIERS = { unspecified: undefined, flex: 'flex', standard: 'default', priority: 'priority' } as const;

/** A request of `generateContent` in the common format. */
export interface ReadGenerate {
  readonly request: ChatRequest;
  readonly facts: AnswerFacts;
  /** What was left out, by the client's paths. */
  readonly lost: readonly string[];
  readonly history: NotedHistory;
}

/** Throws a 400 that names the path for what is wrong, and for what no other wire has a place for. See docs/reference/ingress.md#gemini-the-request. */
export function readGenerate(body: unknown, model: string, isCounting = false): ReadGenerate {
  const lost = new Lost();
  const top = new Members(body, KNOWN, '');
  if (top.text('cachedContent')) throw cannotCarry('cachedContent', 'the cache lies with its own vendor');
  if ((top.list('safetySettings') ?? []).length > 0) lost.add('safetySettings');
  lost.addGiven(top.fields, VENDOR_ONLY, '');
  lost.addUnknown(top.fields, KNOWN, '');
  const config = readConfig(top.fields['generationConfig'], lost);
  const system = readSystem(top.fields['systemInstruction'], lost);
  const messages = readContents(top.fields['contents'], lost, isCounting);
  const request: ChatRequest = {
    model,
    messages: system === '' ? messages : [{ role: 'system', content: system } satisfies ChatMessage, ...messages],
    ...config.fields,
    ...readTools(top.fields['tools'], top.fields['toolConfig'], lost),
    ...given({ service_tier: tierOf(top.text('serviceTier'), lost) }),
  };
  return {
    request,
    facts: { ...config, ownName: ownNames((request.tools ?? []).map((tool) => tool.function?.name ?? '')) },
    lost: lost.inOrderOf(top.fields),
    history: lost.history,
  };
}

function tierOf(asked: string | undefined, lost: Lost): string | undefined {
  if (asked === undefined) return undefined;
  const word = asked.toLowerCase().replace(/^service_tier_/, '');
  const tier = knownWord(WORDS.gemini.serviceTier, word, () => lost.add('serviceTier'));
  return tier && TIERS[tier];
}
