import type { TargetFacts } from '../../host/wire/client-request.ts';

/** Modules whose wire has a name of its own, and whose chat is the common one but for Claude. */
const COMMON_BUT_CLAUDE: ReadonlySet<string> = new Set(['azure-foundry', 'azure-openai', 'vertex-ai']);

export const isClaude = (model: string): boolean => /(^|[./])claude-/i.test(model);

/** Whether a target is asked in the common format. */
export function speaksCommon({ provider, wire, model }: TargetFacts): boolean {
  return wire === 'common' || (COMMON_BUT_CLAUDE.has(provider) && !isClaude(model));
}

/** Whether a target is asked in the Messages wire, if through the common format. */
export function speaksMessages({ provider, model }: TargetFacts): boolean {
  return provider === 'anthropic' || (isClaude(model) && (provider === 'bedrock' || COMMON_BUT_CLAUDE.has(provider)));
}

/** They cache by themselves: a mark that is not sent changes nothing. See docs/reference/ingress.md#what-is-lost. */
const CACHES_UNASKED: ReadonlySet<string> = new Set([
  'openai',
  'azure-openai',
  'deepseek',
  'gemini',
  'xai',
  'groq',
  'moonshot',
]);

export function marksCaches(target: TargetFacts): 'asked' | 'unasked' | 'never' {
  if (speaksMessages(target) || target.provider === 'openrouter' || target.provider === 'bedrock') return 'asked';
  return CACHES_UNASKED.has(target.provider) ? 'unasked' : 'never';
}

/** Whether results of tools may hold more than text: the provider `cohere` refuses that, as the common wire has no place for it. */
export const takesMediaInResults = (target: TargetFacts): boolean =>
  !speaksCommon(target) && target.provider !== 'cohere';

/** They take instructions in the middle of a conversation. See docs/reference/ingress.md#instructions. */
const TAKES_LATE_INSTRUCTIONS: ReadonlySet<string> = new Set([
  'openai',
  'azure-openai',
  'azure-foundry',
  'openrouter',
  'xai',
  'deepseek',
]);

/** Whether messages of the role `system` may stand where they are; native translators bring them into place themselves. */
export function takesLateInstructions(target: TargetFacts): boolean {
  return !speaksCommon(target) || TAKES_LATE_INSTRUCTIONS.has(target.provider);
}

/** Formats of `reasoning_details` that a target understands. */
export function knowsReasoning(target: TargetFacts, format: unknown): boolean {
  if (target.provider === 'openrouter') return true;
  if (speaksMessages(target)) return format === 'anthropic-claude-v1';
  return target.provider === 'gemini'
    ? format === 'google-gemini-v1'
    : target.provider === 'bedrock' && format === 'anthropic-claude-v1';
}

/** They take `service_tier` in the common format. */
export const takesTier = (target: TargetFacts): boolean =>
  !speaksCommon(target) || target.provider === 'openai' || target.provider === 'groq';

/** The names of tools that every other wire takes end here. */
export const MAX_TOOL_NAME = 64;

export const takesLongNames = (target: TargetFacts): boolean => speaksMessages(target);
