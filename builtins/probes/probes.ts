import { TextScrubber } from '../../host/config/scrub-text.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { registeredNames } from '../../host/generation/registered-names.ts';
import type { Host } from '../../host/host.ts';
import { mountJson } from '../../host/http/json-route.ts';
import type { CircuitState } from '../../host/pipeline/hooks.ts';

const READINESS_CACHE_MS = 1000;

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** `/health`, `/livez` and `/readyz`, for orchestrators: no credential, no limit. See docs/reference/data-plane.md#probes. */
export default defineBuiltin({
  name: 'probes',
  apply: ({ hooks }) => {
    hooks.mount.tap({ name: 'probes', stage: ORDER.probes }, (router, host) => {
      const ready = cached(() => readiness(host), host);
      const routes: Readonly<Record<string, () => Answer | Promise<Answer>>> = {
        '/livez': () => ({ status: 200, body: { status: 'ok' } }),
        '/health': () => health(host),
        '/readyz': () => (host.isDraining ? notReady('draining', host.current) : ready()),
      };
      const headers = ['Cache-Control', 'no-store'];
      mountJson(
        router,
        host,
        Object.entries(routes).map(([path, answer]) => ({ method: 'GET', path, scope: 'open', headers, answer })),
      );
    });
  },
});

/** One evaluation a second, shared by all callers. */
function cached(
  evaluate: () => Answer | Promise<Answer>,
  { services: { clock } }: Host,
): () => Answer | Promise<Answer> {
  let last: { readonly answer: Answer | Promise<Answer>; readonly at: number } | undefined;
  return () => {
    const now = clock.monotonic();
    if (!last || now - last.at >= READINESS_CACHE_MS) last = { answer: evaluate(), at: now };
    return last.answer;
  };
}

/** Registered providers, whether or not a target names them. */
function health(host: Host): Answer {
  const { version, commit, built } = host.build;
  const names = [...registeredNames(host)];
  const providers = names.map((name) => ({
    name,
    status: 'available',
    circuit: circuitOf(host.current, name),
    models: host.current?.modelCounts.get(name) ?? 0,
  }));
  const status = providers.length > 0 ? 'ok' : 'no_providers';
  return { status: providers.length > 0 ? 200 : 503, body: { status, version, commit, built, providers } };
}

/**
 * Asks the key store until it has answered once. Afterwards an outage does not count: it would take every replica out of rotation, and
 * with them the keys they have in memory.
 */
function readiness(host: Host): Answer | Promise<Answer> {
  const {
    current,
    stores: { keys },
  } = host;
  if (!current) return notReady('gateway not configured', undefined);
  if (keys.link.hasAnswered) return routability(host, current);
  return keys.ping().then(
    () => routability(host, current),
    () => notReady('store unreachable', current),
  );
}

function routability(host: Host, current: Generation): Answer {
  const targets = targetStates(current);
  if (!targets.some(({ routable }) => routable)) return notReady('no routable targets', current);
  const servers = current.hooks.toolServers.call()?.servers();
  if (servers?.some(({ ready, required }) => required && !ready))
    return notReady('required mcp server unavailable', current);
  const providers = [...registeredNames(host)].map((name) => ({ name, circuit: circuitOf(current, name) }));
  // why a server is not ready is for administrators
  return {
    status: 200,
    body: {
      status: 'ready',
      providers,
      targets,
      ...(servers && {
        mcp_servers: servers.map(({ name, ready, required }) => ({
          name: new TextScrubber(host.redactor).name(name),
          ready,
          required,
        })),
      }),
    },
  };
}

function notReady(reason: string, current: Generation | undefined): Answer {
  return { status: 503, body: { status: 'not_ready', reason, targets: current ? targetStates(current) : [] } };
}

/** A half-open circuit counts as routable: without traffic it would never close. */
function targetStates(generation: Generation): { name: string; routable: boolean; circuit: CircuitState }[] {
  return generation.targetList.map(({ virtualKey, provider }) => {
    const circuit = circuitOf(generation, virtualKey);
    return { name: virtualKey, routable: provider !== undefined && circuit !== 'open', circuit };
  });
}

function circuitOf(generation: Generation | undefined, virtualKey: string): CircuitState {
  return generation?.hooks.circuit.call(virtualKey) ?? 'closed';
}
