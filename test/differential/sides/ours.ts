import { startHost, stubUpstream, type TestHost } from '../../kit/index.ts';
import type { Body } from '../generate/request.ts';
import type { Sent } from './theirs.ts';
import { SIDES, type Side } from './sides.ts';

export type SentByUs = Sent & {
  /** Where it went, below the vendor's address. */
  readonly path: string;
  /** What the gateway said that it left out. */
  readonly ignored: readonly string[];
};

export interface OurSide {
  /** Sends the request through the gateway to a vendor on the loopback. */
  send(side: Side, request: Body): Promise<SentByUs>;
}

const ADDRESSES: Readonly<Record<string, (url: string) => Record<string, string>>> = {
  bedrock: (url) => ({ AWS_BEARER_TOKEN_BEDROCK: 'key', AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url }),
  'azure-openai': (url) => ({
    AZURE_OPENAI_API_KEY: 'key',
    AZURE_OPENAI_ENDPOINT: url,
    AZURE_OPENAI_DEPLOYMENT: 'gpt-4.1-mini',
  }),
  'azure-foundry': (url) => ({ AZURE_FOUNDRY_API_KEY: 'key', AZURE_FOUNDRY_ENDPOINT: url }),
  cloudflare: (url) => ({ CLOUDFLARE_API_KEY: 'key', CLOUDFLARE_ACCOUNT_ID: 'id', CLOUDFLARE_BASE_URL: url }),
  databricks: (url) => ({ DATABRICKS_TOKEN: 'key', DATABRICKS_HOST: url }),
  'hugging-face': (url) => ({ HUGGING_FACE_API_KEY: 'key', HUGGING_FACE_ENDPOINT: url }),
  ollama: (url) => ({ OLLAMA_HOST: url }),
  'ollama-cloud': (url) => ({ OLLAMA_API_KEY: 'key', OLLAMA_CLOUD_BASE_URL: url }),
  'vertex-ai': (url) => ({
    VERTEX_AI_PROJECT_ID: 'p',
    VERTEX_AI_REGION: 'us-central1',
    VERTEX_AI_API_KEY: 'key',
    VERTEX_AI_BASE_URL: url,
  }),
};

const providersOf = (sides: readonly Side[]): readonly string[] => [...new Set(sides.map(({ provider }) => provider))];

/** Variables that lead the providers of the sides to one address. */
export function variablesOf(sides: readonly Side[], url: string): Record<string, string> {
  return Object.assign(
    {},
    ...providersOf(sides).map((provider) => {
      const prefix = provider.toUpperCase().replaceAll('-', '_');
      return ADDRESSES[provider]?.(url) ?? { [`${prefix}_API_KEY`]: 'key', [`${prefix}_BASE_URL`]: `${url}/v1` };
    }),
  ) as Record<string, string>;
}

/** A target per provider, which knows its sides by their names. Chats go by the API of chats, whose bodies are compared. */
export function targetsOf(sides: readonly Side[]): object[] {
  return providersOf(sides).map((provider) => ({
    virtual_key: provider,
    chat_via: 'chat',
    model_map: Object.fromEntries(
      sides.filter((side) => side.provider === provider).map(({ name, model }) => [name, model]),
    ),
  }));
}

/** One gateway with a target per side; the vendor behind it keeps what it is sent and answers that it is busy. */
export async function ourSide(): Promise<OurSide> {
  const upstream = await stubUpstream((_request, response) => {
    response.writeHead(418, { 'content-type': 'application/json' }).end('{"error":{"message":"seen"}}');
  });
  const host = await startHost(
    { strategy: { mode: 'fallback' }, targets: targetsOf(SIDES), compatibility: { on_unsupported_param: 'drop' } },
    { variables: variablesOf(SIDES, upstream.url), isLenient: true },
  );
  return {
    send: async (side, request) => {
      upstream.seen.length = 0;
      host.lines.length = 0;
      const answer = await host.post('/v1/chat/completions', { ...request, model: side.name });
      const [seen] = upstream.seen;
      const ignored = namesIn(host);
      if (!seen) return { refusal: `${answer.status} ${answer.json().error.message}`, ignored, path: '' };
      return { body: seen.json(), ignored, path: seen.url };
    },
  };
}

/** The fields that the gateway says it has left out. */
function namesIn({ lines }: TestHost): string[] {
  return lines
    .filter(({ msg }) => msg === 'parameters ignored by the provider')
    .flatMap(({ params }) => String(params).split(', '));
}
