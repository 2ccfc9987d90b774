import { accountRules } from './account-rules.ts';
import { aliasRules } from './aliases.ts';
import { kindRules } from './instances/kind-rules.ts';
import { providerRules } from './instances/provider-rules.ts';
import { identityRules } from './identity-rules.ts';
import { documentRules, sizeRule } from './whole-document.ts';
import { mcpRules } from './mcp.ts';
import { modelRules } from './models.ts';
import { pluginBuildRules, pluginRules } from './plugins.ts';
import type { ConfigRule } from './rule.ts';
import { strategyRules } from './strategy-block.ts';
import { chatViaRule, providerRule, targetRules } from './targets.ts';

/** Every rule, in the order in which a report names them. Each is tapped on `checkConfig` under its id. */
export const CONFIG_RULES: readonly ConfigRule[] = [
  ...targetRules.slice(0, 1),
  sizeRule,
  ...targetRules.slice(1),
  ...strategyRules,
  ...documentRules,
  ...providerRules,
  ...aliasRules,
  ...modelRules,
  ...accountRules,
  ...identityRules,
  ...mcpRules,
  ...pluginRules,
  ...kindRules,
  providerRule,
  chatViaRule,
  ...pluginBuildRules,
];
