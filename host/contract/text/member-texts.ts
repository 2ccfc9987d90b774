import { isChosen, namedLeaves, type Names, type NamesBelow } from './chosen-names.ts';
import type { Words } from './chat-words.ts';
import { readings } from './client-body.ts';
import { isFields } from '../json/fields.ts';
import { isRawNumber } from '../json/json-numbers.ts';

/**
 * Texts of an object of the wire, or of each object in a list, without the words that the wire
 * itself defines.
 */
export function* membersTexts(value: unknown, words: Words, below: NamesBelow): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* Array.isArray(item) ? named(item, 'own', below) : membersTexts(item, words, below);
  } else if (isFields(value) && !isRawNumber(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (isChosen(name, 'own')) yield* readings(name);
      if (typeof member !== 'string' || !words.get(name)?.test(member)) yield* named(member, below(name), below);
    }
  } else yield* named(value, 'own', below);
}

/**
 * All strings inside a value, JSON strings also decoded, and the names that a client or a model
 * chose.
 */
export function* named(value: unknown, names: Names, below: NamesBelow): Generator<string> {
  if (typeof value === 'string') yield* readings(value);
  else if (typeof value === 'object' && value !== null)
    for (const text of namedLeaves(value, names, below)) yield* readings(text);
}
