import { expect } from 'chai';
import { memberOf, setMember } from 'gw/contract';

/** Every name that an object has without being given it. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype);

describe('a member whose name comes from outside', () => {
  it('is written into the object and nowhere else, whatever its name', () => {
    for (const name of ['plain', '', '0', ...INHERITED]) {
      const object: Record<string, unknown> = {};
      setMember(object, name, { polluted: true });
      setMember(object, name, 'second');
      expect(Object.entries(object), name).to.deep.equal([[name, 'second']]);
      expect(Object.getPrototypeOf(object), name).to.equal(Object.prototype);
      expect(JSON.stringify(object), name).to.equal(JSON.stringify(JSON.parse(`{${JSON.stringify(name)}:"second"}`)));
    }
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('is read from the object, never from what it inherits', () => {
    for (const name of INHERITED) {
      expect(memberOf({}, name), name).to.equal(undefined);
      expect(memberOf(JSON.parse(`{${JSON.stringify(name)}:1}`) as Record<string, unknown>, name), name).to.equal(1);
    }
  });
});

describe('the process of a test', () => {
  it('refuses every write into what all objects inherit', () => {
    const name = '__proto__';
    const object: Record<string, any> = {};
    expect(() => {
      object[name]['polluted'] = true;
    }).to.throw(TypeError);
    expect(() => {
      object[name] = { polluted: true };
    }).to.throw(TypeError);
    expect(() => {
      (Object.prototype as Record<string, unknown>)['polluted'] = true;
    }).to.throw(TypeError);
    expect(() => {
      (Object.prototype as Record<string, unknown>)['toString'] = () => 'polluted';
    }).to.throw(TypeError);
    expect(() => {
      (Array.prototype as unknown as Record<string, unknown>)['polluted'] = true;
    }).to.throw(TypeError);
  });

  it('lets an object have its own of what it would inherit', () => {
    const object: Record<string, unknown> = {};
    const own = (): string => 'own';
    object['toString'] = own;
    expect(Object.entries(object)).to.deep.equal([['toString', own]]);
  });
});
