import type { KindKeys } from './kind-keys.ts';

/** Settings of an instance under the variables they stand for. `null` is as good as nothing; lists are joined by commas, as variables are written. */
export function settingVariables(
  settings: KindKeys['settings'],
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const written = [...settings].flatMap(([key, { variable }]) => {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    return value === undefined || value === null ? [] : [[variable, settingText(value)] as const];
  });
  return Object.fromEntries(written);
}

function settingText(value: unknown): string {
  if (Array.isArray(value)) return value.map(settingText).join(',');
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}
