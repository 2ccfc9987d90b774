import type { ProviderModule } from 'gw/contract';

/** What other gateways call the provider and its settings. Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22; docs.getbifrost.ai, "Provider Setup", 2026-11-22. */
export const elsewhere: ProviderModule['elsewhere'] = {
  litellm: {
    names: ['azure', 'azure_text'],
    settings: [{ variable: 'AZURE_OPENAI_API_VERSION', from: ['api_version'] }],
  },
  portkey: {
    settings: [
      { variable: 'AZURE_OPENAI_DEPLOYMENT', from: ['deployment_id', 'deploymentId'] },
      { variable: 'AZURE_OPENAI_API_VERSION', from: ['api_version', 'apiVersion'] },
      { variable: 'AZURE_OPENAI_ENDPOINT', from: ['resource_name', 'resourceName'], as: 'https://{}.openai.azure.com' },
    ],
  },
  bifrost: {
    names: ['azure'],
    settings: [
      { variable: 'AZURE_OPENAI_ENDPOINT', from: ['azure_key_config.endpoint'] },
      { variable: 'AZURE_OPENAI_API_VERSION', from: ['azure_key_config.api_version'] },
    ],
  },
};
