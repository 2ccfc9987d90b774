import type { SessionStore } from './session-store.ts';

interface Typed {
  readonly unsent: Map<string, unknown>;
  readonly losable: Set<string>;
}

/** What was typed waits for the reader whose session lapsed; it is gone once they sign out, or another one signs in. */
export function keepUnsentFor(session: SessionStore, { unsent, losable }: Typed): void {
  const readerOf = (): string => [session.current?.subject, ...(session.current?.scopes ?? [])].join(' ');
  let reader = readerOf();
  session.subscribe(() => {
    if (session.current ? readerOf() !== reader : !session.hasLapsed) {
      unsent.clear();
      losable.clear();
    }
    if (session.current) reader = readerOf();
  });
}
