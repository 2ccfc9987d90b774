import { expect } from 'chai';
import { patched } from '../../../host/config/patch/json-patch.ts';
import { readPointer } from '../../../host/config/patch/json-pointer.ts';
import { patchBetween, type PatchOperation } from '../../../host/config/patch/patch-between.ts';
import { cases, Dice } from '../../kit/index.ts';

const pointer = (text: string | undefined): readonly string[] => readPointer(text ?? '') as readonly string[];
const applied = (document: unknown, operations: readonly PatchOperation[]): unknown =>
  operations.reduce<unknown>(
    (made, { op, path, from, value }) => patched(made, { op, path: pointer(path), from: pointer(from), value }),
    document,
  );

/** A document of any shape: names that pointers must write otherwise, entries of one name, texts twice. */
function documentOf(dice: Dice, depth = 3): unknown {
  const kind = dice.below(depth > 0 ? 6 : 3);
  if (kind === 0) return dice.below(4);
  if (kind === 1) return dice.pick(['a', 'b', '', '/', '~1', 'ä']);
  if (kind === 2) return dice.pick([true, false, null, {}, []]);
  if (kind === 3) return Array.from({ length: dice.below(5) }, () => documentOf(dice, depth - 1));
  if (kind === 4)
    return Array.from({ length: dice.below(5) }, () => ({
      name: dice.pick(['x', 'y', 'z']),
      value: documentOf(dice, depth - 1),
    }));
  const names = ['a', 'b/c', '~d', '', '0', '-'];
  return Object.fromEntries(names.filter(() => dice.below(2) === 0).map((name) => [name, documentOf(dice, depth - 1)]));
}

describe('the patch between two documents', () => {
  it('makes the one of the other, whatever they are', () => {
    for (let seed = 0; seed < cases(20_000); seed += 1) {
      const dice = new Dice(seed);
      const [before, after] = [documentOf(dice), documentOf(dice)];
      const { operations, problems } = patchBetween(before, after);
      expect(problems, `seed ${seed}`).to.deep.equal([]);
      expect(applied(before, operations), `seed ${seed}`).to.deep.equal(after);
      expect(patchBetween(before, structuredClone(before)).operations).to.deep.equal([]);
    }
  });

  it('moves entries that have a name, and leaves what is withheld in them alone', () => {
    const server = (name: string, more: object = {}): object => ({
      name,
      headers: { '[REDACTED_KEY_0]': '[REDACTED]' },
      ...more,
    });
    const before = { mcp_servers: [server('a'), server('b')], aliases: { x: 'y' } };
    const after = { mcp_servers: [server('b'), server('a', { url: 'u' }), { name: 'c' }], aliases: {} };
    expect(patchBetween(before, after)).to.deep.equal({
      problems: [],
      operations: [
        { op: 'move', from: '/mcp_servers/1', path: '/mcp_servers/0' },
        { op: 'add', path: '/mcp_servers/1/url', value: 'u' },
        { op: 'add', path: '/mcp_servers/2', value: { name: 'c' } },
        { op: 'remove', path: '/aliases/x' },
      ],
    });
  });

  it('says where the mark of a withheld value stands that was not there', () => {
    const before = { a: { x: '[REDACTED]' }, headers: { '[REDACTED_KEY_0]': '[REDACTED]' } };
    for (const [after, problem] of [
      [{ ...before, b: '[REDACTED]' }, 'b'],
      [{ ...before, a: { x: 'p[REDACTED]' } }, 'a.x'],
      [{ ...before, headers: {} }, 'headers'],
      [{ ...before, headers: { ...before.headers, '[REDACTED_KEY_1]': 'v' } }, 'headers'],
      [{ ...before, list: [{ y: '[REDACTED]' }] }, 'list[0].y'],
    ] as const)
      expect(patchBetween(before, after).problems, JSON.stringify(after)).to.deep.equal([problem]);
  });
});
