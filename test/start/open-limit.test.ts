import { expect } from 'chai';
import { defineProvider } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { createHost } from '../../host/create-host.ts';
import { connectProviders, StartRefused } from '../../host/start/steps.ts';
import { fakeClock, temporaryFolder } from '../kit/index.ts';

describe('a provider whose open never ends', () => {
  it('ends the start after half a minute, and is named', async () => {
    const folder = await temporaryFolder();
    const clock = fakeClock();
    const hangs = defineProvider({
      name: 'hangs',
      wire: 'common',
      params: {},
      translators: commonTranslators(['chat'], {}),
      connection: { env: ['HANGS_KEY'], baseUrl: 'https://hangs.test/v1', open: () => new Promise(() => {}) },
    });
    const host = createHost({
      variables: { HANGS_KEY: 'k' },
      workingDirectory: folder,
      installDirectory: folder,
      build: { version: 'test', commit: 'none', built: 'unknown' },
      platform: { node: process.version, os: process.platform, arch: process.arch },
      clock,
      random: Math.random,
      modules: [hangs],
      builtins: [],
      lines: { write: () => {} },
    });
    const connecting = connectProviders(host).catch((error: unknown) => error);
    clock.advance(29_999);
    expect(clock.waiting).to.equal(1);
    clock.advance(1);
    const error = await connecting;
    expect(error)
      .to.be.instanceOf(StartRefused)
      .with.property('message', 'open of the provider "hangs" did not finish within 30000 ms');
  });
});
