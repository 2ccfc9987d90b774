import type { ExplainedPlace, ExplainedRequest } from '../../../host/pipeline/explained.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { Target } from '../../../host/pipeline/target.ts';
import { placeOf } from './places.ts';
import { sessionOf } from './session-routing.ts';

/** Digits of a digest that people are shown: enough to compare two, too few to look for its key. */
const SHOWN_DIGITS = 8;

/** Says where the session of a request goes, and why. */
export function explainSession(members: ExplainedRequest, exchange: LiveExchange): void {
  const session = sessionOf(exchange);
  if (!session) return;
  const { key, digest, home, override } = session;
  members.affinity = {
    source: key.source,
    digest: digest.slice(0, SHOWN_DIGITS),
    ...(home && { home: placeShown(home.target, session.homePlace(home.target)) }),
    ...(override && { override: placeShown(override.at.target, override.place) }),
  };
}

function placeShown({ virtualKey, routeKey, instance }: Target, place: string | undefined): ExplainedPlace {
  const credential = instance?.credentials.find((each) => placeOf(each) === place);
  return {
    target: virtualKey,
    ...(routeKey !== virtualKey && { route: routeKey }),
    ...(credential &&
      (credential.isLabelled ? { vendor_account: credential.vendorAccount } : { credential: credential.name })),
  };
}
