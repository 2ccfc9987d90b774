import { connect } from 'node:net';
import { errorMessage } from '../../../host/common/error-message.ts';
import type { GatewayConfig } from '../../../host/config/document.ts';
import { referenceText } from '../../../host/config/references.ts';
import { planOf } from '../../../host/generation/instances/plan-of.ts';
import type { Finding } from '../../../host/host-hooks.ts';
import type { Host } from '../../../host/host.ts';
import type { InstancePlan, SecretPlan } from '../../../host/upstream/instances/instance-plan.ts';

/** An address that takes longer to accept a connection counts as one that cannot be reached. */
const CONNECT_LIMIT_MS = 3000;

/** Whether what `providers` declares has its secrets, and can be reached. Nothing is sent. */
export async function instanceFindings(host: Host, { providers = {} }: GatewayConfig): Promise<readonly Finding[]> {
  const plans = Object.entries(providers).flatMap(([name, block]) => planOf(host.registry, name, block) ?? []);
  const all = await Promise.all(
    plans.map(async (plan) => [...(await secretFindings(host, plan)), ...(await reachFindings(plan))]),
  );
  return all.flat();
}

async function secretFindings(host: Host, plan: InstancePlan): Promise<readonly Finding[]> {
  const secrets = [...plan.shared, ...plan.credentials.flatMap((credential) => credential.secrets)];
  return (await Promise.all(secrets.map((secret) => secretFinding(host, secret)))).flat();
}

async function secretFinding({ secrets, settings }: Host, secret: SecretPlan): Promise<readonly Finding[]> {
  const { reference, form, path } = secret;
  const shown = `${path}: ${referenceText(reference)}`;
  const found = await secrets.resolve(reference, form);
  const directories = settings.secretDirectories.join(':');
  if ('reason' in found) {
    const where =
      found.reason === 'outside the secret directories'
        ? ` (GW_SECRET_DIRS is ${directories}; a link may not lead out of it)`
        : '';
    return [{ level: 'bad', text: `${shown}: ${found.reason}${where}; the credential is not used until it is mended` }];
  }
  if (await secrets.isReadableByOthers(reference))
    return [{ level: 'warning', text: `${shown} can be read by every user of this machine; run chmod o-r` }];
  return [{ level: 'good', text: `${shown} is ${reference.kind === 'file' ? 'readable' : 'set'}` }];
}

/** Whether something accepts connections at the address, or at the proxy that stands before it. */
async function reachFindings({ name, baseUrl, module, leaving }: InstancePlan): Promise<readonly Finding[]> {
  const own = module.connection.baseUrl;
  const address = leaving.proxy?.url ?? baseUrl ?? (typeof own === 'string' ? own : undefined);
  const url = address === undefined ? undefined : URL.parse(address);
  if (!url) return [];
  const what = `${name}: ${leaving.proxy ? 'its proxy ' : ''}${url.host}`;
  const fault = await faultOfConnecting(url);
  return fault === undefined
    ? [{ level: 'good', text: `${what} accepts connections` }]
    : [{ level: 'warning', text: `${what} cannot be reached: ${fault}; check base_url, proxy and the server` }];
}

function faultOfConnecting({ hostname, port, protocol }: URL): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const standard = protocol === 'https:' ? 443 : 80;
  const socket = connect({ host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? standard : Number(port) });
  const end = (fault: string | undefined): void => {
    socket.destroy();
    resolve(fault);
  };
  socket.setTimeout(CONNECT_LIMIT_MS, () => end(`no connection within ${CONNECT_LIMIT_MS} ms`));
  socket.once('connect', () => end(undefined));
  socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? errorMessage(error)));
  return promise;
}
