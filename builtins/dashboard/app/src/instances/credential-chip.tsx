import { useNow } from '../lib/use-now.ts';
import { Pill } from '../ui/pill.tsx';
import { credentialText, credentialTone, type ShownCredential } from './credential-text.ts';
import './instances.css';

const EVERY_SECONDS = 5;

/** A credential by its name, with its state in words and how long that lasts. */
export function CredentialChip({ credential }: { readonly credential: ShownCredential }) {
  const now = useNow(EVERY_SECONDS);
  return (
    <span className="credential-chip">
      <Pill tone={credentialTone(credential)} hasDot>
        <span>
          {credential.name}: {credentialText(credential, now)}
        </span>
      </Pill>
    </span>
  );
}
