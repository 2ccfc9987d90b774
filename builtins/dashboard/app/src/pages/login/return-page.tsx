import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useServices } from '../../services.ts';
import { completeWith, NotBegunHere } from '../../session/issuer-sign-in.ts';
import { Brand } from '../../ui/brand.tsx';
import { PRODUCT } from '../../ui/page.tsx';
import { Banner, Loading } from '../../ui/states.tsx';
import { issuerRefusal } from './refusal-text.ts';
import './login.css';

/** Where a provider sends the browser back to. What it says is taken out of the address and posted, where this tab has asked for it. */
export function ReturnPage({ name }: { readonly name: string }) {
  const services = useServices();
  const [, navigate] = useLocation();
  const [failure, setFailure] = useState<string>();
  const isTaken = useRef(false);
  useEffect(() => {
    document.title = `Sign in · ${PRODUCT}`;
    if (isTaken.current) return; // what came back counts once
    isTaken.current = true;
    completeWith(services, services.tab, name)
      .then((to) => navigate(to, { replace: true }))
      .catch((error: unknown) => {
        setFailure(
          error instanceof NotBegunHere
            ? 'This sign-in was not begun in this tab.'
            : issuerRefusal(error, 'The sign-in service'),
        );
      });
  }, [name, navigate, services]);
  return (
    <main className="login">
      <div className="login-card">
        <Brand />
        <h1 className="login-title">Sign in to {PRODUCT}</h1>
        {failure === undefined ? (
          <Loading what="the session" />
        ) : (
          <>
            <Banner tone="bad">{failure}</Banner>
            <a href="../login">Back to sign-in</a>
          </>
        )}
      </div>
    </main>
  );
}
