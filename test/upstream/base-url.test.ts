import { expect } from 'chai';
import { resolveRoot } from '../../host/upstream/base-url.ts';

const OPENAI = 'https://api.openai.com/v1';

describe('API root of a provider', () => {
  for (const [configured, defaultRoot, root] of [
    [undefined, OPENAI, OPENAI],
    ['', OPENAI, OPENAI],
    ['   ', 'https://api.openai.com/v1/', OPENAI],
    ['http://h:9911', OPENAI, 'http://h:9911/v1'],
    ['http://h:9911/', OPENAI, 'http://h:9911/v1'],
    ['http://h:9911///', OPENAI, 'http://h:9911/v1'],
    ['  http://h:9911  ', OPENAI, 'http://h:9911/v1'],
    ['http://h', 'https://g.example/v1beta', 'http://h/v1beta'],
    ['http://h', 'https://api.groq.com/openai/v1', 'http://h/v1'],
    ['http://h', 'https://api.groq.com/openai/v1/', 'http://h/v1'],
    ['http://h', 'https://api.perplexity.ai', 'http://h'],
    ['http://h', 'https://api.deepinfra.com/v1/openai', 'http://h'],
    ['http://h', 'https://h.example/version', 'http://h'],
    ['https://h/v1/', OPENAI, 'https://h/v1'],
    ['https://h/openai', OPENAI, 'https://h/openai'],
    ['https://h/openai/v1', OPENAI, 'https://h/openai/v1'],
    ['https://h/deployments/d', OPENAI, 'https://h/deployments/d'],
    ['https://h/custom//', OPENAI, 'https://h/custom'],
    ['HTTPS://h/v1', OPENAI, 'HTTPS://h/v1'],
    ['https://api.ai21.com', 'https://api.ai21.com/studio/v1', 'https://api.ai21.com/v1'],
    ['http://[::1]:9911', OPENAI, 'http://[::1]:9911/v1'],
  ] as const) {
    it(`of ${JSON.stringify(configured)}, by default ${defaultRoot}, is ${root}`, () => {
      expect(resolveRoot(configured, defaultRoot, 'api-root')).to.deep.equal({ root, basicAuthorization: undefined });
    });
  }

  for (const configured of [
    'not-a-url',
    'ftp://host/v1',
    'https://',
    '/v1',
    '://bad',
    'https://h/v1?a=b',
    'https://h/v1?',
    'https://h/v1#frag',
    'https://h/v1#',
    'http://h:9911?x=1',
    'http://h:port',
    'http:///v1',
    'http://a b/',
  ]) {
    it(`cannot be ${configured}`, () => {
      expect(() => resolveRoot(configured, OPENAI, 'api-root')).to.throw(Error, /address/);
      expect(() => resolveRoot(configured, OPENAI, 'host')).to.throw(Error, /address/);
    });
  }

  for (const [configured, root, user] of [
    ['http://u:p@h:9911', 'http://h:9911/v1', 'u:p'],
    ['http://u@h:9911', 'http://h:9911/v1', 'u:'],
    ['http://u:p@h/custom', 'http://h/custom', 'u:p'],
    ['http://u%40x:p%3Aq@h', 'http://h/v1', 'u@x:p:q'],
    ['http://u:p:q@h', 'http://h/v1', 'u:p:q'],
  ] as const) {
    it(`takes the userinfo of ${configured} apart, for a Basic header`, () => {
      expect(resolveRoot(configured, OPENAI, 'api-root')).to.deep.equal({
        root,
        basicAuthorization: `Basic ${Buffer.from(user).toString('base64')}`,
      });
    });
  }

  it('says what is wrong without the password', () => {
    for (const configured of [
      'ftp://u:hunter2@h',
      'http://u:hunter2@h?x',
      'http://u:hunter2@h:port',
      'http://u:hunt/er2@h',
    ]) {
      expect(() => resolveRoot(configured, OPENAI, 'api-root'))
        .to.throw(Error)
        .with.property('message')
        .that.does.not.match(/hunter2|hunt|er2/);
    }
  });

  it('is made by a function where a connection brings one: of the address alone, and of the default too', () => {
    const api = (address: string): string => `${address}/api`;
    expect(resolveRoot(' http://u:p@h:1/x/ ', OPENAI, api).root).to.equal('http://h:1/x/api');
    expect(resolveRoot('http://h', OPENAI, api).root).to.equal('http://h/api');
    expect(resolveRoot(undefined, 'http://localhost:1/', api).root).to.equal('http://localhost:1/api');
    expect(() => resolveRoot('h:1', OPENAI, api)).to.throw(Error, /address/);
  });

  it('keeps a bare host as it is where the value means a host', () => {
    expect(resolveRoot('http://h:1/', 'https://default.example/v1', 'host').root).to.equal('http://h:1');
    expect(resolveRoot('http://h:1/path/', 'https://default.example/v1', 'host').root).to.equal('http://h:1/path');
    expect(resolveRoot(undefined, 'http://localhost:11434', 'host').root).to.equal('http://localhost:11434');
  });
});
