/** Reads JSON that the gateway sent or this page stored; `undefined` for what is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
