import { isKeptHeader } from '../../../../host/config/rules/instances/kept-headers.ts';
import { isSecretHeader } from '../../../../host/config/secrets/secret-headers.ts';
import { heldIn } from './held.ts';
import type { Fleet } from './fleet.ts';
import type { PlannedInstance } from './planned.ts';
import { textReference } from './secret-texts.ts';

const TOKEN = /^[!#$%&'*+.^_`|~\w-]{1,256}$/;
const OF_CREDENTIALS = /^(?:authorization|x-api-key|api-key|x-goog-api-key)$/i;
const MOST = 32;

/** The headers of an instance: what may be a secret becomes a reference. */
export function headersOf(instance: PlannedInstance, fleet: Fleet): Readonly<Record<string, string>> {
  const texts = new Map<string, string>();
  const hasSecrets = instance.credentials.some(({ secrets }) => secrets.size > 0);
  for (const [name, entry] of instance.headers) {
    if (!TOKEN.test(name) || isKeptHeader(name)) entry.leave('a header of that name is not sent for an instance');
    else if (OF_CREDENTIALS.test(name) && hasSecrets) entry.leave('the credential is sent in it');
    else if (texts.size >= MOST) entry.leave(`an instance has ${MOST} headers at most`);
    else {
      const held = heldIn(entry, fleet.plan.referenceIn, isSecretHeader(name) || OF_CREDENTIALS.test(name));
      if (held?.kind === 'open') {
        texts.set(name, held.text);
        entry.carry();
      } else if (held) texts.set(name, textReference({ entry }, { key: `header_${name}`, number: 1, fleet, instance }));
    }
  }
  return Object.fromEntries(texts);
}
