import { expect } from 'chai';
import { EXTERNAL } from '../../build/bundle.ts';
import { type Lock, lockedPackages } from '../../build/image/locked-packages.ts';
import { read } from '../architecture/source.ts';

/** What the last stage of the Dockerfile says, by instruction. */
const instructions: ReadonlyMap<string, string> = new Map(
  read('Dockerfile')
    .slice(read('Dockerfile').indexOf('FROM scratch'))
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => line.split(/ (.*)/s, 2) as [string, string]),
);
const saidBy = (name: string): string => instructions.get(name) ?? '';
const environment = (): [string, string][] =>
  saidBy('ENV')
    .split(/\s+/)
    .map((pair) => pair.split(/=(.*)/s, 2) as [string, string]);

const packages = (text: Record<string, object>): Lock => ({ packages: text });

describe('packages of the image', () => {
  it('are those that the program needs, and what they need, found as Node finds them', () => {
    const lock = packages({
      'node_modules/a': { dependencies: { b: '1', installer: '1' }, optionalDependencies: { absent: '1' } },
      'node_modules/a/node_modules/b': { dependencies: { c: '1' } },
      'node_modules/b': {},
      'node_modules/c': { dependencies: { a: '1' } },
      'node_modules/installer': { dependencies: { more: '1' } },
      'node_modules/other': {},
    });
    expect(lockedPackages(lock, ['a'], new Set(['installer']))).to.deep.equal([
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/c',
    ]);
  });

  it('are refused where one that is needed is not locked', () => {
    const lock = packages({ 'node_modules/a': { dependencies: { b: '1' } } });
    expect(() => lockedPackages(lock, ['a'], new Set())).to.throw('b, which node_modules/a needs, is not locked');
  });

  it('include each package that stays outside of the bundle', () => {
    const lock = JSON.parse(read('package-lock.json')) as Lock;
    const folders = lockedPackages(lock, EXTERNAL, new Set(['prebuild-install', 'tar', 'node-gyp', 'node-addon-api']));
    expect(folders).to.include.members(EXTERNAL.map((name) => `node_modules/${name}`));
  });
});

describe('Dockerfile', () => {
  it('ends with an empty image that runs as a user of its own, without a shell', () => {
    expect(saidBy('FROM')).to.equal('scratch');
    expect(saidBy('USER')).to.match(/^[1-9]\d+:0$/);
    for (const name of ['ENTRYPOINT', 'CMD']) expect(JSON.parse(saidBy(name)), name).to.be.an('array');
    expect(saidBy('HEALTHCHECK')).to.match(/ CMD \["\/usr\/bin\/node"/);
  });

  it('sets variables that the reference has, and keeps every store on the volume', () => {
    const pages = read('docs/configuration.md');
    const ofOthers = new Set(['NODE_ENV', 'SSL_CERT_FILE']);
    expect(environment().filter(([name]) => !ofOthers.has(name) && !pages.includes(`\`${name}\``))).to.deep.equal([]);
    for (const [name, value] of environment())
      if (name.endsWith('_DSN'))
        expect(value, name).to.satisfy((path: string) => path.startsWith(`${saidBy('VOLUME')}/`));
  });

  it('copies nothing into the build that git does not keep', () => {
    const left = read('.dockerignore').split('\n');
    const notKept = read('.gitignore')
      .split('\n')
      .map((line) => line.replace(/\/$/, ''));
    expect(left).to.include.members(notKept.filter((line) => line !== '' && line !== '.installed'));
  });
});
