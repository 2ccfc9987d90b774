import { errorMessage } from '../../host/common/error-message.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import { openedOffline } from '../../host/generation/offline.ts';
import { planOf } from '../../host/generation/instances/plan-of.ts';
import type { Log } from '../../host/contract/index.ts';
import type { Finding } from '../../host/host-hooks.ts';
import type { Host } from '../../host/host.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import type { Credential, ProviderInstance } from '../../host/upstream/instance.ts';
import { OpenInstance } from '../../host/upstream/instances/open-instance.ts';
import { SecretValues } from '../../host/upstream/secrets/secret-values.ts';
import { liveModels } from './live-list.ts';

/** Lists the models of each instance once with each of its credentials, as discovery does. */
export async function probeFindings(host: Host, { providers = {} }: GatewayConfig): Promise<readonly Finding[]> {
  if (Object.keys(providers).length === 0) return [{ level: 'absent', text: 'the configuration declares no provider' }];
  const findings: Finding[] = [];
  const services = await openedOffline(host);
  const secrets = quietSecrets(host, services.log);
  for (const [name, block] of Object.entries(providers)) {
    const plan = planOf(host.registry, name, block);
    if (!plan) continue;
    if (!plan.module.discovery) {
      findings.push({ level: 'absent', text: `${name}: the kind ${plan.kind} cannot list models, so it is not asked` });
      continue;
    }
    const instance = new OpenInstance(plan, {
      secrets,
      services,
      isOffline: false,
      onRegistered: () => {},
    });
    try {
      await instance.open(true);
      for (const credential of instance.credentials) findings.push(await probe(host, instance, credential));
    } finally {
      await instance.close();
    }
  }
  secrets.close();
  return findings;
}

/** What does not resolve is said in a section of its own, and in no log line. */
const quietSecrets = ({ services, variables, settings, redactor }: Host, log: Log): SecretValues =>
  new SecretValues({ clock: services.clock, variables, directories: settings.secretDirectories, redactor, log });

async function probe({ services }: Host, { name }: ProviderInstance, credential: Credential): Promise<Finding> {
  const what = `${name}, credential ${credential.name}`;
  if (!credential.connected) return { level: 'bad', text: `${what}: it cannot be used, see above` };
  try {
    const models = await liveModels(credential.connected, { ...services, stopped: new Cancellation() });
    return { level: 'good', text: `${what}: ${models.size} ${models.size === 1 ? 'model' : 'models'}` };
  } catch (error) {
    return { level: 'bad', text: `${what}: ${services.redactor.excerpt(errorMessage(error))}` };
  }
}
