import { expect } from 'chai';
import { bearer, defineProvider, type ProviderModule } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { baseUrlVariable } from '../../host/common/kinds/base-url-variable.ts';
import { brokenVariables } from '../../host/upstream/credential-values.ts';
import { connectProvider, hasCredentials, missingVariables } from '../../host/upstream/connect.ts';

type Connection = Partial<ProviderModule['connection']>;

const acme = (connection: Connection = {}): ProviderModule =>
  defineProvider({
    name: 'acme-cloud',
    wire: 'common',
    params: {},
    translators: commonTranslators(['chat'], {}),
    connection: {
      env: ['ACME_KEY'],
      baseUrl: 'https://api.acme.example/v1',
      authorize: bearer('ACME_KEY'),
      ...connection,
    },
  });

const warnings: [string, unknown][] = [];
const quiet = (): void => {};
const deps = {
  log: {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (message: string, attributes?: object) => {
      warnings.push([message, attributes]);
    },
  },
  now: () => 0,
};

describe('variables of a provider', () => {
  it('register it when all are set, or one of a list; empty counts as absent', () => {
    const module = acme({ env: ['ACME_KEY', ['ACME_REGION', 'ACME_ZONE']] });
    expect(hasCredentials(module, { ACME_KEY: 'k', ACME_ZONE: 'z' })).to.equal(true);
    for (const variables of [{ ACME_KEY: 'k' }, { ACME_ZONE: 'z' }, { ACME_KEY: '', ACME_ZONE: 'z' }])
      expect(hasCredentials(module, variables)).to.equal(false);
    expect(missingVariables(module, { ACME_KEY: 'k' })).to.deep.equal(['ACME_REGION or ACME_ZONE']);
  });

  it('are read without blanks and line ends around them', async () => {
    const module = acme({ optionalEnv: ['ACME_ORG'] });
    const { credentials } = await connectProvider(module, { ACME_KEY: ' \tk\r\n', ACME_ORG: ' a b\n' }, deps);
    expect(credentials).to.deep.equal({ ACME_KEY: 'k', ACME_ORG: 'a b' });
    expect(hasCredentials(module, { ACME_KEY: ' \r\n' })).to.equal(false);
  });

  it('count as unset where a credential has a control character inside', async () => {
    const module = acme({ env: ['ACME_KEY'], optionalEnv: ['ACME_TOKEN', 'ACME_MODELS', 'ACME_CREDENTIALS'] });
    const variables = { ACME_KEY: 'k', ACME_TOKEN: 'a\nb', ACME_MODELS: 'a,\nb', ACME_CREDENTIALS: '{\n"a": 1}' };
    expect((await connectProvider(module, variables, deps)).credentials).to.deep.equal({
      ACME_KEY: 'k',
      ACME_MODELS: 'a,\nb',
      ACME_CREDENTIALS: '{\n"a": 1}',
    });
    expect(brokenVariables(module, variables)).to.deep.equal(['ACME_TOKEN']);
    for (const control of ['\0', '\n', '\x1b', '\x7f'])
      expect(hasCredentials(module, { ACME_KEY: `a${control}b` })).to.equal(false);
  });

  it('name its address after it, unless it says otherwise', () => {
    expect([baseUrlVariable(acme()), baseUrlVariable(acme({ baseUrlEnv: 'ACME_HOST' }))]).to.deep.equal([
      'ACME_CLOUD_BASE_URL',
      'ACME_HOST',
    ]);
  });
});

describe('a connected provider', () => {
  it('sees the variables it declares, and no others', async () => {
    const { credentials } = await connectProvider(
      acme({ optionalEnv: ['ACME_ORG', 'ACME_NONE'] }),
      { ACME_KEY: 'k', ACME_ORG: 'o', OTHER_KEY: 'x' },
      deps,
    );
    expect(credentials).to.deep.equal({ ACME_KEY: 'k', ACME_ORG: 'o' });
  });

  it('has its default root, one composed of its variables, or the configured one', async () => {
    const root = async (connection: Connection, variables: object = {}): Promise<string> =>
      (await connectProvider(acme(connection), { ACME_KEY: 'k', ...variables }, deps)).root;
    expect(await root({})).to.equal('https://api.acme.example/v1');
    expect(await root({ baseUrl: ({ ACME_KEY: key }) => `https://${key}.acme.example/v2/` })).to.equal(
      'https://k.acme.example/v2',
    );
    expect(await root({}, { ACME_CLOUD_BASE_URL: 'http://h' })).to.equal('http://h/v1');
    expect(await root({ rootStyle: 'host' }, { ACME_CLOUD_BASE_URL: 'http://h' })).to.equal('http://h');
    expect(
      await root({ rootStyle: 'host', root: (address) => `${address}/api` }, { ACME_CLOUD_BASE_URL: 'http://h' }),
    ).to.equal('http://h/api');
  });

  it('tells the operator, under its name, what is odd about its models', async () => {
    warnings.length = 0;
    const models: Connection['models'] = (_credentials, warn) => {
      warn('half of them are gone');
      return ['a'];
    };
    expect((await connectProvider(acme({ models }), { ACME_KEY: 'k' }, deps)).configuredModels).to.deep.equal(['a']);
    expect(warnings).to.deep.equal([['half of them are gone', { rule: 'WN07', provider: 'acme-cloud' }]]);
  });

  it('is not connected at an address that is none', async () => {
    const error = await connectProvider(acme(), { ACME_KEY: 'k', ACME_CLOUD_BASE_URL: 'h:1' }, deps).catch(
      (cause: unknown) => cause,
    );
    expect(error).to.be.instanceOf(Error);
  });
});
