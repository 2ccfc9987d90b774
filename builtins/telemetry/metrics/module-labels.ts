import type { Labels } from '../../../host/contract/index.ts';

/**
 * Labels of a module's figure as the format allows them: what a name may not hold becomes `_`, two underscores at the beginning are
 * Prometheus' own, `le` is that of histograms, and names that are the same by then are numbered. One scrape with a label twice is
 * refused as a whole. Source: prometheus.io/docs/concepts/data_model, read 2026-11-23.
 */
export function moduleLabels(labels: Labels): Labels {
  const shown = new Map<string, string>();
  for (const name of Object.keys(labels).toSorted()) {
    const plain =
      name === 'le'
        ? '_le'
        : name
            .replace(/[^a-zA-Z0-9_]/g, '_')
            .replace(/^_{2,}/, '_')
            .replace(/^(?=\d|$)/, '_');
    let free = plain;
    for (let next = 2; shown.has(free); next += 1) free = `${plain}_${next}`;
    shown.set(free, String(labels[name])); // once: what is counted under is what is shown
  }
  return Object.fromEntries(shown);
}
