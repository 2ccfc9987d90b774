import type { CostReport } from '../money/cost.ts';
import type { ClientWireName } from '../text/client-body.ts';
import type { Connection } from './connection.ts';
import type { Discovery } from './discovery.ts';
import type { CallInfo, ProviderFault, Send, WireReply, WireRequest } from './provider-call.ts';
import type { ChatTraits, NamesElsewhere, ProviderNames } from './provider-facts.ts';
import type { StreamedSurface } from '../surface.ts';
import type { SameWire, Translators } from './translator.ts';

/**
 * A provider is data and pure functions: where the service is, what it cannot express, and how
 * bodies translate. The host does what is not data or translation: it connects, authorises,
 * retries, frames, meters and cancels. So a provider has no state and needs no test with a network.
 */
export interface ProviderModule {
  /** The kind of module; stamped by `defineProvider`. */
  readonly kind: 'provider';
  /** What it was written for; the host refuses what it does not speak. */
  readonly contract: number | string;
  /** Canonical name, equal to the folder name and to the `virtual_key` operators write. */
  readonly name: string;
  /** `common`: the provider speaks the clients' format. `native`: any other. */
  readonly wire: 'common' | 'native';
  /** Where the service is, which variables it needs, and how a request is authorised. */
  readonly connection: Connection;
  /** Chat parameters that do not simply travel; what is not listed is forwarded. */
  readonly params: ParamTreatments;
  /**
   * The treatments in force for one model, where they depend on it. It replaces `params` as a
   * whole, so begin with a copy of that. Asked for every call: keep it cheap, and answer for any
   * text.
   */
  paramsFor?(model: string): ParamTreatments;
  /**
   * How requests and answers of each surface become the service's and the clients'; a surface that
   * is left out is not served.
   */
  readonly translators: Translators;
  /**
   * Surfaces beside chat whose answers it streams on request, as events of the common wire. A
   * streamed request of another surface is not sent to it.
   */
  readonly streams?: readonly StreamedSurface[];
  /** What chats take beside the common format's core, for clients of other wires. */
  readonly chatTraits?: ChatTraits;
  /** The traits in force for one model, where they depend on it. */
  chatTraitsFor?(model: string): ChatTraits;
  /**
   * Wires of clients that the service speaks itself: such a client's request goes there as it is.
   */
  readonly sameWire?: Readonly<Partial<Record<ClientWireName, SameWire>>>;
  /**
   * How a streamed body is cut into events; `sse` unless said. `eventstream` is the binary framing
   * of AWS.
   */
  readonly framing?: 'sse' | 'ndjson' | 'eventstream';
  /** Whether other `/v1` paths may be forwarded to it; common wire only. */
  readonly passthrough?: boolean;
  /**
   * Path below the API root that forwarded requests go to, where that is not the root itself:
   * `/v1`.
   */
  readonly forwardPath?: string;
  /** Whether it has files and batches. False unless said. */
  readonly batches?: boolean;
  /**
   * Whether requests of the Responses API may be forwarded to it. `native`: its vendor serves that
   * API, so that none needs to be translated.
   */
  readonly responses?: boolean | 'native';
  /**
   * Accepts model ids that nothing can enumerate; asked only when no target owns the model. For
   * services whose users give models names of their own.
   */
  readonly anyModel?: boolean;
  /**
   * `false` where only configured and declared models are served, whatever the model catalog lists
   * for it.
   */
  readonly catalogModels?: false;
  /** Needs no network and no credential; registered only while a target names it. */
  readonly offline?: boolean;
  /**
   * How its live models are listed; without it the catalog and the configuration alone say which
   * there are.
   */
  readonly discovery?: Discovery;
  /**
   * Headers of the client's request that translators read, by lower-case name. Credentials and the
   * host's own are refused.
   */
  readonly clientHeaders?: readonly string[];
  /**
   * Where the catalog describes a model whose id it does not list for this provider:
   * `vendor/model`. For limits, never for prices.
   */
  describedAs?(model: string): string | undefined;
  /** How its answers say what they have cost; left out where they do not. */
  readonly costReport?: CostReport;
  /**
   * Header of its answers, in lower case, that names the tier of service that an answer was made in.
   * It decides the price, and goes before what the body says.
   */
  readonly tierHeader?: string;
  /** What the catalog and telemetry call it. */
  readonly names?: ProviderNames;
  /** What other gateways call it and its settings, by the format of `gw import`. */
  readonly elsewhere?: Readonly<Record<string, NamesElsewhere>>;
  /**
   * Its place among the providers that the start shows whether or not they have a credential, from
   * 1; the first one stands in a new configuration while there is none.
   */
  readonly bannerPlace?: number;
  /** Image response formats it can produce, where that is restricted. */
  readonly imageFormats?: readonly string[];
  /**
   * Replaces the single call by several round trips (polling), or by none.
   *
   * @param send makes one round trip with the provider's credential; `request` and what it builds
   * on are paths below the API root.
   * @param call `wait` pauses between polls, and `signal` says when to stop. A service that goes on
   * by itself is stopped by a detached request.
   * @returns the reply that `fromUpstream` reads, as if one call had brought it.
   */
  converse?(send: Send, request: WireRequest, call: CallInfo): Promise<WireReply>;
  /**
   * Reads the provider's own error body; without it, or on `undefined`, the host reads the usual
   * shapes. Asked for statuses that are not 2xx. The body holds its bytes; one that is not JSON is
   * common when a proxy answers in the service's place, so parse it with `tryParseJson`.
   */
  toFault?(reply: WireReply): ProviderFault | undefined;
}

/**
 * What becomes of a chat parameter that is not simply forwarded: the translator maps it, the
 * service does not take it, or it has another name there.
 * - `forward`: it travels as it is; for an exception in `paramsFor`.
 * - `translate`: the translator maps it, and the host leaves it alone.
 * - `unsupported`: the service does not take it. It is left out and named to the client, or
 *   refused, as `compatibility.on_unsupported_param` says.
 * - `{ rename }`: it travels with its value under another name.
 */
export type Treatment = 'forward' | 'translate' | 'unsupported' | { readonly rename: string };
/** Treatments by the name of the chat parameter. What is not listed is forwarded as it is. */
export type ParamTreatments = Readonly<Record<string, Treatment>>;
