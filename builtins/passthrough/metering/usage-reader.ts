import { isFields, tryParseJson } from '../../../host/contract/index.ts';
import { dataOf, textOfBytes } from '../../../host/upstream/sse.ts';
import { charactersOfEvent, factsOf, type ResponseFacts, UNKNOWN } from './answer-facts.ts';

/** What is kept of an answer, or of one line of a stream, to read its usage. A longer one is sent on, and its usage is unknown. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Reads usage of an answer while its bytes pass. `end` may be asked before the last of them, of an answer that broke off. */
export interface UsageReader {
  see(bytes: Buffer): void;
  end(): ResponseFacts;
}

export function openUsageReader(headers: Readonly<Record<string, string>>): UsageReader {
  if (isCoded(headers)) return new ByteCounter();
  return isEventStream(headers) ? new StreamReader() : new BodyReader();
}

/** Whether an answer is compressed, although it was asked for as it is. */
export function isCoded(headers: Readonly<Record<string, string>>): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding !== '' && encoding !== 'identity';
}

export const isEventStream = (headers: Readonly<Record<string, string>>): boolean =>
  /^\s*text\/event-stream\b/i.test(headers['content-type'] ?? '');

/** Counts the bytes of an answer that cannot be read. */
class ByteCounter implements UsageReader {
  #bytes = 0;

  see(bytes: Buffer): void {
    this.#bytes += bytes.length;
  }

  end(): ResponseFacts {
    return { ...UNKNOWN, answered: this.#bytes };
  }
}

class BodyReader implements UsageReader {
  #pieces: Buffer[] = [];
  #bytes = 0;

  see(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= MAX_BYTES) this.#pieces.push(bytes);
    else this.#pieces = [];
  }

  end(): ResponseFacts {
    const json = this.#bytes > MAX_BYTES ? undefined : tryParseJson(Buffer.concat(this.#pieces).toString('utf8'));
    return json === undefined ? { ...UNKNOWN, answered: this.#bytes } : factsOf(json);
  }
}

const LF = 0x0a;

/** Up to each LF: the last `data:` whose JSON holds a response with usage counts. */
class StreamReader implements UsageReader {
  #line: Buffer[] = [];
  #bytes = 0;
  #facts = UNKNOWN;
  #answered = 0;

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
    return { ...this.#facts, answered: this.#answered || this.#facts.answered };
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
    if (data === undefined) return;
    this.#answered += charactersOfEvent(data);
    if (!(data.includes('"usage"') || (this.#facts.ids.length === 0 && data.includes('"response"')))) return;
    const event = tryParseJson(textOfBytes(data));
    if (!isFields(event)) return;
    const facts = factsOf(isFields(event['response']) ? event['response'] : event);
    if (facts.usage || facts.doubts.length > 0 || (facts.ids.length > 0 && this.#facts.ids.length === 0))
      this.#facts = { ...facts, ids: facts.ids.length > 0 ? facts.ids : this.#facts.ids };
  }
}
