import type {
  ClientBody,
  ClientFacts,
  Exchange,
  GatewayError,
  Measurements,
  Payer,
  Principal,
  RequestEnd,
  RequestOrigin,
  ReplyOf,
  RequestOf,
  Stage,
  Surface,
  Unpriced,
  Usage,
} from '../contract/index.ts';
import type { HostPrincipal } from '../common/host-principal.ts';
import { replyHeaderProblem } from './headers.ts';

/** An exchange as the host has it. */
export interface HostExchange extends Exchange {
  readonly principal: HostPrincipal | undefined;
}

/**
 * An exchange as plugins get it: what the contract names, to be read. A write to a member throws; what the host keeps beside it, the
 * client's headers with its credential among them, is out of reach. One per exchange, so that a plugin may know it again.
 */
export class ExchangeView implements Exchange {
  readonly #live: HostExchange;

  constructor(live: HostExchange) {
    this.#live = live;
  }

  get id(): string {
    return this.#live.id;
  }
  get surface(): Surface {
    return this.#live.surface;
  }
  get stage(): Stage {
    return this.#live.stage;
  }
  get startedAt(): number {
    return this.#live.startedAt;
  }
  get user(): string | undefined {
    return this.#live.user;
  }
  get metadata(): Readonly<Record<string, string>> {
    return Object.freeze(this.#live.metadata);
  }
  get request(): RequestOf<Surface> {
    return this.#live.request;
  }
  get clientRequest(): ClientBody | undefined {
    return this.#live.clientRequest;
  }
  get clientReply(): ClientBody | undefined {
    return this.#live.clientReply;
  }
  get client(): ClientFacts | undefined {
    return this.#live.client;
  }
  get sessionId(): string | undefined {
    return this.#live.sessionId;
  }
  get model(): string {
    return this.#live.model;
  }
  get streaming(): boolean {
    return this.#live.streaming;
  }
  get unreadable(): boolean {
    return this.#live.unreadable;
  }
  get reply(): ReplyOf<Surface> | undefined {
    return this.#live.reply;
  }
  get error(): GatewayError | undefined {
    return this.#live.error;
  }
  get ending(): RequestEnd | undefined {
    return this.#live.ending;
  }
  get origin(): RequestOrigin | undefined {
    return this.#live.origin;
  }
  get payer(): Payer | undefined {
    return this.#live.payer;
  }
  get answeredBy(): string | undefined {
    return this.#live.answeredBy;
  }
  get target(): string | undefined {
    return this.#live.target;
  }
  get provider(): string | undefined {
    return this.#live.provider;
  }
  get upstreamModel(): string | undefined {
    return this.#live.upstreamModel;
  }
  get reportedModel(): string | undefined {
    return this.#live.reportedModel;
  }
  get cache(): Exchange['cache'] {
    return this.#live.cache;
  }
  get placement(): Exchange['placement'] {
    return this.#live.placement;
  }
  get attempts(): number {
    return this.#live.attempts;
  }
  get abLabel(): string | undefined {
    return this.#live.abLabel;
  }
  get usage(): Usage | undefined {
    return this.#live.usage;
  }
  get charged(): Usage | undefined {
    return this.#live.charged;
  }
  get later(): Exchange['later'] {
    return this.#live.later;
  }
  get bodyBytes(): number | undefined {
    return this.#live.bodyBytes;
  }
  get measurements(): Measurements {
    return this.#live.measurements;
  }
  get catalogVersion(): string | undefined {
    return this.#live.catalogVersion;
  }
  get isPrivate(): boolean {
    return this.#live.isPrivate;
  }
  get decision(): Exchange['decision'] {
    return this.#live.decision;
  }
  get tunnel(): Exchange['tunnel'] {
    return this.#live.tunnel;
  }
  get signal(): AbortSignal {
    return this.#live.signal;
  }

  get principal(): Principal | undefined {
    return this.#live.principal?.view;
  }

  needsPrice(rule: Unpriced, who: string): void {
    this.#live.needsPrice(rule, who);
  }

  keepPrivate(): void {
    this.#live.keepPrivate();
  }

  deliveredText(): string {
    return this.#live.deliveredText();
  }

  setHeader(name: string, value: string): void {
    const problem = replyHeaderProblem(name, value);
    if (problem !== undefined) throw new TypeError(`setHeader: ${problem}`);
    this.#live.setHeader(name, value);
  }
}
