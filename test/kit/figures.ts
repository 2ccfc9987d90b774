import { FIGURES } from '../../host/contract/figures.ts';
import type { Labels } from '../../host/contract/index.ts';

interface Row {
  readonly kind: string;
  readonly labels: Readonly<Record<string, 'any' | readonly string[]>>;
}

const TABLE: ReadonlyMap<string, Row> = new Map(Object.entries(FIGURES));

/** What is wrong with a figure that was counted: at run time what the types refuse. A module's own figures are not looked at. */
export function figureProblem(kind: 'counter' | 'histogram', name: string, labels: Labels): string[] {
  if (!/^(gateway|gw)_/.test(name)) return [];
  const row = TABLE.get(name);
  if (row?.kind !== kind) return [`${name} is not a ${kind}`];
  const missing = Object.keys(row.labels)
    .filter((label) => typeof labels[label] !== 'string')
    .map((label) => `${name} without ${label}`);
  return [
    ...missing,
    ...Object.entries(labels).flatMap(([label, value]) => valueProblem(name, label, value, row.labels[label])),
  ];
}

function valueProblem(
  name: string,
  label: string,
  value: string,
  allowed: 'any' | readonly string[] | undefined,
): string[] {
  if (allowed === undefined) return [`${name} with ${label}`];
  return allowed === 'any' || allowed.includes(value) ? [] : [`${name} with ${label} of ${value}`];
}
