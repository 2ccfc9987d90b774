import { BlockList, isIPv6 } from 'node:net';
import { expect } from 'chai';
import { isLinkLocal, isLinkLocalHost, isPublicHost } from '../../../host/config/hosts/host-kinds.ts';
import { cases, seeded } from '../../kit/index.ts';

const hostOf = (url: string): string => new URL(url).hostname;

/** What Node itself says of an address. */
const BLOCKED = new BlockList();
BLOCKED.addSubnet('169.254.0.0', 16);
BLOCKED.addSubnet('fe80::', 10, 'ipv6');
BLOCKED.addAddress('fd00:ec2::254', 'ipv6');

describe('a link-local host', () => {
  for (const host of [
    '169.254.169.254',
    '169.254.0.0',
    '169.254.169.254.',
    '2852039166',
    '0xa9fea9fe',
    '0xA9.0xFE.0xA9.0xFE',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.16689662',
    '%31%36%39.254.169.254',
    '１６９.254.169.254',
    '[fe80::1]',
    '[FE80::1]',
    '[febf:ffff::]',
    '[fd00:ec2::254]',
    '[fd00:0ec2:0:0:0:0:0:254]',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[::a9fe:a9fe]',
    '[64:ff9b::169.254.169.254]',
    '[2002:a9fe:a9fe::1]',
    'metadata.google.internal',
    'METADATA.Google.Internal.',
  ]) {
    it(`is ${host}`, () => {
      expect(isLinkLocalHost(hostOf(`http://${host}/v1`))).to.equal(true);
    });
  }

  for (const host of [
    '127.0.0.1',
    '10.0.0.1',
    '169.253.255.255',
    '169.255.0.0',
    'localhost',
    'metadata.google.internal.example.com',
    'xmetadata.google.internal',
    '169.254.169.254.example.com',
    '[::1]',
    '[fec0::1]',
    '[fe7f::1]',
    '[fd00:ec2::253]',
    'a169.254.169.254.nip.io',
  ]) {
    it(`is not ${host}`, () => {
      expect(isLinkLocalHost(hostOf(`http://${host}/v1`))).to.equal(false);
    });
  }

  it('is what Node says of an address, in whatever notation a URL has it', () => {
    const random = seeded(54);
    const byte = (): number => Math.floor(random() * 256);
    for (let turn = 0; turn < cases(2000); turn += 1) {
      const isNear = random() < 0.5;
      const bytes = isNear ? [169, 253 + Math.floor(random() * 3), byte(), byte()] : [byte(), byte(), byte(), byte()];
      const dotted = bytes.join('.');
      const expected = BLOCKED.check(dotted);
      const whole = bytes.reduce((sum, one) => sum * 256 + one, 0);
      const rest = bytes.slice(1).reduce((sum, one) => sum * 256 + one, 0);
      const notations = [
        dotted,
        `${dotted}.`,
        String(whole),
        `0x${whole.toString(16)}`,
        `0${whole.toString(8)}`,
        `${bytes[0]}.${rest}`,
        bytes.map((one) => `0x${one.toString(16)}`).join('.'),
        bytes.map((one) => `0${one.toString(8)}`).join('.'),
        `[::ffff:${dotted}]`,
      ];
      for (const host of notations) expect(isLinkLocalHost(hostOf(`http://${host}/`)), host).to.equal(expected);
      const near = ['fe80', 'febf', 'fec0', 'fe7f', 'fd00'][Math.floor(random() * 5)];
      const groups = [near, ...Array.from({ length: 7 }, () => Math.floor(random() * 3).toString(16))];
      const long = groups.join(':');
      expect(isIPv6(long)).to.equal(true);
      expect(isLinkLocal(long), long).to.equal(BLOCKED.check(long, 'ipv6'));
      expect(isLinkLocalHost(hostOf(`http://[${long}]/`)), long).to.equal(BLOCKED.check(long, 'ipv6'));
    }
  });
});

describe('a host beyond the own networks', () => {
  const PUBLIC = ['api.openai.com', '8.8.8.8', '[2606:4700::1]', '172.32.0.1', 'a.b'];
  const OWN = [
    'localhost',
    'gpu-1',
    'x.localhost',
    '127.9.9.9',
    '10.1.1.1',
    '192.168.0.1',
    '172.16.0.1',
    '[::1]',
    '[fd12::1]',
  ];
  it('is a name with a dot, or a public address', () => {
    for (const host of PUBLIC) expect(isPublicHost(hostOf(`http://${host}/`)), host).to.equal(true);
    for (const host of OWN) expect(isPublicHost(hostOf(`http://${host}/`)), host).to.equal(false);
  });
});
