import { expect } from 'chai';
import { bearer, type Connection, defineProvider, type ProviderModule } from 'gw/contract';
import { MODULES } from '../../builtins/manifest.ts';
import { kindKeys } from '../../host/common/kinds/kind-keys.ts';

const kind = (connection: Omit<Connection, 'baseUrl'>): ProviderModule =>
  defineProvider({
    name: 'acme-ai',
    wire: 'common',
    params: {},
    translators: {},
    connection: { baseUrl: 'https://acme.test/v1', ...connection, authorize: bearer('ACME_AI_API_KEY') },
  });

const settingsOf = (module: ProviderModule): Record<string, string> =>
  Object.fromEntries([...kindKeys(module).settings].map(([key, { variable }]) => [key, variable]));

describe('keys of declared instances', () => {
  it('follow from the variables of a module that says nothing of them', () => {
    const module = kind({
      env: ['ACME_AI_ACCOUNT', 'ACME_AI_API_KEY', 'ACME_AI_ENDPOINT'],
      optionalEnv: ['ACME_AI_REGION', 'ACME_AI_SESSION_TOKEN', 'ACME_PASSWORD', 'ACME_AI_MONKEYS'],
      baseUrlEnv: 'ACME_AI_ENDPOINT',
    });
    const { secrets, sets, settings, needsAddress } = kindKeys(module);
    expect(settingsOf(module)).to.deep.equal({
      account: 'ACME_AI_ACCOUNT',
      region: 'ACME_AI_REGION',
      monkeys: 'ACME_AI_MONKEYS',
    });
    expect([settings.get('account')?.isRequired, settings.get('region')?.isRequired]).to.deep.equal([true, false]);
    expect(Object.fromEntries(secrets)).to.deep.equal({
      api_key: 'ACME_AI_API_KEY',
      session_token: 'ACME_AI_SESSION_TOKEN',
      acme_password: 'ACME_PASSWORD',
    });
    expect(sets).to.deep.equal([{ needs: ['api_key'], mayHave: ['session_token', 'acme_password'] }]);
    expect(needsAddress).to.equal(true);
  });

  it('leave a choice where the module wants any one of several secrets, and none where something else will do', () => {
    const { sets } = kindKeys(kind({ env: [['ACME_AI_KEY', 'ACME_AI_TOKEN']] }));
    expect(sets.map(({ needs }) => needs)).to.deep.equal([['api_key'], ['token']]);
    expect(kindKeys(kind({ env: [['ACME_AI_KEY', 'ACME_AI_REGION']] })).sets.map(({ needs }) => needs)).to.deep.equal([
      [],
    ]);
  });

  it('are those that the module names, where it does', () => {
    const module = kind({
      env: ['ACME_AI_API_KEY'],
      optionalEnv: ['ACME_AI_REGION'],
      settings: { zone: 'ACME_AI_REGION', mode: 'mode' },
      secrets: { access_key: 'ACME_AI_API_KEY' },
    });
    expect(settingsOf(module)).to.deep.equal({ zone: 'ACME_AI_REGION', mode: 'mode' });
    expect(Object.fromEntries(kindKeys(module).secrets)).to.deep.equal({ access_key: 'ACME_AI_API_KEY' });
  });

  it('of every shipped kind stand in the table of docs/providers.md: api_key alone where nothing else is said', () => {
    const others: Readonly<Record<string, readonly (readonly string[])[]>> = {
      bedrock: [['api_key'], ['access_key_id', 'secret_access_key'], []],
      'vertex-ai': [['api_key'], ['service_account_json'], []],
      'openai-compatible': [[]],
      ollama: [[]],
    };
    for (const module of MODULES) {
      if (module.kind !== 'provider' || module.offline) continue;
      const needs = kindKeys(module).sets.map((set) => set.needs);
      expect(needs, module.name).to.deep.equal(others[module.name] ?? [['api_key']]);
    }
  });
});
