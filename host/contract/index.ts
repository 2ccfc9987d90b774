/**
 * The public entry point `gw/contract`: everything a third-party provider, strategy or plugin may
 * import. Shipped modules import it by the same name. What is not passed on here may change at any
 * time, also where a file could be reached by its path.
 *
 * - A module of any kind: `definePlugin`, `defineProvider`, `defineStrategy`, with an example each.
 * - What a plugin decides: `reject`, `answer`, `rewrite`, `mask`. What it looks at: `Exchange`,
 *   narrowed by `isChat` and `isSurface`. What it works with: `PluginDeps`.
 * - Texts without knowing wires: `texts`, `messageTexts`, `editTexts`; of a stream `windowGuard`
 *   and `filterGuard`; patterns that no text makes slow: `linearPattern`, `patternSet`.
 * - What a provider translates: the bodies of `SurfaceBodies`, by `Translator` and
 *   `ChatTranslator`; `finishReason`, `readUsage`, `readBilled` and `failedAnswer` for its
 *   answers.
 * - What a strategy ranks: `RouteTarget` by `RouteQuery`; `drawByWeight`, `targetFirst`,
 *   `targetKeyProblem`.
 * - Money: `Spending` over a `Ledger`, with `catalogPricing` or `flatPricing`.
 * - Values from outside: `isFields`, `isText`, `countOf`, `memberOf`, `setMember`, `parseJson`; and
 *   `quoted`, `inPart` for what a message shows of them.
 *
 * docs/modules.md explains how modules are found and checked.
 */
export {
  bearer,
  CONTRACT,
  CONTRACT_VERSION,
  definePlugin,
  defineProvider,
  defineStrategy,
  headerKey,
} from './define.ts';
export { ERRORS, failedAnswer, GatewayError } from './errors.ts';
export type { BodyTexts, ClientBody, ClientWireName } from './text/client-body.ts';
export type {
  ErrorCode,
  ErrorEnvelope,
  ErrorType,
  FaultReason,
  FaultTokens,
  GatewayErrorOptions,
  UpstreamFault,
} from './errors.ts';
export { isChat, isSurface, STAGES } from './exchange.ts';
export type { ClientFacts, Exchange, ExchangeOutcome, Measurements, Principal, Scope, Stage } from './exchange.ts';
export type { Payer } from './money/payer.ts';
export type { Affinity, Placement } from './placement.ts';
export type { RequestEnd, RequestOrigin, RequestOutcome } from './request-end.ts';
export { ExchangeNote } from './exchange-note.ts';
export { parseDuration } from './duration.ts';
export { countOf, decodedUri, type Fields, isFields, isText } from './json/fields.ts';
export { plainCallName } from './call-name.ts';
export { finishReason } from './finish-reason.ts';
export { jsonSchema } from './json/json-schema.ts';
export type { SchemaCheck, SchemaMismatch } from './json/json-schema.ts';
export { parseExactJson, parseJson, tryParseJson } from './json/json.ts';
export { isRawNumber } from './json/json-numbers.ts';
export type { Ledger, LedgerBounds, Refusal, Reservation, ReservationOrder } from './money/ledger.ts';
export { memberOf, setMember } from './json/members.ts';
export { lateFile, type LateFunctions, loadedFile } from './late.ts';
export { type Effort, EFFORTS, type ImageSizes, type ModelFacts, NO_FACTS } from './model-facts.ts';
export { type NearestEffort, nearestEffort } from './nearest-effort.ts';
export { linearPattern, patternProblem } from './text/pattern.ts';
export type { LinearPattern } from './text/pattern.ts';
export { MOST_PATTERN_SIZE, patternSize } from './text/pattern-size.ts';
export { patternSet } from './text/pattern-set.ts';
export type { PatternSet, PatternWatch } from './text/pattern-set.ts';
export type {
  GuardrailSettings,
  PluginDeps,
  PluginHandlers,
  PluginModule,
  PluginType,
  StageProblem,
  StreamGuard,
} from './plugin.ts';
export { catalogPricing, flatPricing } from './money/pricing.ts';
export { charactersIn, promptTokens } from './money/prompt-estimate.ts';
export type { Estimate, Pricing } from './money/pricing.ts';
export type {
  Authorize,
  Connection,
  ConnectionDeps,
  Credentials,
  KindSetting,
  OpenConnection,
  OutgoingRequest,
  SecretSet,
} from './provider/connection.ts';
export type { DiscoveredModel, Discovery } from './provider/discovery.ts';
export type {
  CallInfo,
  ProviderFault,
  Send,
  SendOptions,
  StreamEvent,
  UnaryReply,
  WireReply,
  WireRequest,
} from './provider/provider-call.ts';
export type {
  ChatField,
  ChatTraits,
  HistoryTraits,
  KeyShape,
  MarkPlace,
  NamesElsewhere,
  ProviderNames,
  SettingElsewhere,
} from './provider/provider-facts.ts';
export type { ParamTreatments, ProviderModule, Treatment } from './provider/provider.ts';
export type {
  ChatTranslator,
  ChunkEdit,
  SameWire,
  StreamDecoder,
  Translator,
  Translators,
  ViaResponses,
} from './provider/translator.ts';
export type {
  BucketSpec,
  Carryover,
  Counters,
  HttpReply,
  HttpRequest,
  HttpSend,
  Labels,
  Log,
  PluginPrices,
  RequestLog,
  RequestLogRow,
  SharedFlight,
  SharedState,
} from './services.ts';
export { dearerPrice } from './money/cost.ts';
export type {
  Billed,
  Cost,
  CostReport,
  CostSource,
  LaterBooking,
  PriceQuestion,
  Prices,
  Rates,
  ReportUse,
  TokenPrice,
  Unpriced,
} from './money/cost.ts';
export { Spending } from './money/spending.ts';
export type { Purse } from './money/spending.ts';
export type {
  Rank,
  RankFigures,
  RankNotes,
  RouteQuery,
  RouteTarget,
  RunningStrategy,
  SettledCall,
  StrategyDeps,
  StrategyModule,
  SessionOrder,
  StrategyPlace,
  StrategyProblem,
  StrategyTarget,
} from './strategy.ts';
export { TOP_LEVEL } from './strategy.ts';
export { SURFACE_NAMES, SURFACES } from './surface.ts';
export type {
  ChatSurface,
  ReplyOf,
  RequestOf,
  StreamedSurface,
  Surface,
  SurfaceBodies,
  TranslatedSurface,
} from './surface.ts';
export { targetFirst, type TargetKeyPlace, targetKeyProblem, targetNames } from './target-key.ts';
export { contentTexts } from './text/part-texts.ts';
export { messageTexts, texts, textsIn } from './text/texts.ts';
export { editTexts } from './text/text-edits.ts';
export { escapesOf } from './text/escapes.ts';
export type { Escapes } from './text/escapes.ts';
export { inPart, quoted } from './text/quoted.ts';
export { atOnce, inTurns } from './text/in-turns.ts';
export type { Steps, TurnOptions } from './text/in-turns.ts';
export { readBilled } from './money/billed.ts';
export { BILLED } from './money/usage-facts.ts';
export type { PriceFacts, ToolCounts, ToolImage, UsageFacts, UsageKinds } from './money/usage-facts.ts';
export { responseToolCounts } from './money/response-tools.ts';
export { cacheWritesIn, readUsage, withFacts } from './money/usage.ts';
export { answer, mask, reject, rewrite } from './verdict.ts';
export type { Answer, Rejection, Rewrite, Verdict } from './verdict.ts';
export { drawByWeight } from './weights.ts';
export { filterGuard, windowGuard } from './text/window-guard.ts';
export type { Scan, TextFilter } from './text/text-filter.ts';
export type * from './wire/chat.ts';
export type * from './wire/form.ts';
export type * from './wire/other.ts';
