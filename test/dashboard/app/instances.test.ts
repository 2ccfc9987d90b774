import { expect } from 'chai';
import { credentialText, leftText } from '../../../builtins/dashboard/app/src/instances/credential-text.ts';
import { localFaults, placedFaults } from '../../../builtins/dashboard/app/src/instances/faults.ts';
import {
  choicesOf,
  draftOf,
  emptyInstance,
  entryOf,
  type InstanceDraft,
  isSecretKey,
  withInstance,
} from '../../../builtins/dashboard/app/src/instances/instance-block.ts';
import { problemsIn } from '../../../builtins/dashboard/app/src/instances/problems.ts';
import { addressFault, isReference } from '../../../builtins/dashboard/app/src/instances/reference.ts';
import {
  isHeaderReference,
  isSecretHeader,
  typedSecrets,
} from '../../../builtins/dashboard/app/src/instances/typed-secrets.ts';
import { instancesOf } from '../../../builtins/dashboard/app/src/pages/providers/instances.ts';
import { isSecretKey as isSecretKeyOfGateway } from '../../../host/common/kinds/secret-keys.ts';
import { parseHeaderReference, parseReference } from '../../../host/config/references.ts';
import { isSecretHeader as isSecretHeaderOfGateway } from '../../../host/config/secrets/secret-headers.ts';

/** Parts that a text where a reference belongs may be made of. */
const PARTS = [
  '${',
  '}',
  '$',
  '{',
  'NAME',
  'a_1',
  '9',
  'file:',
  'FILE:',
  '/run/secrets/x',
  '..',
  ' ',
  ':-y',
  '\n',
  '\0',
  'é',
  '',
];

describe('the form of an instance', () => {
  it('takes for a reference what the gateway takes for one, and no other text', () => {
    for (const a of PARTS)
      for (const b of PARTS)
        for (const c of PARTS)
          for (const text of [`${a}${b}${c}`, `\${${a}${b}${c}}`])
            expect(isReference(text), JSON.stringify(text)).to.equal(parseReference(text) !== undefined);
  });

  it('takes values and names of headers as the gateway does', () => {
    for (const scheme of [
      '',
      'Bearer ',
      'Basic  ',
      'A-B ',
      'a1 ',
      ' ',
      '-a ',
      `${'x'.repeat(21)} `,
      `${'x'.repeat(20)} `,
    ])
      for (const rest of ['${X}', 'sk-typed', '${X}${Y}', '', '${file:/run/secrets/x}'])
        expect(isHeaderReference(scheme + rest), scheme + rest).to.equal(
          parseHeaderReference(scheme + rest) !== undefined,
        );
    for (const name of ['Authorization', 'X-Api-Key', 'x_token.y', 'X-Tenant', 'monkey', 'COOKIE', 'X-Keys', 'Keyed'])
      expect(isSecretHeader(name), name).to.equal(isSecretHeaderOfGateway(name));
  });

  it('finds typed secrets anywhere in providers', () => {
    const typed = 'typed';
    expect(
      typedSecrets({
        providers: {
          a: { api_key: typed, headers: { 'X-Tenant': typed, Authorization: typed, 'X-Key': 'Bearer ${X}' } },
          b: { credentials: [{ api_key: '${X}' }, { secret_access_key: typed }], proxy: { url: 'u', password: typed } },
          c: { base_url: 'https://u:p@h/v1', api_key: '${X}' },
          d: 7,
        },
        mcp_servers: [{ api_key: typed }],
      }).map(({ path }) => path),
    ).to.deep.equal([
      'providers.a.api_key',
      'providers.a.headers.Authorization',
      'providers.b.credentials[1].secret_access_key',
      'providers.b.proxy.password',
      'providers.c.base_url',
    ]);
    for (const document of [undefined, null, [], 7, {}, { providers: [] }])
      expect(typedSecrets(document)).to.deep.equal([]);
  });

  it('knows which keys hold secrets, as the gateway does', () => {
    for (const key of [
      'api_key',
      'access_key_id',
      'secret_access_key',
      'session_token',
      'service_account_json',
      'password',
    ])
      expect([isSecretKey(key), isSecretKeyOfGateway(key)], key).to.deep.equal([true, true]);
    for (const key of ['name', 'weight', 'models', 'vendor_account', 'keys', 'monkey', 'token_count', 'organization'])
      expect([isSecretKey(key), isSecretKeyOfGateway(key)], key).to.deep.equal([false, false]);
  });

  it('gives back an entry as it was, members that it does not show among it', () => {
    const entries = [
      { kind: 'openai', api_key: '${X}' },
      {
        kind: 'openai-compatible',
        base_url: 'http://h:8000',
        models: [],
        headers: { a: 'b' },
        proxy: { url: 'http://p' },
      },
      { kind: 'bedrock', settings: { region: 'eu-1' }, access_key_id: '${A}', secret_access_key: '${B}' },
      {
        kind: 'openai',
        credentials: [
          { name: 'a', api_key: '${A}', weight: 0 },
          { name: 'b', api_key: '${B}', project: 'p' },
        ],
      },
      { kind: 'bedrock', credentials: [{ name: 'default' }] },
    ];
    for (const entry of entries) expect(entryOf(draftOf('x', entry))).to.deep.equal(entry);
  });

  it('writes one credential into the entry, and a list where there is more to say', () => {
    const draft: InstanceDraft = { ...emptyInstance('openai'), credentials: [{ name: 'default', api_key: '${X}' }] };
    expect(entryOf(draft)).to.deep.equal({ kind: 'openai', api_key: '${X}' });
    expect(entryOf({ ...draft, credentials: [{ name: 'a', api_key: '${X}' }] })).to.deep.equal({
      kind: 'openai',
      credentials: [{ name: 'a', api_key: '${X}' }],
    });
    expect(entryOf({ ...draft, credentials: [{ name: 'default', api_key: '${X}', weight: 2 }] })).to.have.property(
      'credentials',
    );
    expect(entryOf({ ...draft, credentials: [] })).to.deep.equal({ kind: 'openai' });
  });

  it('offers what the kind has, and what stands in the entry already', () => {
    const kind = {
      id: 'k',
      registered: true,
      catalog_models: 0,
      settings: [
        { key: 'base_url', required: true, secret: false },
        { key: 'region', required: true, secret: false },
        { key: 'api_key', required: false, secret: true },
      ],
    };
    const draft = draftOf('x', { kind: 'k', settings: { other: 'y' }, session_token: '${T}' });
    expect(choicesOf(kind, draft)).to.deep.equal({
      needsAddress: true,
      settings: [
        { key: 'region', isRequired: true },
        { key: 'other', isRequired: false },
      ],
      secrets: [
        { key: 'api_key', isRequired: false },
        { key: 'session_token', isRequired: false },
      ],
    });
    expect(choicesOf(undefined, emptyInstance('of-a-module')).secrets.map(({ key }) => key)).to.deep.equal(['api_key']);
  });

  it('finds a typed secret and a bad name by itself', () => {
    const draft = draftOf('Bad', {
      kind: 'openai',
      base_url: 'https://user:pass@h/v1',
      credentials: [
        { name: 'a', api_key: '${X}' },
        { name: 'b', api_key: 'sk-typed' },
      ],
    });
    expect([...localFaults(draft, []).keys()]).to.deep.equal(['name', 'base_url', 'credentials[1].api_key']);
    expect(localFaults({ ...draft, name: 'taken' }, ['taken']).get('name')).to.equal('An instance has this name.');
    expect(addressFault('https://h/v1')).to.equal(undefined);
  });

  it('puts what the gateway refuses at its field, and the rest above', () => {
    const refusal = [
      'providers.x.api_key: CV49: MASTER_KEY holds a secret of the gateway itself; fix: use a variable of its own',
      'providers.x.base_url: CV50: no; fix: cut',
      'providers.x: BV12: "x" has no secret; fix: api_key',
      'providers.x.headers.Host: CV51: no',
      'targets[1].virtual_key: CV33: twice; fix: once',
      'of another form',
    ].join('\n');
    const faults = placedFaults(problemsIn(refusal), draftOf('x', { kind: 'openai', api_key: '${MASTER_KEY}' }));
    expect([...faults.keys()]).to.have.members(['credentials[0].api_key', 'base_url', 'credentials[0]', '']);
    expect(faults.get('')).to.equal(
      'providers.x.headers.Host: CV51: no\ntargets[1].virtual_key: CV33: twice; fix: once\nof another form',
    );
    const listed = draftOf('x', { kind: 'openai', credentials: [{ name: 'a' }] });
    expect([
      ...placedFaults(problemsIn('providers.x: BV13: no\nproviders.x.credentials[0].name: CV46: no'), listed).keys(),
    ]).to.deep.equal(['name', 'credentials[0].name']);
  });

  it('adds a target only where one is asked for, and leaves all else', () => {
    const config = { targets: [{ virtual_key: 'a' }], aliases: { b: 'c' } };
    expect(withInstance(config, 'x', { kind: 'k' }, true)).to.deep.equal({
      targets: [{ virtual_key: 'a' }, { virtual_key: 'x' }],
      aliases: { b: 'c' },
      providers: { x: { kind: 'k' } },
    });
    expect(withInstance(config, 'x', { kind: 'k' }, false).targets).to.deep.equal(config.targets);
  });
});

describe('instances as they are shown', () => {
  it('are none where the configuration declares none', () => {
    const sources = { deep: undefined, health: undefined, models: [] };
    expect(instancesOf({ ...sources, listed: [] })).to.deep.equal([]);
    expect(instancesOf({ ...sources, listed: [{ name: 'openai', models: [] }] })).to.deep.equal([]);
  });

  it('have credentials with their state in words, and how long it lasts', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString();
    const shown = (credential: object): string => credentialText({ name: 'a', state: 'ready', ...credential }, now);
    expect(shown({})).to.equal('ready');
    expect(shown({ state: 'benched', class: 'invalid_key', until: at(540) })).to.equal(
      'benched, key refused, 9 min left',
    );
    expect(shown({ state: 'resting', class: null, until: at(4), models_resting: 2 })).to.equal(
      'resting, 2 models, 4 s left',
    );
    expect(shown({ weight: 0 })).to.equal('ready, takes no new calls');
    expect(shown({ state: 'of-tomorrow', class: 'new_class' })).to.equal('of-tomorrow, new_class');
    expect([0, -5000, 59_000, 61_000, 3_600_000, 5_000_000].map(leftText)).to.deep.equal([
      'tried next',
      'tried next',
      '59 s left',
      '2 min left',
      '1 h 0 min left',
      '1 h 24 min left',
    ]);
  });
});
