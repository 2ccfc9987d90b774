import { readCommon } from './common.ts';
import type { Fields, Meaning } from './meaning.ts';

/** A body of Cohere's second chat API: close to the common wire. */
export function readCohere({ p, k, messages, ...body }: Fields): Meaning {
  const { turns, tools, settings } = readCommon({
    ...body,
    messages: messages.map(({ tool_plan: plan, ...message }: Fields) => ({
      ...message,
      ...(plan && { reasoning_content: plan }),
    })),
  });
  return {
    turns,
    tools,
    settings: { ...settings, ...(p !== undefined && { top_p: p }), ...(k !== undefined && { top_k: k }) },
  };
}
