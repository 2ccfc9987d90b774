/** A document with a group over a pool of three keys, Claude and Gemini, with sessions, and what its references stand for. */
import { PLAYED, VENDORS } from './vendors.ts';

/** What clients ask for. The groups `only-pool`, `only-claude` and `only-gemini` have one route each. */
export const MODEL = 'smart';

const POOL = ['a', 'b', 'c'];

export const SECRETS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(POOL.map((name) => [`POOL_${name.toUpperCase()}`, `key-of-pool-${name}-0123456789`])),
  CLAUDE_OF_THE_FLEET: 'key-of-claude-0123456789',
  GEMINI_OF_THE_FLEET: 'key-of-gemini-0123456789',
};

export const configurationOf = (url: string, strategy: object = {}): object => ({
  providers: {
    pool: {
      kind: 'openai-compatible',
      base_url: `${url}/pool/v1`,
      catalog: 'openai',
      discover: false,
      credentials: POOL.map((name) => ({ name, api_key: `\${POOL_${name.toUpperCase()}}` })),
    },
    claude: {
      kind: 'anthropic',
      base_url: `${url}/claude/v1`,
      api_key: '${CLAUDE_OF_THE_FLEET}',
      discover: false,
    },
    gemini: { kind: 'gemini', base_url: `${url}/gemini/v1beta`, api_key: '${GEMINI_OF_THE_FLEET}', discover: false },
  },
  targets: VENDORS.map((name) => ({ virtual_key: name })),
  models: [
    {
      name: MODEL,
      routes: VENDORS.map((name) => ({ target: name, model: PLAYED[name].model })),
      strategy: { mode: 'fallback', affinity: 'session', failover_on: ['context_length', 'model_access'], ...strategy },
    },
    ...VENDORS.map((name) => ({ name: `only-${name}`, routes: [{ target: name, model: PLAYED[name].model }] })),
  ],
  responses: { translate: 'auto' },
});
