import { FIGURES } from '../../../host/contract/figures.ts';
import type { Labels } from '../../../host/contract/index.ts';
import type { CounterSink } from '../../../host/state/counters.ts';
import { type Description, Family, type Increment } from './family.ts';
import { moduleLabels } from './module-labels.ts';

/** Most series of one of the gateway's own figures. Only a configuration with thousands of targets and models comes near. */
const MOST_SERIES = 10_000;
const MOST_MODULE_SERIES = 1000;
const MOST_MODULE_FIGURES = 200;
/** Buckets of a module's histogram, whose unit is not known. */
const MODULE_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Names that a module's figure may not take: the gateway's, and those of the process. */
const RESERVED = /^(gateway|gw|process|nodejs)_/;

type Kind = Description['kind'];

/** What one figure has counted in a while. */
export interface FigureIncrements {
  /** As it is counted. */
  readonly name: string;
  readonly kind: Kind;
  readonly increments: readonly Increment[];
}

/**
 * Keeps every figure from the first one on. Not prom-client's counters: those look at the names of all labels with each sample
 * (docs/decisions/0024).
 */
export class SeriesStore implements CounterSink {
  readonly #own: ReadonlyMap<string, Family>;
  /** By kind and name as modules write it; `undefined` for what is not kept. */
  readonly #ofModules = new Map<string, Family | undefined>();
  readonly #onRefused: (name: string, reason: string) => void;

  /** `onRefused` is called once for each figure of a module that is not kept. */
  constructor(onRefused: (name: string, reason: string) => void) {
    this.#onRefused = onRefused;
    this.#own = ownFamilies(['counter', 'histogram']);
  }

  get families(): Iterable<Family> {
    return [...this.#own.values(), ...[...this.#ofModules.values()].filter((family) => family !== undefined)];
  }

  /** What was counted since it was last taken, by figure. */
  takeIncrements(): readonly FigureIncrements[] {
    const own = Array.from(this.#own, ([name, family]) => ({ name, family }));
    const ofModules = Array.from(this.#ofModules, ([key, family]) => ({
      name: key.slice(key.indexOf(' ') + 1),
      family,
    }));
    return [...own, ...ofModules].flatMap(({ name, family }) => {
      const increments = family?.takeIncrements() ?? [];
      return increments.length > 0 && family ? [{ name, kind: family.description.kind, increments }] : [];
    });
  }

  /** Counts what another process has counted. */
  merge(all: readonly FigureIncrements[]): void {
    for (const { name, kind, increments } of all) {
      const family = this.#ownOf(kind, name) ?? this.#ofModule(kind, name);
      for (const each of increments) family?.merge(each);
    }
  }

  add(name: string, labels: Labels, by: number): void {
    if (!(by >= 0)) return;
    const own = this.#ownOf('counter', name);
    if (own) own.add(labels, by);
    else this.#ofModule('counter', name)?.add(moduleLabels(labels), by);
  }

  observe(name: string, value: number, labels: Labels): void {
    if (Number.isNaN(value)) return;
    const own = this.#ownOf('histogram', name);
    if (own) own.observe(labels, value);
    else this.#ofModule('histogram', name)?.observe(moduleLabels(labels), value);
  }

  forget(name: string, labels: Labels): void {
    this.#own.get(name)?.forget(labels);
  }

  #ownOf(kind: Kind, name: string): Family | undefined {
    const own = this.#own.get(name);
    return own?.description.kind === kind ? own : undefined;
  }

  #ofModule(kind: Kind, name: string): Family | undefined {
    const key = `${kind} ${name}`;
    if (this.#ofModules.has(key) || this.#ofModules.size > MOST_MODULE_FIGURES) return this.#ofModules.get(key);
    const shown = name.replace(/[^a-zA-Z0-9_:]/g, '_').replace(/^(?=\d|$)/, '_');
    const refusal = this.#refusalOf(kind, shown);
    const family =
      refusal === undefined
        ? new Family({
            name: shown,
            kind,
            help: 'Of a module',
            labels: undefined,
            buckets: kind === 'histogram' ? MODULE_BUCKETS : undefined,
            mostSeries: MOST_MODULE_SERIES,
          })
        : undefined;
    this.#ofModules.set(key, family);
    if (refusal !== undefined) this.#onRefused(name, refusal);
    return family;
  }

  #refusalOf(kind: Kind, name: string): string | undefined {
    if (RESERVED.test(name)) return 'names that begin so are not for modules';
    if (this.#ofModules.size >= MOST_MODULE_FIGURES) return `modules have more than ${MOST_MODULE_FIGURES} figures`;
    const wanted = new Set(namesOf({ kind, name }));
    const namesake = [...this.#ofModules.values()].find(
      (family) => family && namesOf(family.description).some((taken) => wanted.has(taken)),
    );
    return namesake && `the ${namesake.description.kind} ${namesake.description.name} has this name`;
  }
}

/** Every name that stands in a scrape for a figure. */
function namesOf({ kind, name }: Pick<Description, 'kind' | 'name'>): readonly string[] {
  return kind === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

/** The families of the gateway's own table, in its order. */
export function ownFamilies(kinds: readonly Kind[]): Map<string, Family> {
  const rows = Object.entries<Omit<Description, 'name' | 'mostSeries'>>(FIGURES).filter(([, { kind }]) =>
    kinds.includes(kind),
  );
  return new Map(rows.map(([name, row]) => [name, new Family({ ...row, name, mostSeries: MOST_SERIES })]));
}
