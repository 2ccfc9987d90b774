import type { CallInfo, ChatTranslator, ParamTreatments } from 'gw/contract';
import { MESSAGES_PARAMS } from './params.ts';
import { openMessagesStream, readMessage, toMessagesBody } from './translation.ts';
import type { MessagesVariant } from './variant.ts';

/** How a cloud that speaks the common wire serves Claude beside it. */
export interface ClaudeBeside {
  readonly variant: MessagesVariant;
  readonly pathOf: (call: CallInfo) => string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const isClaude = (model: string): boolean => /(^|[./])claude-/i.test(model);

/** Chat of a cloud whose Claude models speak their own wire, and whose other models another. */
export function withClaude(
  others: ChatTranslator | undefined,
  { variant, pathOf, headers }: ClaudeBeside,
): ChatTranslator {
  if (!others) throw new Error(`${variant.label} has no chat`);
  const { openStream, viaResponses } = others;
  return {
    toUpstream: (request, call) => {
      if (!isClaude(call.model)) return others.toUpstream(request, call);
      const { headers: betas, ...native } = toMessagesBody(request, call, variant);
      return { path: pathOf(call), headers: { ...headers, ...betas }, ...native };
    },
    fromUpstream: (reply, call, request) =>
      isClaude(call.model) ? readMessage(reply, call, variant) : others.fromUpstream(reply, call, request),
    openStream: (call, request) => {
      if (isClaude(call.model)) return openMessagesStream(call, variant);
      return typeof openStream === 'function' ? openStream(call, request) : undefined;
    },
    ...(viaResponses && { viaResponses }),
  };
}

export const claudeParams = (model: string): ParamTreatments => (isClaude(model) ? MESSAGES_PARAMS : {});
