import { Buffer } from 'node:buffer';
import { type ChatRequest, type ContentPart, isFields } from '../../host/contract/index.ts';

/** UTF-8 bytes of text that one token stands for: fewer than vendors need, so that the estimate is rather too high. See docs/reference/ingress.md#counting-tokens. */
const BYTES_PER_TOKEN = 3.5;
const PER_MESSAGE = 4;
const PER_TOOL = 8;
const PER_IMAGE = 1600;
const FILE_BYTES_PER_TOKEN = 20;

/** What a request counts before any vendor has counted it: tokens. */
export function estimateTokens({ messages, tools }: Pick<ChatRequest, 'messages' | 'tools'>): number {
  let bytes = 0;
  let tokens = PER_MESSAGE * messages.length + PER_TOOL * (tools?.length ?? 0);
  const text = (value: unknown): void => {
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
  };
  for (const { content, reasoning_content: reasoning, tool_calls: calls } of messages) {
    text(reasoning);
    if (typeof content === 'string') text(content);
    else {
      for (const part of content ?? []) {
        if (part.type === 'text') text(part.text);
        else if (part.type === 'refusal') text(part.refusal);
        else tokens += mediaTokens(part);
      }
    }
    for (const { function: called } of calls ?? []) {
      text(called.name);
      text(called.arguments);
    }
  }
  for (const { function: declared } of tools ?? []) {
    text(declared?.name);
    text(declared?.description);
    if (isFields(declared?.parameters)) text(JSON.stringify(declared.parameters));
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN) + tokens;
}

function mediaTokens(part: ContentPart): number {
  if (part.type === 'image_url') return PER_IMAGE;
  const held = part.type === 'file' ? part.file : part.type === 'input_audio' ? part.input_audio : undefined;
  const data = isFields(held) ? (held['file_data'] ?? held['data']) : undefined;
  return typeof data === 'string' ? Math.ceil((data.length * 3) / 4 / FILE_BYTES_PER_TOKEN) : 0;
}

/** Tokens of an answer that came without a count, by its characters. */
export const estimateAnswer = (characters: number): number => Math.ceil(characters / 4);
