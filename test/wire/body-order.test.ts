import { expect } from 'chai';
import { inBodyOrder } from '../../host/wire/body-order.ts';

describe('paths of a body', () => {
  const body = { z: { snake_name: 1, b: 2, a: 3 }, list: [{ y: 1, x: 2 }, { x: 1 }], a: 1 };

  it('come in the order in which the body writes them', () => {
    expect(
      inBodyOrder(['a', 'list[1].x', 'list[0].x', 'z.a', 'list[0].y', 'z.b', 'z.snakeName', 'list[0]', 'z'], body),
    ).to.deep.equal(['z', 'z.snakeName', 'z.b', 'z.a', 'list[0]', 'list[0].y', 'list[0].x', 'list[1].x', 'a']);
  });

  it('come last where the body does not hold them, in the order they were given', () => {
    expect(inBodyOrder(['anthropic-beta:one', 'constructor', 'a', 'anthropic-beta:two'], body)).to.deep.equal([
      'a',
      'anthropic-beta:one',
      'constructor',
      'anthropic-beta:two',
    ]);
    expect(inBodyOrder(['list[x].y', 'list[7].y', 'a.b.c', 'a'], body)).to.include.members([
      'list[x].y',
      'list[7].y',
      'a.b.c',
      'a',
    ]);
  });
});
