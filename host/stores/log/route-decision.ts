import { type Fields, isFields, type RankFigures } from '../../contract/index.ts';

/** A target, and why it stands where it does. */
export interface RankedTarget {
  readonly target: string;
  /** The key of the route of a group of models, where that is not the target's name. */
  readonly route?: string;
  /** The fallback that it was ranked for; absent for the model asked for. */
  readonly via?: string;
  readonly reason: string;
  readonly figures: RankFigures;
}

/** A target that is tried in its turn. */
export interface OrderedTarget extends RankedTarget {
  readonly provider: string;
  readonly upstream_model: string;
}

/** The group of models that the model asked for belongs to. */
export interface DecidedGroup {
  readonly name: string;
  readonly matched: 'exact' | 'prefix';
  readonly fallbacks: readonly string[];
}

/** What is shown of one attempt. */
export interface AttemptRecord {
  readonly target: string;
  readonly upstream_model: string;
  /** Status of the provider's reply; `null` when none came. */
  readonly status: number | null;
  /** Milliseconds of the provider call, of a stream to its first chunk; `null` when it was not called. */
  readonly duration_ms: number | null;
  /** `answered`, or the code of the error. */
  readonly ended: string;
  /** Which API of its service the chat went to, where that was decided for the request. */
  readonly via?: 'chat' | 'responses';
  /** Name of the credential of a declared instance, and what its failure meant for it. */
  readonly credential?: string;
  readonly class?: string;
  readonly message?: string;
}

/** Why a target stands where it does, unless the strategy says more. */
export const BY_STRATEGY = 'by the strategy';

/** How an attempt ended that has no error. */
export const ANSWERED = 'answered';

/** What a decision is made of. */
export interface DecisionMembers extends Omit<RouteDecision, 'shortText' | 'unroutable' | 'group'> {
  readonly unroutable?: string | undefined;
  readonly group?: DecidedGroup | undefined;
}

/**
 * How a request was routed, in the form of an explanation, with what became of it. It knows its short form, in which the request log
 * keeps it: what is usual is left out, so that most are a third as long. A module that is given one reads its members as those of any object.
 */
export class RouteDecision {
  readonly model: string;
  /** The one before aliases. */
  readonly requested_model: string;
  readonly surface: string;
  readonly streaming: boolean;
  readonly strategy: string;
  readonly rule: string | null;
  readonly ab_label: string | null;
  declare readonly unroutable?: string;
  declare readonly group?: DecidedGroup;
  readonly order: readonly OrderedTarget[];
  readonly dropped: readonly RankedTarget[];
  readonly attempts: readonly AttemptRecord[];

  constructor(members: DecisionMembers) {
    this.model = members.model;
    this.requested_model = members.requested_model;
    this.surface = members.surface;
    this.streaming = members.streaming;
    this.strategy = members.strategy;
    this.rule = members.rule;
    this.ab_label = members.ab_label;
    if (members.unroutable !== undefined) this.unroutable = members.unroutable;
    if (members.group) this.group = members.group;
    this.order = members.order;
    this.dropped = members.dropped;
    this.attempts = members.attempts;
  }

  /** JSON of the short form; `hide` gets every text that did not come from this program. */
  shortText(hide: (text: string) => string): string {
    const { model, surface } = this;
    const unlessModel = (name: string): string | undefined => (name === model ? undefined : hide(name));
    return JSON.stringify({
      model: hide(model),
      requested_model: unlessModel(this.requested_model),
      surface: unless(surface, USUAL.surface),
      streaming: this.streaming || undefined,
      strategy: this.strategy,
      rule: this.rule === null ? undefined : hide(this.rule),
      ab_label: this.ab_label === null ? undefined : hide(this.ab_label),
      unroutable: this.unroutable === undefined ? undefined : hide(this.unroutable),
      group: this.group && shortGroup(this.group, hide),
      order: this.order.map(({ target, route, via, reason, figures, provider, upstream_model }) => ({
        target,
        route: route && hide(route),
        via: via && hide(via),
        reason: reason === BY_STRATEGY ? undefined : hide(reason),
        figures: shortFigures(figures, hide),
        provider: unless(provider, target),
        upstream_model: unlessModel(upstream_model),
      })),
      dropped:
        this.dropped.length === 0
          ? undefined
          : this.dropped.map(({ target, route, via, reason, figures }) => ({
              target,
              route: route && hide(route),
              via: via && hide(via),
              reason: hide(reason),
              figures: shortFigures(figures, hide),
            })),
      attempts: this.attempts.map(
        ({ target, upstream_model, status, duration_ms, ended, via, credential, class: why, message }) => ({
          target,
          upstream_model: unlessModel(upstream_model),
          status: status ?? undefined,
          duration_ms: duration_ms === null ? undefined : Math.round(duration_ms * 1000) / 1000,
          ended: unless(ended, ANSWERED),
          via,
          credential: credential && hide(credential),
          class: why,
          message: message === undefined ? undefined : hide(message),
        }),
      ),
    });
  }
}

const shortGroup = ({ name, matched, fallbacks }: DecidedGroup, hide: (text: string) => string): DecidedGroup => ({
  name: hide(name),
  matched,
  fallbacks: fallbacks.map(hide),
});

const USUAL = { surface: 'chat', streaming: false, rule: null, ab_label: null } as const;

const unless = (text: string, usual: string): string | undefined => (text === usual ? undefined : text);

/** A strategy of a third party may give texts, against its types. */
function shortFigures(figures: RankFigures, hide: (text: string) => string): object | undefined {
  const given = Object.entries<unknown>(figures);
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map(([name, value]) => [hide(name), typeof value === 'number' ? value : hide(String(value))]),
  );
}

/** What a row keeps of a decision, with what was left out. What a module wrote there, or an earlier version in full, stays as it is. */
export function shownDecision(kept: Readonly<Fields>): Readonly<Fields> {
  const { model } = kept;
  if (typeof model !== 'string' || typeof kept['strategy'] !== 'string') return kept;
  return {
    requested_model: model,
    ...USUAL,
    ...kept,
    order: entries(kept['order'], ({ target }) => ({
      reason: BY_STRATEGY,
      figures: {},
      provider: target,
      upstream_model: model,
    })),
    dropped: entries(kept['dropped'], () => ({ figures: {} })),
    attempts: entries(kept['attempts'], () => ({
      upstream_model: model,
      status: null,
      duration_ms: null,
      ended: ANSWERED,
    })),
  };
}

function entries(kept: unknown, usual: (entry: Readonly<Fields>) => Readonly<Fields>): readonly Readonly<Fields>[] {
  return Array.isArray(kept) ? kept.filter(isFields).map((entry) => ({ ...usual(entry), ...entry })) : [];
}
