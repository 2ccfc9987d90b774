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
import type { ModelGroup } from './model-group.ts';
import type { Target } from './target.ts';

/** What is noted of an attempt that is over. */
interface EndedAttempt {
  readonly target: Target;
  readonly via: ChatVia | undefined;
  readonly upstreamModel: string;
  readonly upstreamMs: number | undefined;
  readonly status: number | undefined;
  readonly error: GatewayError | undefined;
  readonly credential: { readonly name: string } | undefined;
  readonly visit: { readonly class: string | undefined } | undefined;
}

/** What is shown of an exchange. */
interface RoutedExchange {
  readonly model: string;
  readonly surface: Surface;
  readonly streaming: boolean;
  readonly abLabel: string | undefined;
  readonly routing: { readonly unroutable: string | undefined };
}

/** What a configuration says of all its requests. */
export interface RoutedBy {
  /** `strategy.mode` */
  readonly strategy: string;
  /** `strategy.mode` of each group of models, by its index. */
  readonly groupStrategies: readonly string[];
  readonly targets: ReadonlyMap<string, Target>;
}

/** What was ranked for one name: the model asked for, or a fallback of its group. */
interface RankedList {
  readonly all: readonly RouteTarget[] | undefined;
  readonly heard: HeardNotes;
  readonly group: ModelGroup | undefined;
  readonly fallback: string | undefined;
  order: readonly RouteTarget[] | undefined;
}

/** How a request is routed, noted as it goes. Only while a request log keeps it: other requests have none. What is ranked for the model asked for is noted in the record itself. */
export class RouteRecord implements RankedList {
  readonly heard = new HeardNotes();
  all: readonly RouteTarget[] | undefined;
  order: readonly RouteTarget[] | undefined;
  group: ModelGroup | undefined;
  readonly fallback = undefined;
  /** What the strategy and the filters behind it tell of what is ranked now. */
  hearing = this.heard;
  readonly #requestedModel: string;
  readonly #by: RoutedBy;
  #attempts: readonly AttemptRecord[] = [];
  #behind: RankedList[] | undefined;
  #isOver = false;

  /** `requestedModel` is the one before aliases. */
  constructor(requestedModel: string, by: RoutedBy) {
    this.#requestedModel = requestedModel;
    this.#by = by;
  }

  /** Notes the targets that were ranked. Of several turns the first counts. */
  began(all: readonly RouteTarget[], { group, fallback }: Pick<RankedList, 'group' | 'fallback'>): void {
    if (!this.all) {
      this.all = all;
      this.group = group;
      return;
    }
    if (fallback === undefined) this.#isOver = true;
    if (!this.group) return;
    this.hearing = new HeardNotes(); // names of routes are those of their group, and their turn
    if (!this.#isOver) (this.#behind ??= []).push({ all, heard: this.hearing, group, fallback, order: undefined });
  }

  ordered(order: readonly RouteTarget[]): void {
    if (!this.#isOver) (this.#behind?.at(-1) ?? this).order ??= order;
  }

  attempted({
    target: { virtualKey: target },
    upstreamModel: upstream_model,
    upstreamMs,
    status,
    error,
    via,
    credential,
    visit,
  }: EndedAttempt): void {
    const record: AttemptRecord = {
      target,
      upstream_model,
      status: status ?? null,
      duration_ms: upstreamMs ?? null,
      ended: error?.code ?? ANSWERED,
      ...(via && { via: via.via }),
      ...(credential && { credential: credential.name }),
      ...(credential && visit?.class !== undefined && { class: visit.class }),
      ...(error && { message: error.message }),
    };
    this.#attempts = this.#attempts.length === 0 ? [record] : [...this.#attempts, record]; // most have one, and a list that grows takes more room
  }

  /** In the form of an explanation, with what became of it. */
  shown({ model, surface, streaming, abLabel, routing }: RoutedExchange): RouteDecision {
    const order: OrderedTarget[] = [];
    const dropped: RankedTarget[] = [];
    this.#show(this, model, order, dropped);
    for (const list of this.#behind ?? []) this.#show(list, model, order, dropped);
    const { path } = this.heard;
    const { group } = this;
    return new RouteDecision({
      model,
      requested_model: this.#requestedModel,
      surface,
      streaming,
      strategy: (group && this.#by.groupStrategies[group.index]) ?? this.#by.strategy,
      rule: path === undefined ? null : group ? `models[${group.index}].strategy.${path}` : path,
      ab_label: abLabel ?? null,
      unroutable: routing.unroutable,
      group: group && { name: group.name, matched: group.matched, fallbacks: group.fallbacks },
      order,
      dropped,
      attempts: this.#attempts,
    });
  }

  /** Loops: V8 is slow to filter a frozen list, and every logged request comes here. */
  #show(list: RankedList, model: string, order: OrderedTarget[], dropped: RankedTarget[]): void {
    for (const target of list.order ?? []) if (target.serves) order.push(this.#orderedTarget(list, target, model));
    for (const target of list.all ?? []) {
      if (target.serves && list.order?.includes(target) === true) continue;
      if (target.serves || list.group || list.fallback === undefined)
        dropped.push(recorded(list, target, target.serves ? 'left out by the strategy' : 'does not serve the model'));
    }
  }

  #orderedTarget(list: RankedList, target: RouteTarget, model: string): OrderedTarget {
    const known = (list.group?.routes ?? this.#by.targets).get(target.virtualKey);
    const name = list.fallback ?? model;
    return {
      ...recorded(list, target, BY_STRATEGY),
      provider: known?.provider?.module.name ?? '',
      upstream_model: known?.upstreamModel(name) ?? name,
    };
  }
}

function recorded(
  { heard, group, fallback }: RankedList,
  { virtualKey: key }: RouteTarget,
  otherwise: string,
): RankedTarget {
  const target = group?.routes.get(key)?.virtualKey ?? key;
  const reason = heard.reasonOf(key) ?? otherwise;
  const figures = heard.figuresOf(key);
  if (target === key && fallback === undefined) return { target, reason, figures };
  return {
    target,
    reason,
    figures,
    ...(target !== key && { route: key }),
    ...(fallback !== undefined && { via: fallback }),
  };
}
