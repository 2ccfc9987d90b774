import { GatewayError } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import type { JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import type { Auditor } from './auditor.ts';
import { storable } from './query.ts';

/** Lets a credential of a declared instance be called again that its vendor refused. See docs/admin.md#routes. */
export function credentialRoutes(host: Host, auditor: Auditor): readonly JsonRoute[] {
  return [
    {
      method: 'POST',
      scope: 'admin',
      path: '/admin/providers/:name/credentials/:credential/reset',
      answer: async (call) => {
        await resetCredential(host, auditor, call);
        return { status: 204 };
      },
    },
  ];
}

async function resetCredential(host: Host, auditor: Auditor, call: JsonCall): Promise<void> {
  const [instance, credential] = [storable(call.parameter('name')), storable(call.parameter('credential'))];
  const act = async (): Promise<void> => {
    if (host.current?.hooks.credentials.call()?.reset(instance, credential) !== true)
      throw new GatewayError('resource_not_found', 'no declared instance has this credential');
  };
  await auditor.during(call, { action: 'credential.reset', target: `${instance}/${credential}`, act });
}
