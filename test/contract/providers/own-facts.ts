/** Providers that no row of `facts.ts` describes, and why. */
export const EXCLUDED: Readonly<Record<string, string>> = {
  'azure-foundry': 'its own suite holds the facts of its wire, and runs the contract',
  'azure-openai': 'its own suite holds the facts of its wire, and runs the contract',
  cohere: 'its own suite holds the facts of its wire, and runs the contract',
  replicate: 'its own suite holds its facts: an answer takes several round trips',
  bedrock: 'its own suite holds its facts: requests are signed, and streams are binary',
  anthropic: 'its own suite holds the facts of its wire, and runs the contract',
  'openai-compatible': 'its own suite holds its facts: only the configuration registers it, at any address',
  echo: 'answers without a network',
  gemini: 'its own suite holds the facts of its wire, and runs the contract',
  'vertex-ai': 'its own suite holds its facts: its credential is not a plain token, and its root needs a region',
};
