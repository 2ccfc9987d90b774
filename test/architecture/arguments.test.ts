import { expect } from 'chai';
import { SHORT_LISTS, spreadArguments, spreadsIn } from './argument-rules.ts';
import { read } from './source.ts';

describe('lists that become arguments', () => {
  it('are listed only where they stand', () => {
    for (const [path, texts] of Object.entries(SHORT_LISTS))
      expect(
        spreadsIn(path, read(path)).map(({ text }) => text),
        path,
      ).to.include.members([...texts]);
  });

  for (const source of [
    'list.push(...others);',
    'list.push(first, ...others.map(change));',
    'this.#pieces.push(...values());',
    'list?.push(...others);',
    'list.unshift(...others);',
    'list.splice(0, 1, ...others);',
    '[].concat(...lists);',
    'const most = Math.max(...lengths);',
    'const text = String.fromCharCode(...codes);',
    'const all = Object.assign({}, ...parts);',
    'list.push(...(isOne ? [one] : others));',
  ])
    it(`are refused: ${source}`, () => {
      expect(spreadArguments('host/planted.ts', source)).to.have.length(1);
    });

  for (const source of [
    'list.push([...others]);',
    'list.push({ ...others });',
    'list.push(...(isOne ? [one] : []));',
    'const both = [...list, ...others];',
    'addAll(list, others);',
    'call(...values);',
  ])
    it(`are not seen in: ${source}`, () => {
      expect(spreadArguments('host/planted.ts', source)).to.deep.equal([]);
    });
});
