import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { timezoneOf } from '../../host/config/rules/account-rules.ts';
import { mountJson } from '../../host/http/json-route.ts';
import { accountRoutes } from './accounts/account-routes.ts';
import { auditRoute } from './audit-route.ts';
import { Auditor } from './auditor.ts';
import { configRoutes } from './config/routes.ts';
import { credentialRoutes } from './credential-routes.ts';
import { explainRoute } from './explain-route.ts';
import { importRoutes } from './imports/import-routes.ts';
import { attempts } from './identity/attempts.ts';
import { identitiesRoutes } from './identity/identities-routes.ts';
import { issuerSignInRoutes } from './identity/sign-in-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { logRoutes } from './logs/log-routes.ts';
import { overviewRoutes } from './overview-routes.ts';
import { pluginRoutes } from './plugin-routes.ts';
import { rulesRoute } from './rules-route.ts';
import { sessionRoutes } from './session-routes.ts';
import { signInRoute } from './sign-in.ts';
import { enterSpendRoute } from './spend/enter-spend.ts';
import { spendRoute } from './spend/spend-route.ts';
import { usageRoute } from './usage-route.ts';

/** The routes under `/admin`: keys, sessions, the audit trail, the request log, the configuration, and what the gateway is made of. Order of a call: credential, path and method, scope, body, handler. */
export default defineBuiltin({
  name: 'admin',
  apply: ({ hooks }) => {
    hooks.mount.tap({ name: 'admin', stage: ORDER.admin }, (router, host) => {
      const auditor = new Auditor(host);
      const take = attempts(host);
      mountJson(router, host, [
        signInRoute(host, auditor, take),
        ...issuerSignInRoutes(host, auditor, take),
        ...identitiesRoutes(host, auditor),
        ...sessionRoutes(host, auditor),
        usageRoute(host),
        ...importRoutes(host, auditor),
        ...keyRoutes(host, auditor), // fixed paths come before those with a parameter
        spendRoute(host, {
          reader: () => host.stores.spend.value,
          timezone: () => (host.current ? timezoneOf(host.current.config) : 'UTC'),
          accountTitle: (path) => host.current?.accounts.tree().find(path)?.effective.title ?? '',
        }),
        enterSpendRoute(host, auditor),
        ...accountRoutes(host, auditor),
        auditRoute(host),
        ...configRoutes(host, auditor),
        ...overviewRoutes(host),
        ...credentialRoutes(host, auditor),
        ...pluginRoutes(host),
        explainRoute(host),
        rulesRoute(host),
        ...logRoutes(host, auditor),
      ]);
    });
  },
});
