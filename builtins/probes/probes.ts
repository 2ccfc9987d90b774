import { TextScrubber } from '../../host/config/scrub-text.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { circuitOf, IGNORABLE, type Ignorable, targetStates, unroutable } from '../../host/start/readiness.ts';
import { registeredNames } from '../../host/generation/registered-names.ts';
import type { Host } from '../../host/host.ts';
import { type JsonCall, mountJson } from '../../host/http/json-route.ts';

const READINESS_CACHE_MS = 1000;
const PATHS = ['/livez', '/health', '/readyz'] as const;

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** `/health`, `/livez` and `/readyz`, for orchestrators: no credential, no limit. See docs/reference/data-plane.md#probes. */
export default defineBuiltin({
  name: 'probes',
  apply: ({ hooks }) => {
    hooks.protect.tap('probes', (protection) => {
      for (const path of PATHS) protection.open(path);
    });
    hooks.mount.tap({ name: 'probes', stage: ORDER.probes }, (router, host) => {
      const ready = cached(host);
      const routes: Readonly<Record<(typeof PATHS)[number], (call: JsonCall) => Answer | Promise<Answer>>> = {
        '/livez': () => ({ status: 200, body: { status: 'ok' } }),
        '/health': () => health(host),
        '/readyz': ({ request }) => ready(ignoredIn(request.url ?? '')),
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

/** The words of `?ignore=` that are known, in their own order. */
function ignoredIn(url: string): readonly Ignorable[] {
  const query = url.indexOf('?');
  if (query < 0) return [];
  const words = new Set(new URLSearchParams(url.slice(query)).getAll('ignore').flatMap((text) => text.split(',')));
  return IGNORABLE.filter((word) => words.has(word));
}

/** One evaluation a second, shared by all callers that ignore the same. */
function cached(host: Host): (ignored: readonly Ignorable[]) => Answer | Promise<Answer> {
  const last = new Map<string, { readonly answer: Answer | Promise<Answer>; readonly at: number }>();
  return (ignored) => {
    if (host.isLeaving || host.isDraining) return notReady('draining', host.current, ignored);
    const now = host.services.clock.monotonic();
    const key = ignored.join();
    const known = last.get(key);
    if (known && now - known.at < READINESS_CACHE_MS) return known.answer;
    const answer = readiness(host, ignored);
    last.set(key, { answer, at: now });
    return answer;
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
function readiness(host: Host, ignored: readonly Ignorable[]): Answer | Promise<Answer> {
  const {
    current,
    stores: { keys },
  } = host;
  if (!current) return notReady('gateway not configured', undefined, ignored);
  if (keys.link.hasAnswered) return routability(host, current, ignored);
  return keys.ping().then(
    () => routability(host, current, ignored),
    () => notReady('store unreachable', current, ignored),
  );
}

function routability(host: Host, current: Generation, ignored: readonly Ignorable[]): Answer {
  const reason = unroutable(current, ignored);
  if (reason !== undefined) return notReady(reason, current, ignored);
  const targets = targetStates(current);
  const servers = current.hooks.toolServers.call()?.servers();
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
      ...said(ignored),
    },
  };
}

function notReady(reason: string, current: Generation | undefined, ignored: readonly Ignorable[]): Answer {
  const targets = current ? targetStates(current) : [];
  return { status: 503, body: { status: 'not_ready', reason, targets, ...said(ignored) } };
}

const said = (ignored: readonly Ignorable[]): object => (ignored.length > 0 ? { ignored } : {});
