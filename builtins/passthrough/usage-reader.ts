import { countOf, isFields, readUsage, tryParseJson, type Usage } from '../../host/contract/index.ts';
import { dataOf, textOfBytes } from '../../host/upstream/sse.ts';

/** What is kept of an answer, or of one line of a stream, to read its usage. A longer one is sent on, and its usage is unknown. */
const MAX_BYTES = 8 * 1024 * 1024;

/** What an answer of `/v1/responses` says of itself. */
export interface ResponseFacts {
  readonly usage: Usage | undefined;
  readonly model: string | undefined;
  /** Ids under which the provider keeps what was made, and what came of it. */
  readonly ids: readonly string[];
}

/** Reads usage of an answer while its bytes pass. */
export interface UsageReader {
  see(bytes: Buffer): void;
  end(): ResponseFacts;
}

const UNKNOWN: ResponseFacts = { usage: undefined, model: undefined, ids: [] };

export function openUsageReader(headers: Readonly<Record<string, string>>): UsageReader | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') return undefined;
  return isEventStream(headers) ? new StreamReader() : new BodyReader();
}

export const isEventStream = (headers: Readonly<Record<string, string>>): boolean => /^\s*text\/event-stream\b/i.test(headers['content-type'] ?? '');

class BodyReader implements UsageReader {
  #pieces: Buffer[] = [];
  #bytes = 0;

  see(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= MAX_BYTES) this.#pieces.push(bytes);
    else this.#pieces = [];
  }

  end(): ResponseFacts {
    if (this.#bytes > MAX_BYTES) return UNKNOWN;
    return factsOf(tryParseJson(Buffer.concat(this.#pieces).toString('utf8')));
  }
}

const LF = 0x0a;

/** Up to each LF: the last `data:` whose JSON holds a response with usage counts. */
class StreamReader implements UsageReader {
  #line: Buffer[] = [];
  #bytes = 0;
  #facts = UNKNOWN;

  see(bytes: Buffer): void {
    let from = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, from)) {
      this.#keep(bytes.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#keep(bytes.subarray(from));
  }

  end(): ResponseFacts {
    this.#endLine();
    return this.#facts;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#bytes += bytes.length;
    if (this.#bytes <= MAX_BYTES) this.#line.push(bytes);
    else this.#line = [];
  }

  #endLine(): void {
    const text = this.#bytes > MAX_BYTES ? '' : Buffer.concat(this.#line).toString('latin1');
    this.#line = [];
    this.#bytes = 0;
    for (const line of text.split('\r')) this.#read(line); // lines may end with CR alone
  }

  #read(line: string): void {
    const data = dataOf(line);
    if (data === undefined || !(data.includes('"usage"') || (this.#facts.ids.length === 0 && data.includes('"response"')))) return;
    const event = tryParseJson(textOfBytes(data));
    const facts = isFields(event) ? factsOf(event['response']) : UNKNOWN;
    if (facts.usage || (facts.ids.length > 0 && this.#facts.ids.length === 0)) this.#facts = facts;
  }
}

function factsOf(response: unknown): ResponseFacts {
  if (!isFields(response)) return UNKNOWN;
  const { usage, model } = response;
  const { file } = response; // of an upload that was completed
  const ids = [response['id'], response['output_file_id'], response['error_file_id'], isFields(file) ? file['id'] : undefined].filter((id): id is string => typeof id === 'string' && id !== '');
  return { usage: commonUsage(usage), model: typeof model === 'string' ? model : undefined, ids };
}

/** Usage under the names of the common wire, where cache writes stand beside the prompt; none that counts nothing. Source: OpenAI API reference, "Responses", 2026-11-22. */
function commonUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details } = usage;
  const written = isFields(input_tokens_details) ? countOf(input_tokens_details['cache_write_tokens']) : 0;
  const found = readUsage({
    prompt_tokens: Math.max(countOf(input_tokens) - written, 0), completion_tokens: output_tokens, total_tokens: Math.max(countOf(total_tokens) - written, 0), cache_write_tokens: written,
    ...(isFields(input_tokens_details) && { prompt_tokens_details: input_tokens_details }), ...(isFields(output_tokens_details) && { completion_tokens_details: output_tokens_details }),
  });
  return found && found.prompt_tokens + found.completion_tokens > 0 ? found : undefined;
}
