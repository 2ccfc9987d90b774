import type { Host } from '../../host/host.ts';
import type { CredentialView } from '../../host/pipeline/credentials/credential-desk.ts';
import type { Gauges } from '../../host/state/counters.ts';

const STATE_VALUES: Readonly<Record<CredentialView['state'], number>> = {
  ready: 0,
  resting: 1,
  benched: 2,
  unresolved: 3,
};

/** How the credentials of the present configuration stand, read at each scrape: there from its start, and gone with it. */
export function setCredentialGauges(gauges: Gauges, { current }: Host): void {
  const desk = current?.hooks.credentials.call();
  if (!desk || !current) return;
  for (const instance of current.instances.values())
    for (const { name, state, inFlight } of desk.views(instance)) {
      const labels = { provider: instance.name, credential: name };
      gauges.set('gateway_credential_state', labels, STATE_VALUES[state]);
      gauges.set('gateway_credential_in_flight', labels, inFlight);
    }
}
