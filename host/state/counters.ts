import type { FigureLabels, FigureName, GaugeName } from '../contract/figures.ts';
import type { Counters, Labels } from '../contract/index.ts';

/** Something that keeps figures: the metrics endpoint, a test. */
export interface CounterSink {
  add(name: string, labels: Labels, by: number): void;
  observe(name: string, value: number, labels: Labels): void;
  /** Drops the series of a figure that have these labels, whatever their others: what they counted is no longer configured. */
  forget?(name: string, labels: Labels): void;
}

/** Takes the present values of the gauges while metrics are read. A gauge that is not set is left out. */
export interface Gauges {
  set<N extends GaugeName>(name: N, labels: FigureLabels<N>, value: number): void;
}

export interface CounterHub extends Counters {
  /** From now on every figure goes there too. */
  attach(sink: CounterSink): void;
  /** Has sinks drop the series of a figure that have these labels. */
  forget(name: FigureName, labels: Labels): void;
}

const NO_LABELS: Labels = Object.freeze({});

/** Passes figures on to the sinks that keep them; without a sink it costs nothing. */
export function createCounters(): CounterHub {
  const sinks: CounterSink[] = [];
  return {
    add: (name: string, labels = NO_LABELS, by = 1) => {
      for (const sink of sinks) sink.add(name, labels, by);
    },
    observe: (name: string, value: number, labels = NO_LABELS) => {
      for (const sink of sinks) sink.observe(name, value, labels);
    },
    forget: (name: string, labels: Labels) => {
      for (const sink of sinks) sink.forget?.(name, labels);
    },
    attach: (sink) => {
      sinks.push(sink);
    },
  };
}
