import type { Fields } from '../../../host/contract/index.ts';
import { sealEnvelope } from '../envelope.ts';

/** What stands behind a thought of another vendor; its text stands in the part itself. Of a thought without any secret it says that it is not this vendor's. */
export function thoughtSecret(items: readonly Fields[]): string {
  return sealEnvelope(items.map(({ text: _text, index: _index, ...item }) => item));
}

/**
 * The secret of a call, with the texts: there are clients that return calls without the thoughts before them. `text` is that of
 * thoughts without a secret. `undefined` when nothing was thought. Source: google-gemini/gemini-cli, "geminiChat.ts", 2026-11-22.
 */
export function callSecret(items: readonly Fields[], text: string): string | undefined {
  if (items.length > 0) return sealEnvelope(items.map(({ index: _index, ...item }) => item));
  return text === '' ? undefined : sealEnvelope([{ type: 'reasoning.text', text }]);
}
