import { expect } from 'chai';
import { readEnvironment } from '../../host/environment/settings.ts';

const read = (variables: Record<string, string>) => {
  const { listeners, notes } = readEnvironment(variables);
  return { listeners, fatal: notes.filter(({ level }) => level === 'fatal').map(({ message }) => message), notes };
};

const NO_TLS = { data: undefined, admin: undefined };

describe('addresses and ports of the listeners', () => {
  it('are one listener on all interfaces unless something else is set', () => {
    for (const blank of ['', ' ']) {
      const { listeners, fatal } = read({ GW_ADDRESS: blank, GW_ADMIN_PORT: blank, GW_ADMIN_ADDRESS: blank });
      expect([listeners, fatal]).to.deep.equal([
        { address: undefined, admin: undefined, tls: NO_TLS, publicUrl: undefined },
        [],
      ]);
    }
  });

  it('are trimmed, and that of the control plane is loopback unless said', () => {
    expect(read({ GW_ADDRESS: ' 10.0.0.1 ', GW_ADMIN_PORT: ' 9090 ' }).listeners).to.deep.equal({
      address: '10.0.0.1',
      admin: { port: 9090, address: '127.0.0.1' },
      tls: NO_TLS,
      publicUrl: undefined,
    });
    expect(read({ GW_ADMIN_PORT: '0', GW_ADMIN_ADDRESS: ' :: ' }).listeners.admin).to.deep.equal({
      port: 0,
      address: '::',
    });
  });

  for (const text of ['65536', '-1', '9090x', '0x50', '1e3', '90 90', '1.5', 'admin'])
    it(`refuse GW_ADMIN_PORT=${text}`, () => {
      expect(read({ GW_ADMIN_PORT: text }).fatal).to.deep.equal([
        `GW_ADMIN_PORT is "${text}", which is not a port number; set 1 to 65535`,
      ]);
    });

  for (const name of ['GW_ADDRESS', 'GW_ADMIN_ADDRESS'])
    for (const text of ['localhost', '10.0.0', '10.0.0.1:80', '[::1]', '10.0.0.0/8', 'all'])
      it(`refuse ${name}=${text}`, () => {
        expect(read({ [name]: text, GW_ADMIN_PORT: '9090' }).fatal).to.deep.equal([
          `${name} is "${text}", which is not an IP address`,
        ]);
      });

  for (const [address, admin, isRefused] of [
    ['', '', true],
    ['', '0.0.0.0', true],
    ['', '::1', true],
    ['::', '10.0.0.1', true],
    ['0.0.0.0', '127.0.0.1', true],
    ['127.0.0.1', '0.0.0.0', true],
    ['127.0.0.1', '::', true],
    ['0.0.0.0', '::1', false],
    ['10.0.0.1', '127.0.0.1', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['::1', '0.0.0.0', false],
  ] as const)
    it(`${isRefused ? 'refuse' : 'allow'} one port for both on "${address}" and "${admin}"`, () => {
      for (const PORT of ['8080', ' 8080 ', '']) {
        const { fatal } = read({ PORT, GW_ADMIN_PORT: '8080', GW_ADDRESS: address, GW_ADMIN_ADDRESS: admin });
        const message =
          'PORT and GW_ADMIN_PORT are both 8080, on addresses that overlap; set one of them to another port';
        expect(fatal).to.deep.equal(isRefused ? [message] : []);
      }
      expect(read({ PORT: '0', GW_ADMIN_PORT: '0', GW_ADDRESS: address, GW_ADMIN_ADDRESS: admin }).fatal).to.deep.equal(
        [],
      );
    });

  it('warn of an address without a port, and in production of a control plane beyond this machine', () => {
    const warned = (variables: Record<string, string>): readonly string[] =>
      read(variables).notes.flatMap(({ message, rule }) => (/admin/i.test(message) ? [rule ?? message] : []));
    expect(warned({ GW_ADMIN_ADDRESS: '::' })).to.deep.equal(['GW_ADMIN_ADDRESS has no effect without GW_ADMIN_PORT']);
    for (const [address, isWarned] of [
      ['0.0.0.0', true],
      ['::', true],
      ['10.0.0.1', true],
      ['127.1.2.3', false],
      ['::1', false],
      ['', false],
    ] as const) {
      const variables = { GW_ADMIN_PORT: '9090', GW_ADMIN_ADDRESS: address };
      expect(warned({ ...variables, GATEWAY_ENV: 'production' }), address).to.deep.equal(isWarned ? ['WN35'] : []);
      expect(warned(variables)).to.deep.equal([]);
    }
  });
});
