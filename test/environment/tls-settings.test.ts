import { expect } from 'chai';
import { readEnvironment } from '../../host/environment/settings.ts';

/** Short names of the variables. */
const NAMES: Readonly<Record<string, string>> = {
  cert: 'GW_TLS_CERT',
  key: 'GW_TLS_KEY',
  ca: 'GW_TLS_CLIENT_CA',
  auth: 'GW_TLS_CLIENT_AUTH',
  Cert: 'GW_ADMIN_TLS_CERT',
  Key: 'GW_ADMIN_TLS_KEY',
  Ca: 'GW_ADMIN_TLS_CLIENT_CA',
  Auth: 'GW_ADMIN_TLS_CLIENT_AUTH',
  port: 'GW_ADMIN_PORT',
};

const read = (written: string) =>
  readEnvironment(
    Object.fromEntries(
      written.split(' ').flatMap((part) => {
        const [name = '', value = ''] = part.split('=');
        return name === '' ? [] : [[NAMES[name] ?? name, value.replaceAll('_', ' ')]];
      }),
    ),
  );

/** What is written, and what both listeners are: certificate, key, authority, `require` and so on. */
const GOOD: readonly (readonly [written: string, data: string, admin: string])[] = [
  ['', '', ''],
  ['cert=c key=k', 'c k - none', ''],
  ['cert=_c_ key=k ca=_', 'c k - none', ''],
  ['cert=c key=k ca=a', 'c k a require', ''],
  ['cert=c key=k ca=a auth=optional', 'c k a optional', ''],
  ['cert=c key=k ca=a auth=none', 'c k a none', ''],
  ['cert=c key=k auth=none', 'c k - none', ''],
  ['port=0 cert=c key=k', 'c k - none', 'c k - none'],
  ['port=0 cert=c key=k Cert=C Key=K', 'c k - none', 'C K - none'],
  ['port=0 Cert=C Key=K', '', 'C K - none'],
  ['port=0 cert=c key=k Cert=off', 'c k - none', ''],
  ['port=0 Cert=off', '', ''],
  ['port=0 cert=c key=k Ca=A', 'c k - none', 'c k A require'],
  ['port=0 cert=c key=k ca=a Auth=none', 'c k a require', 'c k a none'],
  ['port=0 cert=c key=k ca=a Ca=A Auth=optional', 'c k a require', 'c k A optional'],
];

const BAD: readonly (readonly [written: string, says: string])[] = [
  ['cert=c', 'GW_TLS_CERT is set without GW_TLS_KEY'],
  ['key=k', 'GW_TLS_KEY is set without GW_TLS_CERT'],
  ['ca=a', 'GW_TLS_CLIENT_CA is set without GW_TLS_CERT and GW_TLS_KEY'],
  ['cert=c key=k auth=require', 'GW_TLS_CLIENT_AUTH is require without GW_TLS_CLIENT_CA'],
  ['cert=c key=k auth=optional', 'GW_TLS_CLIENT_AUTH is optional without GW_TLS_CLIENT_CA'],
  ['cert=c key=k ca=a auth=Required', 'GW_TLS_CLIENT_AUTH is "Required"; use require, optional, none'],
  ['cert=c key=k ca=a auth=Require', 'GW_TLS_CLIENT_AUTH is "Require"; use require, optional, none'],
  ['port=0 cert=c key=k Cert=off Key=K', 'GW_ADMIN_TLS_KEY is set beside GW_ADMIN_TLS_CERT=off; unset one of them'],
  [
    'port=0 cert=c key=k Cert=off Ca=A',
    'GW_ADMIN_TLS_CLIENT_CA is set beside GW_ADMIN_TLS_CERT=off; unset one of them',
  ],
  ['port=0 Cert=C', 'GW_ADMIN_TLS_CERT is set without GW_ADMIN_TLS_KEY'],
  ['port=0 Ca=A', 'GW_ADMIN_TLS_CLIENT_CA is set without GW_ADMIN_TLS_CERT and GW_ADMIN_TLS_KEY'],
];

describe('settings of TLS', () => {
  it('are each of its own, and those of the other listener otherwise', () => {
    for (const [written, ...expected] of GOOD) {
      const { notes, listeners } = read(written);
      const shown = [listeners.tls.data, listeners.tls.admin].map((tls) =>
        tls ? `${tls.cert.path} ${tls.key.path} ${tls.clientCa?.path ?? '-'} ${tls.clientAuth}` : '',
      );
      expect(shown, written).to.deep.equal(expected);
      expect(notes, written).to.deep.equal([]);
    }
  });

  it('that do not fit together stop the start, each by name', () => {
    for (const [written, says] of BAD) {
      const fatal = read(written).notes.filter(({ level }) => level === 'fatal');
      expect(
        fatal.map(({ message }) => message),
        written,
      ).to.deep.equal([says]);
    }
  });

  it('of the other listener are warned of where there is none', () => {
    const { notes, listeners } = read('cert=c key=k Cert=C Key=K');
    expect(notes.map(({ level, message }) => [level, message])).to.deep.equal(
      ['GW_ADMIN_TLS_CERT', 'GW_ADMIN_TLS_KEY'].map((name) => ['warn', `${name} has no effect without GW_ADMIN_PORT`]),
    );
    expect(listeners.tls.admin).to.equal(undefined);
  });

  it('keep the file of a key from being read as the secret of a provider', () => {
    expect(read('cert=c key=/run/secrets/tls.key').ownSecretFiles).to.deep.equal(['/run/secrets/tls.key']);
  });

  it('take the warning of an open control plane away', () => {
    const open = (more: string): boolean =>
      read(`GATEWAY_ENV=production GW_ADMIN_ADDRESS=0.0.0.0 port=9090 ${more}`).notes.some(
        ({ rule }) => rule === 'WN35',
      );
    expect([open(''), open('cert=c key=k'), open('cert=c key=k Cert=off')]).to.deep.equal([true, false, true]);
  });
});
