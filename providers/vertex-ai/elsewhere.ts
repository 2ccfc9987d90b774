import type { ProviderModule } from 'gw/contract';

/** What other gateways call the provider and its settings. Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22; docs.getbifrost.ai, "Provider Setup", 2026-11-22. */
export const elsewhere: ProviderModule['elsewhere'] = {
  litellm: {
    names: ['vertex_ai', 'vertex_ai_beta'],
    settings: [
      { variable: 'VERTEX_AI_PROJECT_ID', from: ['vertex_project'] },
      { variable: 'VERTEX_AI_REGION', from: ['vertex_location'] },
      { variable: 'VERTEX_AI_SERVICE_ACCOUNT_JSON', from: ['vertex_credentials'], isSecret: true },
    ],
  },
  portkey: {
    settings: [
      { variable: 'VERTEX_AI_PROJECT_ID', from: ['vertex_project_id', 'vertexProjectId'] },
      { variable: 'VERTEX_AI_REGION', from: ['vertex_region', 'vertexRegion'] },
      {
        variable: 'VERTEX_AI_SERVICE_ACCOUNT_JSON',
        from: ['vertex_service_account_json', 'vertexServiceAccountJson'],
        isSecret: true,
      },
    ],
  },
  bifrost: {
    names: ['vertex'],
    settings: [
      { variable: 'VERTEX_AI_PROJECT_ID', from: ['vertex_key_config.project_id'] },
      { variable: 'VERTEX_AI_REGION', from: ['vertex_key_config.region'] },
      { variable: 'VERTEX_AI_SERVICE_ACCOUNT_JSON', from: ['vertex_key_config.auth_credentials'], isSecret: true },
    ],
  },
};
