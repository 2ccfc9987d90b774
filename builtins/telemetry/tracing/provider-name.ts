/** Providers that OpenTelemetry calls otherwise. Source: semantic conventions 1.45, values of "gen_ai.provider.name", read 2026-11-23. */
const CALLED: ReadonlyMap<string, string> = new Map([
  ['azure-foundry', 'azure.ai.inference'],
  ['azure-openai', 'azure.ai.openai'],
  ['bedrock', 'aws.bedrock'],
  ['gemini', 'gcp.gemini'],
  ['mistral', 'mistral_ai'],
  ['vertex-ai', 'gcp.vertex_ai'],
  ['xai', 'x_ai'],
]);

/** What collectors know a provider by; its own name where the conventions have none. */
export function conventionalName(provider: string): string {
  return CALLED.get(provider) ?? provider;
}
