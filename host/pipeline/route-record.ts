import type { GatewayError, RouteTarget, Surface } from '../contract/index.ts';
import {
  ANSWERED,
  type AttemptRecord,
  BY_STRATEGY,
  type OrderedTarget,
  type RankedTarget,
  RouteDecision,
  type ShownGroup,
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
}

/** What is shown of an exchange. */
interface RoutedExchange {
  readonly model: string;
  readonly surface: Surface;
  readonly streaming: boolean;
  readonly abLabel: string | undefined;
  readonly routing: { readonly unroutable: string | undefined };
}

/** Whose targets are ranked: of a group of models, of a fallback of one, or neither. */
interface Ranking {
  readonly group: ModelGroup | undefined;
  readonly fallback: string | undefined;
}

/** What of one ranking is kept: that of the model asked for, or of a fallback of its group of models. */
class Ranked {
  readonly heard: HeardNotes;
  readonly all: readonly RouteTarget[];
  readonly group: ModelGroup | undefined;
  readonly fallback: string | undefined;
  order: readonly RouteTarget[] = [];

  constructor(all: readonly RouteTarget[], { group, fallback }: Ranking, heard: HeardNotes) {
    this.all = all;
    this.group = group;
    this.fallback = fallback;
    this.heard = heard;
  }
}

/** How a request is routed, noted as it goes. Only while a request log keeps it: other requests have none. */
export class RouteRecord {
  /** What the strategy and the filters behind it say. */
  heard = new HeardNotes();
  readonly #requestedModel: string;
  readonly #strategy: string;
  readonly #targets: ReadonlyMap<string, Target>;
  #attempts: readonly AttemptRecord[] = [];
  #asked: Ranked | undefined;
  #behind: Ranked[] | undefined;
  /** Where the order that comes next belongs; `undefined` in a later turn. */
  #open: Ranked | undefined;
  #isOver = false;

  /** `requestedModel` is the one before aliases. */
  constructor(requestedModel: string, strategy: string, targets: ReadonlyMap<string, Target>) {
    this.#requestedModel = requestedModel;
    this.#strategy = strategy;
    this.#targets = targets;
  }

  /** Notes the targets that are to be ranked, in a group of models routes. Of several turns the first counts. */
  began(all: readonly RouteTarget[], ranking: Ranking): void {
    this.#open = undefined;
    if (ranking.fallback !== undefined) {
      this.heard = new HeardNotes();
      if (this.#isOver) return;
      this.#open = new Ranked(all, ranking, this.heard);
      (this.#behind ??= []).push(this.#open);
      return;
    }
    this.#isOver = this.#asked !== undefined;
    if (this.#asked) this.heard = this.#asked.heard;
    else this.#open = this.#asked = new Ranked(all, ranking, this.heard);
  }

  ordered(order: readonly RouteTarget[]): void {
    if (this.#open) this.#open.order = order;
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
    const dropped: RankedTarget[] = [];
    const asked = this.#asked;
    if (asked) {
      for (const target of asked.order) if (target.serves) order.push(this.#orderedTarget(target, asked, model));
      for (const target of asked.all) {
        if (!target.serves || !asked.order.includes(target))
          dropped.push(
            recorded(target, asked, target.serves ? 'left out by the strategy' : 'does not serve the model'),
          );
      }
      for (const behind of this.#behind ?? [])
        for (const target of behind.order)
          if (target.serves) order.push(this.#orderedTarget(target, behind, behind.fallback ?? model));
    }
    return new RouteDecision({
      model,
      requested_model: this.#requestedModel,
      surface,
      streaming,
      group: asked?.group && shownGroup(asked.group),
      strategy: asked?.group?.mode ?? this.#strategy,
      rule: asked?.heard.path ?? null,
      ab_label: abLabel ?? null,
      unroutable: routing.unroutable,
      order,
      dropped,
      attempts: this.#attempts,
    });
  }

  #orderedTarget(target: RouteTarget, ranked: Ranked, model: string): OrderedTarget {
    const known = (ranked.group?.routes ?? this.#targets).get(target.virtualKey);
    const { fallback: via } = ranked;
    return {
      ...recorded(target, ranked, BY_STRATEGY),
      provider: known?.provider?.module.name ?? '',
      upstream_model: known?.upstreamModel(model) ?? model,
      ...(via !== undefined && { via }),
    };
  }
}

const shownGroup = ({ name, matched, fallbacks }: ModelGroup): ShownGroup => ({ name, matched, fallbacks });

/** A target, and the key of its route in a group of models where that is another. */
function recorded({ virtualKey: key }: RouteTarget, { group, heard }: Ranked, otherwise: string): RankedTarget {
  const target = group?.routes.get(key)?.virtualKey ?? key;
  return {
    target,
    ...(target !== key && { route: key }),
    reason: heard.reasonOf(key) ?? otherwise,
    figures: heard.figuresOf(key),
  };
}
