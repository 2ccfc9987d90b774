/** Providers that the shipped catalog has no rows of, and why. */
export const WITHOUT_ROWS: Readonly<Record<string, string>> = {
  ollama: "its models are the operator's own list",
  'ollama-cloud': "its models are the operator's own list",
  'openai-compatible': "its models are those of the operator's own server",
  replicate: "its models are the operator's own list",
};
