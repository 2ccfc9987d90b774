import type { Description } from 'joi';
import { type Fields, isFields, memberOf, setMember } from '../contract/index.ts';
import type { Redactor } from '../log/redact.ts';
import { listedSettings, type SettingKind, settingKinds } from './module-settings.ts';
import { type Path, pathText } from './problems.ts';
import type { KnownModules } from './rules/rule.ts';
import { configDescription } from './schema/config-description.ts';
import { blocksOf, describedAt, keysOf } from './schema/schema-walk.ts';
import { type Showing, showingOf } from './schema/showing.ts';
import { REDACTED, TextScrubber, withheldText } from './scrub-text.ts';

export interface ScrubberDeps {
  readonly registry: Pick<KnownModules, 'plugins' | 'strategies'>;
  readonly redactor: Redactor;
}

/** How texts are written, by the kind of field they stand in. */
interface Treatment {
  readonly text: (text: string) => string;
  readonly name: (text: string) => string;
  readonly address: (text: string) => string;
  readonly argument: (text: string) => string;
  readonly header: (name: string, value: unknown) => unknown;
  readonly withheld: (value: unknown) => unknown;
  /** A map of which some names may be shown: those that are of a kind. */
  readonly settings: (value: Fields, kinds: ReadonlyMap<string, SettingKind>) => unknown;
}

const same = <T>(value: T): T => value;
const PLAIN: Treatment = {
  text: same,
  name: same,
  address: same,
  argument: same,
  header: (_name, value) => value,
  withheld: same,
  settings: same,
};

/**
 * Configurations as they are shown: by a walk over the schema, so that a key of tomorrow is shown without its secrets too. What
 * is empty is left out, and some members are always there. See docs/reference/admin.md#how-a-configuration-is-shown.
 */
export class Scrubber {
  readonly #deps: ScrubberDeps;
  readonly #scrubbed: Treatment;

  constructor(deps: ScrubberDeps) {
    this.#deps = deps;
    const texts = new TextScrubber(deps.redactor);
    const byKind: Readonly<Record<SettingKind, (value: unknown) => unknown>> = {
      text: (value) => mapTexts(value, (text) => texts.text(text)),
      name: (value) => mapTexts(value, (text) => texts.name(text)),
      address: (value) => mapTexts(value, (text) => texts.address(text)),
    };
    this.#scrubbed = {
      text: (text) => texts.text(text),
      name: (text) => texts.name(text),
      address: (text) => texts.address(text),
      argument: (text) => texts.argument(text),
      header: (name, value) => (typeof value === 'string' ? texts.header(name, value) : REDACTED),
      withheld,
      settings: (value, kinds) => settingsFields(value, kinds, byKind),
    };
  }

  /** A copy without secrets. */
  show(document: Fields): Fields {
    return this.#walk(document, this.#scrubbed);
  }

  /** A document in the form in which it is shown, with its secrets. */
  plain(document: Fields): Fields {
    return this.#walk(document, PLAIN);
  }

  /** The first field with a literal that is not shown. */
  firstSecret(document: Fields): string | undefined {
    let found: string | undefined;
    this.#walk(document, this.#scrubbed, (at, before, after) => {
      if (found === undefined && hidesLiteral(before, after)) found = pathText(at);
    });
    return found;
  }

  #walk(document: Fields, treatment: Treatment, seen: Seen = () => {}): Fields {
    return new Walk(treatment, this.#deps.registry, seen).block(document, configDescription(), []);
  }
}

/** Called for every field that is shown as a whole: a text, a list of texts, a map. */
type Seen = (at: Path, before: unknown, after: unknown) => void;

class Walk {
  readonly #treatment: Treatment;
  readonly #registry: ScrubberDeps['registry'];
  readonly #seen: Seen;

  constructor(treatment: Treatment, registry: ScrubberDeps['registry'], seen: Seen) {
    this.#treatment = treatment;
    this.#registry = registry;
    this.#seen = seen;
  }

  block(value: Fields, description: Description, at: Path): Fields {
    const shown: Fields = {};
    const keys = new Map(keysOf(description).map((key) => [key, describedAt(description, [key])]));
    for (const [key, member] of Object.entries(value)) {
      const field = keys.get(key) ?? describedAt(description, [key]);
      if (!field || isOmitted(member, field)) continue;
      setMember(shown, key, this.#field(member, field, [...at, key], value));
    }
    for (const [key, field] of keys) {
      const { always } = showingOf(field);
      if (always !== undefined && !Object.hasOwn(shown, key))
        setMember(shown, key, isFields(always) && field ? this.block({}, field, []) : always);
    }
    return shown;
  }

  #field(value: unknown, description: Description | undefined, at: Path, holder: Fields): unknown {
    if (description && keysOf(description).length > 0 && isFields(value)) return this.block(value, description, at);
    if (blocksOf(description) && isFields(value)) return this.#blocks(value, description, at);
    const item = description && describedAt(description, [0]);
    if (item && keysOf(item).length > 0 && Array.isArray(value))
      return value.map((each: unknown, index) => this.#field(each, item, [...at, index], {}));
    const as = showingOf(description).as ?? showingOf(item).as;
    const shown = this.#whole(value, as, holder);
    this.#seen(at, value, shown);
    return shown;
  }

  /** A map of blocks. Its names are those of what stands under them. */
  #blocks(value: Fields, description: Description | undefined, at: Path): Fields {
    const shown: Fields = {};
    const block = blocksOf(description);
    for (const [name, member] of Object.entries(value)) {
      if (member === null || member === undefined) continue;
      setMember(shown, this.#treatment.name(name), this.#field(member, block, [...at, name], value));
    }
    return shown;
  }

  #whole(value: unknown, as: Showing['as'], holder: Fields): unknown {
    const { text, name, address, argument, header, withheld: withhold, settings } = this.#treatment;
    switch (as) {
      case 'name':
        return mapTexts(value, name);
      case 'address':
        return mapTexts(value, address);
      case 'arguments':
        return mapTexts(value, argument);
      case 'headers':
        return isFields(value) ? mapEntries(value, header) : value;
      case 'withheld':
        return withhold(value);
      case 'plugin settings':
        return isFields(value) ? settings(value, this.#ofPlugin(holder['name'])) : value;
      case 'strategy settings':
        return isFields(value) ? settings(value, this.#ofStrategy(holder['mode'])) : value;
      default:
        return mapTexts(value, text);
    }
  }

  #ofPlugin(name: unknown): ReadonlyMap<string, SettingKind> {
    const module = this.#registry.plugins.get(String(name));
    if (!module) return new Map();
    const kinds = settingKinds(module.settings);
    return new Map(listedSettings(module).map((setting) => [setting, kinds.get(setting) ?? 'text']));
  }

  #ofStrategy(mode: unknown): ReadonlyMap<string, SettingKind> {
    const module = this.#registry.strategies.get(String(mode));
    return module && !module.settingsFrom ? settingKinds(module.settings) : new Map();
  }
}

/** Nothing says less than an absent key, unless the field makes a difference between them. A block that is there says that it is. */
function isOmitted(value: unknown, description: Description): boolean {
  if (value === null || value === undefined) return true;
  const { isKept, always } = showingOf(description);
  if (isKept || always !== undefined) return false;
  const isEmpty = typeof value === 'object' && keysOf(description).length === 0 && Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false || isEmpty;
}

/** A copy in which every text, at any depth, is another one; the names of maps are texts too. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isFields(value)) return value;
  const copy: Fields = {};
  for (const [key, member] of Object.entries(value)) setMember(copy, change(key), mapTexts(member, change));
  return copy;
}

/** A copy in which every value is another one. */
function mapEntries(map: Fields, change: (name: string, value: unknown) => unknown): Fields {
  const copy: Fields = {};
  for (const [name, value] of Object.entries(map)) setMember(copy, name, change(name, value));
  return copy;
}

/** A map whose names may be secrets too: the names become numbers, in the order of their bytes, at every depth. */
function withheld(value: unknown): unknown {
  if (typeof value === 'string') return withheldText(value);
  if (value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map(withheld);
  return isFields(value) ? Object.fromEntries(withheldEntries(value, Object.keys(value))) : REDACTED;
}

function withheldEntries(value: Fields, names: readonly string[]): [string, unknown][] {
  const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return sorted.map((name, index) => [`[REDACTED_KEY_${index}]`, withheld(memberOf(value, name))]);
}

/** Settings that the module declares, then the others, withheld. */
function settingsFields(
  value: Fields,
  kinds: ReadonlyMap<string, SettingKind>,
  show: Readonly<Record<SettingKind, (value: unknown) => unknown>>,
): Fields {
  const listed = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const kind = kinds.get(name);
    return kind ? [[name, show[kind](member)]] : [];
  });
  return Object.fromEntries([
    ...listed,
    ...withheldEntries(
      value,
      Object.keys(value).filter((name) => !kinds.has(name)),
    ),
  ]);
}

/** Whether something is not shown as it is that is neither empty nor one reference. Withheld maps change their order. */
function hidesLiteral(before: unknown, after: unknown): boolean {
  const shown = new Set(leavesOf(after));
  return leavesOf(before).some(
    (leaf) => !shown.has(leaf) && !(typeof leaf === 'string' && withheldText(leaf) === leaf),
  );
}

function leavesOf(value: unknown): unknown[] {
  if (typeof value !== 'object') return [value];
  return value === null ? [] : Object.values(value).flatMap(leavesOf);
}
