import type { GatewayError, RouteTarget, Surface } from '../contract/index.ts';
import {
  ANSWERED,
  type AttemptRecord,
  BY_STRATEGY,
  type OrderedTarget,
  type RankedTarget,
  RouteDecision,
} from '../stores/log/route-decision.ts';
import type { ChatVia } from './chat-via.ts';
import { HeardNotes } from './heard-notes.ts';
import type { Target } from './target.ts';

/** What is noted of an attempt that is over. */
interface EndedAttempt {
  readonly target: Target;
  readonly via: ChatVia | undefined;
  readonly upstreamModel: string;
  readonly upstreamMs: number | undefined;
  readonly status: number | undefined;
  readonly error: GatewayError | undefined;
}

/** What is shown of an exchange. */
interface RoutedExchange {
  readonly model: string;
  readonly surface: Surface;
  readonly streaming: boolean;
  readonly abLabel: string | undefined;
  readonly routing: { readonly unroutable: string | undefined };
}

/** How a request is routed, noted as it goes. Only while a request log keeps it: other requests have none. */
export class RouteRecord {
  /** What the strategy and the filters behind it say. */
  readonly heard = new HeardNotes();
  readonly #requestedModel: string;
  readonly #strategy: string;
  readonly #targets: ReadonlyMap<string, Target>;
  #attempts: readonly AttemptRecord[] = [];
  #all: readonly RouteTarget[] | undefined;
  #order: readonly RouteTarget[] | undefined;

  /** `requestedModel` is the one before aliases. */
  constructor(requestedModel: string, strategy: string, targets: ReadonlyMap<string, Target>) {
    this.#requestedModel = requestedModel;
    this.#strategy = strategy;
    this.#targets = targets;
  }

  /** Notes the targets that were ranked. Of several turns the first counts. */
  began(all: readonly RouteTarget[]): void {
    this.#all ??= all;
  }

  ordered(order: readonly RouteTarget[]): void {
    this.#order ??= order;
  }

  attempted({
    target: { virtualKey: target },
    upstreamModel: upstream_model,
    upstreamMs,
    status,
    error,
    via,
  }: EndedAttempt): void {
    const record: AttemptRecord = {
      target,
      upstream_model,
      status: status ?? null,
      duration_ms: upstreamMs ?? null,
      ended: error?.code ?? ANSWERED,
      ...(via && { via: via.via }),
      ...(error && { message: error.message }),
    };
    this.#attempts = this.#attempts.length === 0 ? [record] : [...this.#attempts, record]; // most have one, and a list that grows takes more room
  }

  /** In the form of an explanation, with what became of it. */
  shown({ model, surface, streaming, abLabel, routing }: RoutedExchange): RouteDecision {
    const order: OrderedTarget[] = []; // loops: V8 is slow to filter a frozen list, and every logged request comes here
    for (const target of this.#order ?? []) if (target.serves) order.push(this.#orderedTarget(target, model));
    const dropped: RankedTarget[] = [];
    for (const target of this.#all ?? []) {
      if (!target.serves || this.#order?.includes(target) !== true)
        dropped.push(this.#recorded(target, target.serves ? 'left out by the strategy' : 'does not serve the model'));
    }
    return new RouteDecision({
      model,
      requested_model: this.#requestedModel,
      surface,
      streaming,
      strategy: this.#strategy,
      rule: this.heard.path ?? null,
      ab_label: abLabel ?? null,
      unroutable: routing.unroutable,
      order,
      dropped,
      attempts: this.#attempts,
    });
  }

  #orderedTarget(target: RouteTarget, model: string): OrderedTarget {
    const known = this.#targets.get(target.virtualKey);
    const { target: name, reason, figures } = this.#recorded(target, BY_STRATEGY);
    return {
      target: name,
      reason,
      figures,
      provider: known?.provider?.module.name ?? '',
      upstream_model: known?.upstreamModel(model) ?? model,
    };
  }

  #recorded({ virtualKey }: RouteTarget, otherwise: string): RankedTarget {
    return {
      target: virtualKey,
      reason: this.heard.reasonOf(virtualKey) ?? otherwise,
      figures: this.heard.figuresOf(virtualKey),
    };
  }
}
