import { canonicalJson } from '../../../host/config/canonical.ts';
import { type Operation, patched, PatchProblem, valueAt } from '../../../host/config/patch/json-patch.ts';
import { pointerText } from '../../../host/config/patch/json-pointer.ts';
import type { Scrubber } from '../../../host/config/scrubber.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { type Fields, GatewayError, isFields } from '../../../host/contract/index.ts';
import { RefusedConfiguration } from './body.ts';
import { exposed, misdirected, type PlaceFacts } from './kept-secrets.ts';
import { isWithheld, tokensIn, WithheldValues } from './withheld-values.ts';

/** A document as it is, with tokens for what is withheld, and as it is shown. */
interface Sides {
  readonly plain: unknown;
  readonly shown: unknown;
}

interface PatchDeps {
  readonly scrubber: Scrubber;
  readonly isShipped: PlaceFacts['isShipped'];
}

/**
 * The document that a patch makes of another one, all of it or nothing. Pointers are those of the document as it is shown; what is withheld stays, unless an
 * operation names it, and goes nowhere else. Throws a 400 that numbers the operation, a 412 for a failed `test`, or what `misdirected` found.
 */
export function patchedDocument(
  document: Fields,
  operations: readonly Operation[],
  { scrubber, isShipped }: PatchDeps,
): Fields {
  const withheld = new WithheldValues();
  const shown = scrubber.show(document);
  const before = withheld.tokenized(scrubber.plain(document), shown) as Fields;
  let sides: Sides = { plain: before, shown };
  let copied = 0;
  operations.forEach((operation, at) => {
    sides = numbered(at, () => {
      if (operation.op === 'copy') copied += sizeOf(valueAt(sides.plain, operation.from), MOST_COPIED - copied);
      return applied(sides, operation);
    });
  });
  if (!isFields(sides.plain)) throw invalidRequest('the patch makes something that is not an object');
  const restored = (value: unknown): unknown => withheld.restored(value);
  const made = restored(sides.plain) as Fields;
  const again = withheld.tokenized(scrubber.plain(made), scrubber.show(made));
  const problems = [...misdirected(before, sides.plain, { restored, isShipped }), ...exposed(sides.plain, again)];
  if (problems.length > 0) throw new RefusedConfiguration('invalid_config', problems);
  return made;
}

/** Values that all copies of one patch may make: a copy of what holds it doubles it. */
const MOST_COPIED = 100_000;

/** How many values stand in a value, itself included. Throws where there are more than may be copied. */
function sizeOf(value: unknown, most: number): number {
  if (most <= 0) throw new PatchProblem(`the copies of this patch hold more than ${MOST_COPIED} values`);
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  for (const each of Object.values(value)) size += sizeOf(each, most - size);
  return size;
}

/** Whether two documents mean the same. */
export const isSameDocument = (one: Fields, other: Fields, scrubber: Scrubber): boolean =>
  canonicalJson(scrubber.plain(one)) === canonicalJson(scrubber.plain(other));

function numbered<T>(at: number, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof PatchProblem)) throw error;
    if (error.isFailedTest) throw new GatewayError('version_conflict', `patch[${at}]: ${error.message}`);
    throw invalidRequest(`patch[${at}]: ${error.message}`);
  }
}

function applied(sides: Sides, operation: Operation): Sides {
  refuseTokens(operation);
  if (operation.op === 'move' || operation.op === 'copy') refuseTransfer(sides, operation);
  if (operation.op === 'test') refuseOracle(sides, operation.path);
  if (
    operation.path.length === 0 &&
    (operation.op === 'add' || operation.op === 'replace') &&
    !isFields(operation.value)
  )
    throw new PatchProblem('a configuration is an object');
  if (operation.path.length === 0 && operation.op !== 'add' && operation.op !== 'replace' && operation.op !== 'test')
    throw new PatchProblem('it cannot be done to the whole document');
  return { plain: patched(sides.plain, operation), shown: shownAfter(sides, operation) };
}

/** Nothing that a client sends may stand for what is withheld. */
function refuseTokens(operation: Operation): void {
  if ('value' in operation && tokensIn(operation.value).length > 0)
    throw new PatchProblem('a text of it begins with NUL');
}

/** Below a map whose names are withheld nothing is shown that could change. */
function shownAfter({ shown }: Sides, operation: Operation): unknown {
  try {
    return patched(shown, operation);
  } catch (error) {
    if (error instanceof PatchProblem) return shown;
    throw error;
  }
}

/** A test of what is withheld would answer guesses. */
function refuseOracle({ plain, shown }: Sides, path: readonly string[]): void {
  for (let length = path.length; length > 0; length -= 1)
    if (isHidden({ plain, shown }, path.slice(0, length))) throw new PatchProblem(ORACLE);
  if (isWithheld(valueAt(plain, path), optional(shown, path))) throw new PatchProblem(ORACLE);
}

const ORACLE = 'what is withheld cannot be tested';

/** What is withheld stays in its list or map. */
function refuseTransfer(sides: Sides, { from, path }: Operation & { readonly op: 'move' | 'copy' }): void {
  if (from.length === 0 || path.length === 0) throw new PatchProblem('it cannot be done to the whole document');
  const [source, target] = [from.slice(0, -1), path.slice(0, -1)];
  const isWithin = pointerText(source) === pointerText(target);
  if (hidesNames(sides, source) || hidesNames(sides, target))
    throw new PatchProblem('it goes out of what is withheld, or into it');
  if (!isWithin && isWithheld(valueAt(sides.plain, from), optional(sides.shown, from)))
    throw new PatchProblem('what is withheld stays in the list or map where it is');
}

/** Whether a member is not shown, though it is there. */
const isHidden = ({ plain, shown }: Sides, path: readonly string[]): boolean =>
  optional(plain, path) !== undefined && optional(shown, path) === undefined;

/** Whether a map, or one that holds it, is shown without its names. */
function hidesNames({ plain, shown }: Sides, path: readonly string[]): boolean {
  for (let length = path.length; length > 0; length -= 1) {
    const at = path.slice(0, length);
    const [is, seen] = [optional(plain, at), optional(shown, at)];
    if (is !== undefined && seen === undefined) return true;
    if (isFields(is) && isFields(seen) && !Object.keys(is).every((name) => Object.hasOwn(seen, name))) return true;
  }
  return false;
}

function optional(document: unknown, path: readonly string[]): unknown {
  try {
    return valueAt(document, path);
  } catch {
    return undefined;
  }
}
