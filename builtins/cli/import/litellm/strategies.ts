/** Strategies of the router, and what comes nearest here. Source: docs.litellm.ai, "Strategies, routing groups and sub-routers", 2026-11-05. */
export const STRATEGIES: Readonly<Record<string, readonly [mode: string, difference?: string]>> = {
  'simple-shuffle': ['loadbalance'],
  'latency-based-routing': ['least-latency'],
  'cost-based-routing': ['cost-optimized'],
  'least-busy': ['loadbalance', 'gw draws by weight, not by calls in flight'],
  'usage-based-routing': ['loadbalance', 'gw draws by weight, not by what was used'],
  'usage-based-routing-v2': ['loadbalance', 'gw draws by weight, not by what was used'],
};

/** Checks that keep a caller with one deployment. Source: docs.litellm.ai, "How a deployment is picked", 2026-11-05. */
export const AFFINITY = new Set([
  'session_affinity',
  'deployment_affinity',
  'encrypted_content_affinity',
  'prompt_caching',
]);
