import { type DiscoveredModel, GatewayError, type OutgoingRequest, parseJson } from '../../host/contract/index.ts';
import { ModuleFault } from '../../host/boundary/module-fault.ts';
import { discovered, requireHeaders } from '../../host/boundary/provider-boundary.ts';
import type { PipelineServices } from '../../host/pipeline/pipeline-services.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import type { ConnectedProvider } from '../../host/upstream/connect.ts';
import { withInstanceHeaders } from '../../host/upstream/egress/instance-headers.ts';
import { replyError } from '../../host/upstream/fault.ts';

/** One provider's whole answer. */
const LIMIT_MS = 30_000;

export type ModelsById = ReadonlyMap<string, DiscoveredModel>;

interface ListDeps extends Pick<PipelineServices, 'clock' | 'transport'> {
  /** Ends what is under way. */
  readonly stopped: Cancellation;
}

/** The models that a provider says it has; none of one that cannot say. */
export async function liveModels(
  provider: ConnectedProvider,
  { clock, transport, stopped }: ListDeps,
): Promise<ModelsById> {
  const { module, ref, root, basicAuthorization, egress } = provider;
  const { discovery } = module;
  if (!discovery) return new Map();
  const cancellation = new Cancellation();
  const timer = clock.timer(LIMIT_MS, () =>
    cancellation.cancel(new GatewayError('upstream_timeout', `no answer within ${LIMIT_MS} ms`)),
  );
  const stopListening = stopped.onCancel((cause) => cancellation.cancel(cause));
  try {
    const unsigned = {
      method: 'GET',
      url: root + discovery.path,
      headers: withInstanceHeaders({ accept: 'application/json' }, egress?.headers),
      body: undefined,
    };
    const headers = {
      ...(basicAuthorization !== undefined && { authorization: basicAuthorization }),
      ...unsigned.headers,
      ...(await authorization(provider, unsigned)),
    };
    const reply = await transport.unary({
      request: { ...unsigned, headers },
      cancellation,
      egress,
      connectTimeoutMs: LIMIT_MS,
      headersTimeoutMs: LIMIT_MS,
    });
    if (reply.status >= 300 && reply.status < 400)
      throw new Error(redirection(reply.status, reply.headers['location'], unsigned.url));
    if (reply.status !== 200) throw replyError(module, reply, clock.now(), ref.file);
    return distinct(discovered(ref, discovery, parseJson(reply.body.toString('utf8'))));
  } finally {
    timer.cancel();
    stopListening();
  }
}

/** A provider that fails to make its credential is named. */
async function authorization(
  { ref, authorize, credentials }: ConnectedProvider,
  request: OutgoingRequest,
): Promise<Readonly<Record<string, string>>> {
  try {
    return requireHeaders(await authorize(request, credentials));
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : new ModuleFault(ref, 'authorize', thrown);
  }
}

/** Where a redirect leads that is not followed, without what may be secret in it. See docs/reference/providers.md#addresses. */
function redirection(status: number, location: string | undefined, from: string): string {
  if (!location) return `it answers ${status} without a Location`;
  const target = URL.parse(location, from);
  if (!target) return `it answers ${status} with a Location that is not an address`;
  const where = URL.canParse(location) ? `${target.protocol}//${target.host}` : 'a relative address';
  return `it answers ${status} and leads to ${where}, ${target.host === new URL(from).host ? 'the same host' : 'another host'}; redirects are not followed`;
}

/** Upstreams repeat ids, and leave some empty. */
export function distinct(models: readonly DiscoveredModel[]): ModelsById {
  return new Map(models.filter(({ id }) => typeof id === 'string' && id !== '').map((model) => [model.id, model]));
}
