import { randomBytes } from 'node:crypto';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { lateFile } from '../../host/contract/index.ts';
import { mountJson } from '../../host/http/json-route.ts';
import type * as AskIssuerFile from './ask-issuer.ts';
import { BrowserSignIn } from './browser-sign-in.ts';
import { identityRoutes } from './identity-routes.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { Issuers } from './issuers.ts';
import { People } from './people.ts';
import { Seal } from './seal.ts';
import { Tokens } from './tokens.ts';

const { askIssuer } = lateFile<typeof AskIssuerFile>(import.meta, './ask-issuer.ts')(['askIssuer']);

const SECRET_BYTES = 32;

/** People and programs of a company's own sign-in: whose tokens count, by the configuration file. See docs/identity.md. */
export default defineBuiltin({
  name: 'identity',
  apply: ({ hooks }) => {
    hooks.open.tapPromise('identity', async (host) => {
      const { build, identity, log, services, stores } = host;
      const { clock } = services;
      const userAgent = `gw/${build.version}`;
      const ask = (url: string): Promise<unknown> => askIssuer(url, { clock, userAgent });
      const issuers = new Issuers((issuer) => new IssuerKeys(issuer, { clock, log, ask }));
      const tokens = new Tokens(host, issuers);
      const take = (): void => {
        issuers.take(identity.block);
        tokens.forget();
        stores.identities.notices.tell(undefined);
      };
      take();
      identity.onChange(take);
      identity.states = () => issuers.states;
      stores.principals.supplyTokens(tokens);
      stores.principals.supplyPeople(new People(stores.identities, issuers));
      const secret = host.masterKey ?? randomBytes(SECRET_BYTES).toString('hex');
      identity.signIn = new BrowserSignIn(host, issuers, new Seal(secret));
    });
    hooks.gauges.tap('identity', (gauges, { identity }) => {
      for (const { name: issuer, keys_age_seconds: age } of identity.states())
        if (age !== undefined) gauges.set('gateway_identity_keys_age_seconds', { issuer }, age);
    });
    hooks.mount.tap({ name: 'identity', stage: ORDER.admin }, (router, host) => {
      mountJson(router, host, identityRoutes(host));
    });
  },
});
