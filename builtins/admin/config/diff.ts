import { canonicalJson } from '../../../host/config/canonical.ts';
import { type Path, pathText } from '../../../host/config/problems.ts';
import type { Scrubber } from '../../../host/config/scrubber.ts';
import { type Fields, isFields } from '../../../host/contract/index.ts';

interface Change {
  readonly path: string;
  /** `null` for what is not there. */
  readonly before: unknown;
  readonly after: unknown;
}

/** One value, with its secrets and as it is shown. */
interface Side {
  readonly plain: unknown;
  readonly shown: unknown;
}

/** What differs between two configurations, as far down as names are shown. Secrets are compared, and not shown. */
export function changesBetween(scrubber: Scrubber, before: Fields, after: Fields): Change[] {
  const sideOf = (document: Fields): Side => ({ plain: scrubber.plain(document), shown: scrubber.show(document) });
  return differences(sideOf(before), sideOf(after), []);
}

function differences(before: Side, after: Side, at: Path): Change[] {
  if (canonicalJson(before.plain) === canonicalJson(after.plain)) return [];
  const parts = partsOf(before, after);
  if (!parts) return [{ path: pathText(at), before: before.shown ?? null, after: after.shown ?? null }];
  return parts.flatMap((part) => differences(member(before, part), member(after, part), [...at, part]));
}

/** Names, or places in a list, that both have in common in kind; `undefined` where a value is one change as a whole. */
function partsOf(before: Side, after: Side): Path | undefined {
  if (Array.isArray(before.plain) && Array.isArray(after.plain))
    return Array.from({ length: Math.max(before.plain.length, after.plain.length) }, (_, index) => index);
  if (!isFields(before.plain) || !isFields(after.plain) || !showsNames(before) || !showsNames(after)) return undefined;
  return [...new Set([...Object.keys(before.plain), ...Object.keys(after.plain)])];
}

function showsNames({ plain, shown }: Side): boolean {
  return isFields(plain) && isFields(shown) && Object.keys(plain).every((name) => Object.hasOwn(shown, name));
}

function member({ plain, shown }: Side, part: string | number): Side {
  const read = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, part) ? (value as Fields)[part] : undefined;
  return { plain: read(plain), shown: read(shown) };
}
