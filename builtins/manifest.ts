/** Everything this build ships, sorted by kind and name. What is not listed here does not exist. */
import type { BuiltinModule } from '../host/builtin.ts';
import type { GatewayModule } from '../host/registry/registry.ts';

import admin from './admin/admin.ts';
import authentication from './auth/authentication.ts';
import endedCredentials from './auth/ended-credentials.ts';
import keyAccess from './auth/key-access.ts';
import catalog from './catalog/catalog.ts';
import dashboard from './dashboard/dashboard.ts';
import identity from './identity/identity.ts';
import mcpEndpoint from './mcp/endpoint/endpoint.ts';
import mcp from './mcp/mcp.ts';
import models from './models/models.ts';
import broughtTags from './money/brought-tags.ts';
import budgetLines from './money/budget-lines.ts';
import keyBudget from './money/key-budget.ts';
import ownKey from './money/own-key.ts';
import priceDifferences from './money/prices/price-differences.ts';
import unpriced from './money/prices/unpriced.ts';
import usageDoubts from './money/prices/usage-doubts.ts';
import spend from './money/spend.ts';
import openapi from './openapi/openapi.ts';
import chatFiles from './passthrough/models/chat-files.ts';
import passthrough from './passthrough/passthrough.ts';
import probes from './probes/probes.ts';
import breaker from './resilience/breaker.ts';
import credentials from './resilience/credentials.ts';
import health from './resilience/health.ts';
import limiter from './resilience/limiter.ts';
import admission from './routing/admission.ts';
import affinity from './routing/affinity.ts';
import aliases from './routing/aliases.ts';
import ceilings from './routing/ceilings.ts';
import eligibility from './routing/eligibility.ts';
import groups from './routing/groups.ts';
import latency from './routing/latency.ts';
import sharedLimits from './state/shared-limits.ts';
import configurationStore from './stores/configuration/configuration.ts';
import requestLogStore from './stores/log/request-log.ts';
import stores from './stores/stores.ts';
import chat from './surfaces/chat.ts';
import completions from './surfaces/completions.ts';
import embeddings from './surfaces/embeddings.ts';
import imageEdits from './surfaces/image-edits.ts';
import images from './surfaces/images.ts';
import moderations from './surfaces/moderations.ts';
import rerank from './surfaces/rerank.ts';
import speech from './surfaces/speech.ts';
import transcriptions from './surfaces/transcriptions.ts';
import translations from './surfaces/translations.ts';
import debug from './telemetry/debug/debug.ts';
import refusedRequests from './telemetry/door/refused-requests.ts';
import metrics from './telemetry/metrics/metrics.ts';
import pluginLines from './telemetry/plugin-lines.ts';
import requestLines from './telemetry/request-lines.ts';
import routeRecords from './telemetry/route-records.ts';
import targetLines from './telemetry/target-lines.ts';
import toolLines from './telemetry/tool-lines.ts';
import tracing from './telemetry/tracing/tracing.ts';
import geminiWire from './wires/gemini/gemini.ts';
import messages from './wires/messages/messages.ts';
import responses from './wires/responses/responses.ts';
import workers from './workers/workers.ts';

import ai21 from '../providers/ai21/index.ts';
import anthropic from '../providers/anthropic/index.ts';
import azureFoundry from '../providers/azure-foundry/index.ts';
import azureOpenai from '../providers/azure-openai/index.ts';
import bedrock from '../providers/bedrock/index.ts';
import cerebras from '../providers/cerebras/index.ts';
import cloudflare from '../providers/cloudflare/index.ts';
import cohere from '../providers/cohere/index.ts';
import databricks from '../providers/databricks/index.ts';
import deepinfra from '../providers/deepinfra/index.ts';
import deepseek from '../providers/deepseek/index.ts';
import echo from '../providers/echo/index.ts';
import fireworks from '../providers/fireworks/index.ts';
import gemini from '../providers/gemini/index.ts';
import groq from '../providers/groq/index.ts';
import huggingFace from '../providers/hugging-face/index.ts';
import mistral from '../providers/mistral/index.ts';
import moonshot from '../providers/moonshot/index.ts';
import novita from '../providers/novita/index.ts';
import nvidiaNim from '../providers/nvidia-nim/index.ts';
import ollamaCloud from '../providers/ollama-cloud/index.ts';
import ollama from '../providers/ollama/index.ts';
import openaiCompatible from '../providers/openai-compatible/index.ts';
import openai from '../providers/openai/index.ts';
import openrouter from '../providers/openrouter/index.ts';
import perplexity from '../providers/perplexity/index.ts';
import qwen from '../providers/qwen/index.ts';
import replicate from '../providers/replicate/index.ts';
import sambanova from '../providers/sambanova/index.ts';
import together from '../providers/together/index.ts';
import vertexAi from '../providers/vertex-ai/index.ts';
import xai from '../providers/xai/index.ts';

import abTest from '../strategies/ab-test.ts';
import conditional from '../strategies/conditional.ts';
import contentBased from '../strategies/content-based.ts';
import costOptimized from '../strategies/cost-optimized.ts';
import fallback from '../strategies/fallback.ts';
import leastLatency from '../strategies/least-latency.ts';
import loadbalance from '../strategies/loadbalance.ts';
import single from '../strategies/single.ts';

import budget from '../plugins/budget/index.ts';
import maxToken from '../plugins/max-token.ts';
import piiRedact from '../plugins/pii-redact/index.ts';
import promptShield from '../plugins/prompt-shield/index.ts';
import rateLimit from '../plugins/rate-limit.ts';
import regexGuard from '../plugins/regex-guard.ts';
import requestLogger from '../plugins/request-logger.ts';
import responseCache from '../plugins/response-cache/index.ts';
import schemaGuard from '../plugins/schema-guard.ts';
import secretScan from '../plugins/secret-scan/index.ts';
import webhook from '../plugins/webhook.ts';
import wordFilter from '../plugins/word-filter.ts';

export const BUILTINS: readonly BuiltinModule[] = [
  admin,
  authentication,
  endedCredentials,
  keyAccess,
  catalog,
  dashboard,
  identity,
  mcpEndpoint,
  mcp,
  models,
  broughtTags,
  budgetLines,
  keyBudget,
  ownKey,
  priceDifferences,
  unpriced,
  usageDoubts,
  spend,
  openapi,
  chatFiles,
  passthrough,
  probes,
  breaker,
  credentials,
  health,
  limiter,
  admission,
  affinity,
  aliases,
  ceilings,
  eligibility,
  groups,
  latency,
  sharedLimits,
  configurationStore,
  requestLogStore,
  stores,
  chat,
  completions,
  embeddings,
  imageEdits,
  images,
  moderations,
  rerank,
  speech,
  transcriptions,
  translations,
  debug,
  refusedRequests,
  metrics,
  pluginLines,
  requestLines,
  routeRecords,
  targetLines,
  toolLines,
  tracing,
  geminiWire,
  messages,
  responses,
  workers,
];

export const MODULES: readonly GatewayModule[] = [
  ai21,
  anthropic,
  azureFoundry,
  azureOpenai,
  bedrock,
  cerebras,
  cloudflare,
  cohere,
  databricks,
  deepinfra,
  deepseek,
  echo,
  fireworks,
  gemini,
  groq,
  huggingFace,
  mistral,
  moonshot,
  novita,
  nvidiaNim,
  ollamaCloud,
  ollama,
  openaiCompatible,
  openai,
  openrouter,
  perplexity,
  qwen,
  replicate,
  sambanova,
  together,
  vertexAi,
  xai,
  abTest,
  conditional,
  contentBased,
  costOptimized,
  fallback,
  leastLatency,
  loadbalance,
  single,
  budget,
  maxToken,
  piiRedact,
  promptShield,
  rateLimit,
  regexGuard,
  requestLogger,
  responseCache,
  schemaGuard,
  secretScan,
  webhook,
  wordFilter,
];
