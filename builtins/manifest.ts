/** Everything this build ships, sorted by kind and name. What is not listed here does not exist. */
import type { BuiltinModule } from '../host/builtin.ts';
import type { GatewayModule } from '../host/registry/registry.ts';

import authentication from './auth/authentication.ts';
import completionCommand from './cli/completion.ts';
import initCommand from './cli/init.ts';
import serveCommand from './cli/serve.ts';
import validateCommand from './cli/validate.ts';
import versionCommand from './cli/version.ts';
import fallbackRoute from './fallback/fallback.ts';
import probes from './probes/probes.ts';
import admission from './routing/admission.ts';
import aliases from './routing/aliases.ts';
import ceilings from './routing/ceilings.ts';
import eligibility from './routing/eligibility.ts';
import chat from './surfaces/chat.ts';
import requestLines from './telemetry/request-lines.ts';

import echo from '../providers/echo/index.ts';
import openai from '../providers/openai/index.ts';

import fallback from '../strategies/fallback.ts';
import single from '../strategies/single.ts';

import maxToken from '../plugins/max-token.ts';
import wordFilter from '../plugins/word-filter.ts';

export const BUILTINS: readonly BuiltinModule[] = [
  authentication, completionCommand, initCommand, serveCommand, validateCommand, versionCommand, fallbackRoute, probes,
  admission, aliases, ceilings, eligibility, chat, requestLines,
];

export const MODULES: readonly GatewayModule[] = [
  echo, openai,
  fallback, single,
  maxToken, wordFilter,
];
