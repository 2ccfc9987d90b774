import { invalidRequest } from '../common/invalid-request.ts';
import { quoted } from '../contract/index.ts';
import { isFields } from '../contract/json/fields.ts';

const MAX_BYTES = 4096;
const MAX_ENTRIES = 32;
export const NO_METADATA: Readonly<Record<string, string>> = Object.freeze({});

/** Numbers keep the text they were written in: 1.0 is not 1. */
class WrittenNumber {
  readonly text: string;
  constructor(written: string) {
    this.text = written;
  }
}

/** Entries of request metadata in their written text. Throws on anything but a small flat JSON object. docs/reference/data-plane.md#request-metadata. */
export function parseMetadata(json: string, bytes = Buffer.byteLength(json)): Readonly<Record<string, string>> {
  if (json.trim() === '') return NO_METADATA;
  if (bytes > MAX_BYTES) throw invalidRequest(`X-Gateway-Metadata exceeds ${MAX_BYTES} bytes`);
  const value = parse(json);
  if (!isFields(value) || value instanceof WrittenNumber)
    throw invalidRequest('X-Gateway-Metadata must be a JSON object');
  const entries = Object.entries(value);
  if (entries.length > MAX_ENTRIES) throw invalidRequest(`X-Gateway-Metadata holds more than ${MAX_ENTRIES} entries`);
  return Object.fromEntries(entries.map(([name, entry]) => [name, entryText(name, entry)]));
}

function parse(json: string): unknown {
  const keepNumbers = (_key: string, value: unknown, context: { readonly source?: string }): unknown =>
    typeof value === 'number' && context.source !== undefined ? new WrittenNumber(context.source) : value;
  try {
    return JSON.parse(json, keepNumbers as never);
  } catch {
    throw invalidRequest('X-Gateway-Metadata is not valid JSON');
  }
}

function entryText(name: string, entry: unknown): string {
  if (typeof entry === 'string') return entry;
  if (typeof entry === 'boolean') return String(entry);
  if (entry instanceof WrittenNumber) return entry.text;
  throw invalidRequest(`X-Gateway-Metadata entry ${quoted(name)} must be a string, a number or a boolean`);
}

/** Entries of the header `X-Gateway-Metadata`; Node reads its bytes as Latin-1. */
export function readMetadata(header: string | string[] | undefined): Readonly<Record<string, string>> {
  if (header === undefined) return NO_METADATA;
  const bytes = typeof header === 'string' ? header : header.join(', ');
  return parseMetadata(Buffer.from(bytes, 'latin1').toString('utf8'), bytes.length);
}
