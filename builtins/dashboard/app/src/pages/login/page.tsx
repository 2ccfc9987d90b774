import { type SyntheticEvent, useEffect, useRef, useState } from 'react';
import { Eye, EyeOff, LogIn } from 'lucide-react';
import { ApiError, messageOf } from '../../api/api-error.ts';
import { useServices } from '../../services.ts';
import { beginSession } from '../../session/session-calls.ts';
import { ThemeButton } from '../../shell/theme-button.tsx';
import { Brand } from '../../ui/brand.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field } from '../../ui/form.tsx';
import { PRODUCT } from '../../ui/page.tsx';
import { Banner } from '../../ui/states.tsx';
import { IssuerButtons } from './issuer-buttons.tsx';
import './login.css';

/** What a refused sign-in means to who typed the key. */
function refusalText(error: unknown): string {
  const status = error instanceof ApiError ? error.status : undefined;
  switch (status) {
    case 401:
      return 'The gateway does not know this key, or it was revoked or has expired.';
    case 429:
      return 'Too many attempts. Wait a moment, then try again.';
    case 501:
      return 'This gateway keeps no sessions, so no one can sign in here. The API itself works with a key.';
    default:
      return messageOf(error);
  }
}

/** Exchanges a key for a session. The key itself is not kept anywhere. */
export function LoginPage() {
  const services = useServices();
  const [key, setKey] = useState('');
  const [isShown, setShown] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = `Sign in · ${PRODUCT}`;
    field.current?.focus(); // all that this page is for
  }, []);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const typed = key.trim();
    setFailure(undefined);
    setProblem(typed === '' ? 'Enter an API key or the master key.' : undefined);
    if (typed === '' || isBusy) return;
    setBusy(true);
    beginSession(services, typed).catch((error: unknown) => {
      setFailure(refusalText(error));
      setBusy(false);
    });
  };
  return (
    <main className="login">
      <div className="login-theme">
        <ThemeButton />
      </div>
      <form className="login-card" onSubmit={submit} noValidate>
        <Brand />
        <h1 className="login-title">Sign in to {PRODUCT}</h1>
        <p className="login-text">
          Use an API key of this gateway, or its master key. It is exchanged for a session of this tab and not stored.
        </p>
        {failure === undefined && services.session.hasLapsed && (
          <Banner tone="info">Your session has ended. Sign in to go on where you were.</Banner>
        )}
        {failure !== undefined && <Banner tone="bad">{failure}</Banner>}
        <IssuerButtons onFailure={setFailure} />
        <Field label="API key" error={problem}>
          {(control) => (
            <div className="login-key">
              <input
                {...control}
                ref={field}
                className="input"
                type={isShown ? 'text' : 'password'}
                value={key}
                autoComplete="off"
                spellCheck={false}
                autoCapitalize="none"
                onChange={(event) => setKey(event.target.value)}
              />
              <IconButton
                icon={isShown ? EyeOff : Eye}
                label={isShown ? 'Hide the key' : 'Show the key'}
                aria-pressed={isShown}
                onClick={() => setShown(!isShown)}
              />
            </div>
          )}
        </Field>
        <Button type="submit" tone="primary" icon={LogIn} isBusy={isBusy}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
