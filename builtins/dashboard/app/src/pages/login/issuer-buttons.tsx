import { useEffect, useState } from 'react';
import { LogIn } from 'lucide-react';
import { useServices } from '../../services.ts';
import { beginWith, type Issuer, issuersOf } from '../../session/issuer-sign-in.ts';
import { Button } from '../../ui/button.tsx';
import { issuerRefusal } from './refusal-text.ts';

/** A button for each issuer that people sign in with; nothing where there is none. */
export function IssuerButtons({ onFailure }: { readonly onFailure: (text: string | undefined) => void }) {
  const services = useServices();
  const [issuers, setIssuers] = useState<readonly Issuer[]>([]);
  const [busy, setBusy] = useState<string>();
  useEffect(() => {
    const given = new AbortController();
    issuersOf(services, given.signal)
      .then(setIssuers)
      .catch(() => undefined); // a key does all the same
    return () => given.abort();
  }, [services]);
  const begin = ({ name, label }: Issuer): void => {
    onFailure(undefined);
    setBusy(name);
    const from = new URLSearchParams(window.location.search).get('from');
    beginWith(services, services.tab, name, from).catch((error: unknown) => {
      onFailure(issuerRefusal(error, label));
      setBusy(undefined);
    });
  };
  if (issuers.length === 0) return null;
  return (
    <>
      {issuers.map((issuer) => (
        <Button
          key={issuer.name}
          tone="primary"
          icon={LogIn}
          isBusy={busy === issuer.name}
          onClick={() => begin(issuer)}
        >
          Sign in with {issuer.label}
        </Button>
      ))}
      <p className="login-text">Or use a key:</p>
    </>
  );
}
