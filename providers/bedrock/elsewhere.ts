import type { ProviderModule } from 'gw/contract';

/** What other gateways call the provider and its settings. Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22; docs.getbifrost.ai, "Provider Setup", 2026-11-22. */
export const elsewhere: ProviderModule['elsewhere'] = {
  litellm: {
    names: ['bedrock_converse'],
    settings: [
      { variable: 'AWS_REGION', from: ['aws_region_name'] },
      { variable: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME', from: ['aws_bedrock_runtime_endpoint'] },
      { variable: 'AWS_ACCESS_KEY_ID', from: ['aws_access_key_id'], isSecret: true },
      { variable: 'AWS_SECRET_ACCESS_KEY', from: ['aws_secret_access_key'], isSecret: true },
      { variable: 'AWS_SESSION_TOKEN', from: ['aws_session_token'], isSecret: true },
    ],
  },
  portkey: {
    settings: [
      { variable: 'AWS_REGION', from: ['aws_region', 'awsRegion'] },
      { variable: 'AWS_ACCESS_KEY_ID', from: ['aws_access_key_id', 'awsAccessKeyId'], isSecret: true },
      { variable: 'AWS_SECRET_ACCESS_KEY', from: ['aws_secret_access_key', 'awsSecretAccessKey'], isSecret: true },
      { variable: 'AWS_SESSION_TOKEN', from: ['aws_session_token', 'awsSessionToken'], isSecret: true },
    ],
  },
  bifrost: {
    settings: [
      { variable: 'AWS_ACCESS_KEY_ID', from: ['bedrock_key_config.access_key'], isSecret: true },
      { variable: 'AWS_SECRET_ACCESS_KEY', from: ['bedrock_key_config.secret_key'], isSecret: true },
      { variable: 'AWS_SESSION_TOKEN', from: ['bedrock_key_config.session_token'], isSecret: true },
      { variable: 'AWS_REGION', from: ['bedrock_key_config.region'] },
    ],
  },
};
