import type { CallInfo, ViaResponses } from 'gw/contract';
import type { Notes } from '../notes.ts';
import { type Path, pathOf } from '../paths.ts';
import { readResponse } from './answer.ts';
import { toInput } from './input.ts';
import { toParams } from './params.ts';
import { openResponsesStream } from './stream.ts';

/** How a provider answers chats by the Responses API. */
export interface ResponsesOptions {
  /** `/responses` unless said. */
  readonly path?: Path;
  /** The name to send as `model`, where it is not that of the call. */
  readonly model?: (call: CallInfo) => string;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `true` where the rules of models may choose this API; elsewhere the target's `chat_via` alone does. */
  readonly isAutomatic?: boolean;
}

/** Chats by the Responses API of any service. See docs/providers.md#chats-by-the-responses-api. */
export function responsesChat({ path, model, headers, isAutomatic }: ResponsesOptions = {}): ViaResponses {
  return {
    toUpstream: (request, call) => {
      const notes: Notes = { ignored: [], bounded: [] };
      const input = toInput(request.messages, call, notes);
      return {
        path: pathOf(path, '/responses', call),
        ...(headers && { headers }),
        body: { model: model?.(call) ?? call.model, ...toParams(request, call, notes), input },
        ...notes,
      };
    },
    fromUpstream: readResponse,
    openStream: openResponsesStream,
    ...(isAutomatic && { isAutomatic }),
  };
}
