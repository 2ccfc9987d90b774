import { type Fields, isFields } from '../../host/contract/index.ts';
import type { ToolResult } from '../../host/pipeline/tool-servers.ts';

/** A result whose texts, together, are no longer than `maxBytes` of UTF-8; what is beyond is left out, and the last text says so. */
export function cutResult(result: ToolResult, maxBytes: number): ToolResult {
  let left = maxBytes;
  let isCut = false;
  const content: unknown[] = [];
  for (const block of result.content) {
    const text = textOf(block);
    if (text === undefined) content.push(block);
    else if (!isCut) {
      const kept = cutText(text, left, maxBytes);
      isCut = kept !== text;
      left -= Buffer.byteLength(text);
      content.push(isCut ? { ...(block as Fields), text: kept } : block);
    }
  }
  return isCut ? { ...result, content } : result;
}

/** A text no longer than `room` bytes of UTF-8, cut between characters, and a marker that tells the limit. */
export function cutText(text: string, room: number, limit: number = room): string {
  if (text.length * 3 <= room || Buffer.byteLength(text) <= room) return text;
  const bytes = Buffer.from(text, 'utf8');
  let end = Math.max(0, room);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1; // not inside a character
  return `${bytes.toString('utf8', 0, end)}\n[the result was cut: it exceeds the limit of ${limit} bytes]`;
}

/** What the model reads of a result. See docs/mcp.md#the-loop. */
export function contentOf({ content, structuredContent, isError }: ToolResult, maxBytes: number): string {
  const [first, second] = content;
  const only = second === undefined ? textOf(first) : undefined;
  if (content.length === 1 && only !== undefined)
    return only === '' && isError ? errorContent('the tool call failed') : only;
  if (content.length > 0) return cutText(JSON.stringify(content), maxBytes);
  if (structuredContent !== undefined && structuredContent !== null)
    return cutText(JSON.stringify(structuredContent), maxBytes);
  return isError ? errorContent('the tool call failed') : '';
}

/** What the model reads where there is no result. */
export function errorContent(message: string): string {
  return JSON.stringify({ error: message });
}

/** What a tool says that says `isError`: the texts of its result. */
export function errorTextOf({ content }: ToolResult): string {
  return content.flatMap((block) => textOf(block) ?? []).join('\n');
}

function textOf(block: unknown): string | undefined {
  return isFields(block) && block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : undefined;
}
