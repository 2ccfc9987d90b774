/** Parsed JSON whose numbers keep their digits where a JavaScript number would lose some; `undefined` for what is no JSON. */
export function exactJson(text: string): unknown {
  try {
    return /\d{16}/.test(text) ? json.parse(text, keepExact) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The parts of `JSON` that the language's types do not know yet. */
interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
  rawJSON(text: string): object;
}

const json = JSON as unknown as ExactJson;

function keepExact(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  const isLossy = typeof value === 'number' && (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)));
  return isLossy && source !== undefined ? json.rawJSON(source) : value;
}
