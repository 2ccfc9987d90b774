import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeStored, decodeText } from '../../host/config/decode.ts';
import { repeatedMembers } from '../../host/config/json-members.ts';
import { loadConfigFile } from '../../host/config/load.ts';
import { configSchema } from '../../host/config/schema/config-schema.ts';
import { readReport, runCommand, validateJson, validateText } from '../cli/commands.ts';
import { expectProportion, runGw, temporaryFolder } from '../kit/index.ts';
import { minimal } from './bad-documents.ts';

const ECHO = 'targets: [{virtual_key: echo}]\n';
const shown = ['--format', 'json'];

/** Paths and rules of a refusal, in the order in which they are reported. */
async function refusals(text: string, name?: string): Promise<string[]> {
  const { stderr } = await validateText(text, name);
  return readReport(stderr).problems.map(({ path, rule }) => `${path} ${rule}`);
}

/** A folder with a configuration of these bytes. */
async function written(text: string | Buffer): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'config.yaml'), text);
  return folder;
}

async function refusalsOf(config: object): Promise<string[]> {
  return refusals(JSON.stringify(config, null, 2), 'config.json');
}

describe('a refused configuration', () => {
  it('names decoding, document and build problems in one report, under the heading of the first', async () => {
    const { code, stderr } = await validateText(
      [
        'targetz: 1',
        'request_timeout: 30',
        'targets:',
        '  - virtual_key: echo',
        '    retry: {attempts: many}',
        '  - virtual_key: nosuch',
        '    models: ["a*"]',
        'plugins:',
        '  - {name: nosuch, stage: before_request, enabled: true}',
        '',
      ].join('\n'),
    );
    expect(code).to.equal(1);
    const { heading, problems } = readReport(stderr);
    expect(heading).to.equal('Error: load config:');
    expect(problems.map(({ rule, path, line }) => `${rule} ${path} ${line}`)).to.have.members([
      'DC01 targetz 1',
      'DC02 targets[0].retry.attempts 5',
      'CV07 targets[1].models[0] 7',
      'CV19 request_timeout 2',
      'BV01 targets[1].virtual_key 6',
      'BV02 plugins[0].name 9',
    ]);
  });

  it('tells rules about the document before rules about this build', async () => {
    const rules = (
      await refusalsOf({
        targets: [{ virtual_key: 'nosuch', retry: { attempts: -1 } }],
        request_timeout: 'soon',
        aliases: { a: 'a' },
        plugins: [{ name: 'nosuch', stage: 'before_request', enabled: true }],
      })
    ).map((line) => line.split(' ')[1]);
    expect(rules).to.deep.equal(['CV09', 'CV19', 'CV25', 'BV01', 'BV02']);
  });

  it('goes through the targets one by one, and through the plugins of this build last', async () => {
    const filter = { name: 'word-filter', enabled: true };
    expect(
      await refusalsOf({
        max_request_bytes: -1,
        targets: [
          { virtual_key: 'echo', models: [''], retry: { attempts: -1 }, circuit_breaker: { timeout: 'soon' } },
          { virtual_key: 'nosuch', concurrency: {}, model_map: { a: '' } },
          { virtual_key: '', retry: { initial_backoff_ms: -1 } },
        ],
        plugins: [
          { ...filter, stage: 'before_request', config: { blocked_words: ['a'] } },
          { ...filter, stage: 'after_request', config: { blocked_words: ['b'] } },
          { ...filter, stage: 'after_request', config: { blocked_words: ['b'] } },
        ],
      }),
    ).to.deep.equal([
      'max_request_bytes CV34',
      'targets[2].virtual_key CV33',
      'targets[0].models[0] CV06',
      'targets[0].retry.attempts CV09',
      'targets[0].circuit_breaker.timeout CV12',
      'targets[1].concurrency.max_concurrency CV02',
      'targets[1].model_map CV37',
      'targets[2].retry.initial_backoff_ms CV10',
      'plugins[2] CV31',
      'plugins[0] CV32',
      'targets[1].virtual_key BV01',
    ]);
  });

  it('keeps each finding on its line, whatever breaks there are in what it quotes', async () => {
    expect(
      await refusals('targets:\n  - virtual_key: |\n      echo\naliases: {"a\\nb": "", "c\\r\\nd": ""}\n'),
    ).to.deep.equal(['aliases.a\\nb CV24', 'aliases.c\\r\\nd CV24', 'targets[0].virtual_key BV01']);
  });

  it('says how deep a document may be nested, however far beyond that it is', async () => {
    const shapes: Readonly<Record<string, (levels: number) => string>> = {
      lists: (levels) => `${'['.repeat(levels)}${']'.repeat(levels)}`,
      maps: (levels) => `${'{a: '.repeat(levels)}1${'}'.repeat(levels)}`,
      'lists on one line': (levels) => `\n  ${'- '.repeat(levels)}1`,
      'indented maps': (levels) =>
        Array.from({ length: Math.min(levels, 3000) }, (_item, level) => `\n${' '.repeat(level + 2)}a:`).join(''),
    };
    for (const [shape, nested] of Object.entries(shapes)) {
      for (const levels of [300, 2000, 50_000]) {
        const { stderr } = await validateText(`${ECHO}strategy:\n  settings: ${nested(levels)}\n`);
        expect(
          readReport(stderr).problems.map(({ rule }) => rule),
          `${levels} ${shape}`,
        ).to.deep.equal(['DC03']);
        expect(stderr, `${levels} ${shape}`).to.contain('it is nested deeper than 256 levels');
      }
    }
  });

  it('names a key that is not a text, and nothing is printed beside it', async () => {
    expect(await refusals(`${ECHO}aliases: {? [fast] : echo}\n`)).to.deep.equal(['(document) DC03']);
    const { stderr } = await runGw(['validate', 'config.yaml'], { cwd: await written(`${ECHO}? {a: b}\n: c\n`) });
    expect(readReport(stderr).problems.map(({ rule, line }) => `${rule} ${line}`)).to.include('DC03 2');
  });

  it('names a file in another encoding than UTF-8, instead of reading other letters', async () => {
    for (const [encoding, bytes] of Object.entries({
      latin1: Buffer.from(`${ECHO}aliases: {caf\xe9: echo}\n`, 'latin1'),
      'UTF-16': Buffer.from(`\uFEFF${ECHO}`, 'utf16le'),
    })) {
      const { code, stderr } = await runCommand(['validate', 'config.yaml'], { cwd: await written(bytes) });
      expect(code, encoding).to.equal(1);
      expect(stderr, encoding).to.contain('DC05').and.to.contain('it is not UTF-8 text');
    }
  });

  it('names every unknown key at any depth with its line and the nearest key', async () => {
    const { stderr } = await validateText(
      [
        'targets:',
        '  - virtual_key: echo',
        '    weightt: 1',
        '    retry:',
        '      attempt: 3',
        'mcp_servers:',
        '  - name: a',
        '    url: http://a',
        '    header: {}',
        'observability:',
        '  tracing:',
        '    sample_rate: 1',
        '_note: hi',
        '',
      ].join('\n'),
    );
    const found = readReport(stderr).problems.map(
      ({ rule, path, line, fix }) => `${rule} ${path} ${line} ${/"(.+)"/.exec(fix)?.[1] ?? '-'}`,
    );
    expect(found).to.have.members([
      'DC01 targets[0].weightt 3 weight',
      'DC01 targets[0].retry.attempt 5 attempts',
      'DC01 mcp_servers[0].header 9 headers',
      'DC01 observability.tracing.sample_rate 12 sample_ratio',
      'DC01 _note 13 -',
    ]);
  });

  it('lists the keys of the place when none is near', async () => {
    const { problems } = readReport((await validateJson(minimal({ compatibility: { whatever_this_is: 1 } }))).stderr);
    expect(problems[0]?.fix).to.contain('use one of: on_unsupported_param');
  });

  it('does not drop a key that is named like a prototype member', async () => {
    expect(
      await refusals('{"targets": [{"virtual_key": "echo"}], "__proto__": {"x": 1}}', 'config.json'),
    ).to.deep.equal(['__proto__ DC01']);
    expect(await refusals('{"targets": [{"virtual_key": "echo"}], "constructor": 1}', 'config.json')).to.deep.equal([
      'constructor DC01',
    ]);
  });

  it('takes work in proportion to its unknown keys', async () => {
    const unknown = (count: number): object =>
      minimal(Object.fromEntries(Array.from({ length: count }, (_, index) => [`unknown_key_${index}`, 1])));
    expect(await refusalsOf(unknown(400))).to.have.length(400);
    await expectProportion(100, (count) => {
      const document = unknown(count);
      return () => refusalsOf(document);
    });
  });

  it('says nothing more of a value of the wrong type', async () => {
    expect(await refusalsOf({ targets: 'echo', max_request_bytes: '1' })).to.have.members([
      'targets DC02',
      'max_request_bytes DC02',
    ]);
    expect(await refusalsOf({ targets: [5] })).to.deep.equal(['targets[0] DC02']);
    expect(
      await refusalsOf({
        targets: [{ virtual_key: 'echo' }, { virtual_key: 5 }],
        batch_target: 'openai',
        responses_target: 'openai',
      }),
    ).to.deep.equal(['targets[1].virtual_key DC02']);
    expect(await refusalsOf({ targets: [{ virtual_key: 5, concurrency: { max_concurrency: 'x' } }] })).to.have.members([
      'targets[0].virtual_key DC02',
      'targets[0].concurrency.max_concurrency DC02',
    ]);
  });

  it('does not miss an address or command that is there with the wrong type', async () => {
    expect(await refusalsOf(minimal({ mcp_servers: [{ name: 'a', url: 5 }] }))).to.deep.equal([
      'mcp_servers[0].url DC02',
    ]);
  });

  it('keeps the numbers of list entries behind one of the wrong type', async () => {
    expect(await refusalsOf(minimal({ strategy: { failover_on: [5, 'cost'] } }))).to.have.members([
      'strategy.failover_on[0] DC02',
      'strategy.failover_on[1] CV35',
    ]);
    expect(await refusalsOf({ targets: [{ virtual_key: 'echo', models: [1, ' a'] }] })).to.have.members([
      'targets[0].models[0] DC02',
      'targets[0].models[1] CV06',
    ]);
    expect(await refusalsOf({ targets: [null, { virtual_key: 'nosuch' }] })).to.have.members([
      'targets[0] DC02',
      'targets[1].virtual_key BV01',
    ]);
  });
});

describe('a YAML tag', () => {
  for (const value of [
    '!!binary aGk=',
    '!!timestamp 2001-01-01',
    '!!set {a}',
    '!!omap [a: 1]',
    '!!pairs [a: 1]',
    '!mine x',
  ]) {
    it(`of what JSON cannot hold is refused: ${value}`, async () => {
      expect(await refusals(`${ECHO}plugins:\n  - name: x\n    config: {a: ${value}}\n`)).to.deep.equal([
        '(document) DC03',
      ]);
    });
  }
});

describe('a duplicate key', () => {
  const yaml = {
    'at the top': `${ECHO}aliases: {}\nfiles: {}\naliases: {}\n`,
    'in a block': 'targets:\n  - virtual_key: echo\n    retry:\n      attempts: 1\n      attempts: 2\n',
    'in free settings': `${ECHO}plugins:\n  - name: x\n    config: {a: {b: [{c: 1, c: 2}]}}\n`,
    'in two quotings': `${ECHO}aliases: {fast: a, "fast": b}\n`,
    'of the same text, once as a number': `${ECHO}aliases: {1: a, "1": b}\n`,
  };
  for (const [where, text] of Object.entries(yaml)) {
    it(`is refused in YAML ${where}`, async () => {
      expect(await refusals(text)).to.deep.equal(['(document) DC03']);
    });
  }

  const json = {
    'at the top': '{"targets": [{"virtual_key": "echo"}], "aliases": {}, "aliases": {}}',
    'at depth': '{"targets": [{"virtual_key": "echo", "retry": {"attempts": 1, "attempts": 1}}]}',
    'in free settings':
      '{"targets": [{"virtual_key": "echo"}], "plugins": [{"name": "x", "config": {"a": [{"b": 1, "b": 2}]}}]}',
    'with an escape and without': '{"targets": [{"virtual_key": "echo"}], "aliases": {"fast": "a", "f\\u0061st": "b"}}',
  };
  for (const [where, text] of Object.entries(json)) {
    it(`is refused in JSON ${where}`, async () => {
      expect(await refusals(text, 'config.json')).to.deep.equal(['(document) DC03']);
    });
  }

  it('is reported with the key and the line on which it is repeated', async () => {
    const { problems } = readReport(
      (await validateText('targets:\n  - virtual_key: echo\n    weight: 1\n    weight: 2\n')).stderr,
    );
    expect(problems[0]).to.include({ line: 4 });
    expect(problems[0]?.message).to.contain('weight');
  });

  it('does not hide what else is wrong', async () => {
    expect(await refusals(`${ECHO}files: {}\nfiles: {}\nmax_request_bytes: -1\n`)).to.have.members([
      '(document) DC03',
      'max_request_bytes CV34',
    ]);
  });
});

describe('a document nested too deep', () => {
  const deep = `${'['.repeat(3000)}${']'.repeat(3000)}`;
  it('is malformed, in YAML and JSON', async () => {
    expect([...new Set(await refusals(`unknown: ${deep}\n`))]).to.deep.equal(['(document) DC03']);
    expect([...new Set(await refusals(`{"unknown": ${deep}}`, 'config.json'))]).to.deep.equal(['(document) DC03']);
  });
});

describe('a configuration file', () => {
  it('may be JSON or YAML, whatever the case of its extension', async () => {
    const json = JSON.stringify(minimal());
    for (const [name, text] of [
      ['config.json', json],
      ['config.JSON', json],
      ['config.yaml', ECHO],
      ['config.yml', ECHO],
      ['config.YAML', ECHO],
    ] as const) {
      expect((await validateText(text, name)).code, name).to.equal(0);
    }
  });

  it('may begin with a document marker', async () => {
    expect((await validateText(`---\n${ECHO}`)).code).to.equal(0);
  });

  it('may use anchors and merge keys', async () => {
    const { code, stdout } = await validateText(
      'targets:\n  - &first {virtual_key: echo, models: [m]}\n  - <<: *first\n    virtual_key: openai\n',
      'config.yaml',
      { args: shown },
    );
    expect(code).to.equal(0);
    expect(JSON.parse(stdout).targets).to.deep.equal([
      { virtual_key: 'echo', models: ['m'] },
      { virtual_key: 'openai', models: ['m'] },
    ]);
  });
});

describe('a bare YAML number in a text field', () => {
  it('is the text it was written in', async () => {
    const { stdout } = await validateText(
      'targets: [{virtual_key: echo, models: [1.10, 0x1F, 4]}]\naliases: {fast: 4.10}\n',
      'config.yaml',
      { args: shown },
    );
    const { targets, aliases } = JSON.parse(stdout) as { targets: { models: string[] }[]; aliases: object };
    expect(targets[0]?.models).to.deep.equal(['1.10', '0x1F', '4']);
    expect(aliases).to.deep.equal({ fast: '4.10' });
  });

  it('is its text beside a key that is a number too', async () => {
    const { stdout, stderr } = await validateText(`${ECHO}aliases: {4: 4.10}\n`, 'config.yaml', { args: shown });
    expect(stderr).to.equal('');
    expect(JSON.parse(stdout).aliases).to.deep.equal({ 4: '4.10' });
  });

  it('is its text as a key too, as a boolean is', async () => {
    const { stdout, stderr } = await validateText(
      `targets: [{virtual_key: echo, model_map: {4.10: m, 017: m}}]\naliases: {1.0: a, 1.00: b, 12345678901234567890: c, TRUE: d}\n`,
      'config.yaml',
      { args: shown },
    );
    expect(stderr).to.equal('');
    const { targets, aliases } = JSON.parse(stdout) as { targets: { model_map: object }[]; aliases: object };
    expect(targets[0]?.model_map).to.deep.equal({ '4.10': 'm', '017': 'm' });
    expect(aliases).to.deep.equal({ '1.0': 'a', '1.00': 'b', '12345678901234567890': 'c', TRUE: 'd' });
  });

  it('also null, which is a key like any other', async () => {
    const { stdout, stderr } = await validateText(`${ECHO}aliases: {null: a, "~": b, Null: c}\n`, 'config.yaml', {
      args: shown,
    });
    expect(stderr).to.equal('');
    expect(JSON.parse(stdout).aliases).to.deep.equal({ null: 'a', '~': 'b', Null: 'c' });
    expect(await refusals(`${ECHO}null: 1\n`)).to.deep.equal(['null DC01']);
    expect(await refusals(`${ECHO}aliases: {~: a, "~": b}\n`)).to.deep.equal(['(document) DC03']);
    expect(await refusals(`${ECHO}aliases: {: a}\n`)).to.deep.equal(['aliases CV23']);
  });

  it('is its text behind an anchor', async () => {
    const { stdout, stderr } = await validateText(
      'targets: [{virtual_key: echo, models: [&m 4.10]}]\naliases: {fast: *m}\n',
      'config.yaml',
      { args: shown },
    );
    expect(stderr).to.equal('');
    expect(JSON.parse(stdout).aliases).to.deep.equal({ fast: '4.10' });
  });

  it('has no unit, so that it is not a duration', async () => {
    expect(await refusals(`${ECHO}request_timeout: 30\n`)).to.deep.equal(['request_timeout CV19']);
  });

  it('stays a number in free settings', async () => {
    const { stdout } = await validateText(`${ECHO}plugins: [{name: x, config: {a: 1, b: 1.5}}]\n`, 'config.yaml', {
      args: shown,
    });
    expect(JSON.parse(stdout).plugins[0].config).to.deep.equal({ a: 1, b: 1.5 });
  });
});

describe('YAML yes and on', () => {
  it('are true, and no and off false, where a key is a boolean', async () => {
    const { stdout, stderr } = await validateText(
      `${ECHO}files: {bind_owner: yes}\nresponses: {bind_owner: Off}\nplugins: [{name: x, enabled: no}]\n`,
      'config.yaml',
      { args: shown },
    );
    expect(stderr).to.equal('');
    expect(JSON.parse(stdout)).to.deep.include({ files: { bind_owner: true }, responses: { bind_owner: false } });
    expect(JSON.parse(stdout).plugins[0].enabled).to.equal(false);
  });

  it('are text elsewhere', async () => {
    const { stdout } = await validateText(
      `${ECHO}aliases: {fast: yes}\nplugins: [{name: x, config: {a: on}}]\n`,
      'config.yaml',
      { args: shown },
    );
    const { aliases, plugins } = JSON.parse(stdout) as { aliases: object; plugins: { config: object }[] };
    expect(aliases).to.deep.equal({ fast: 'yes' });
    expect(plugins[0]?.config).to.deep.equal({ a: 'on' });
  });

  it('are text in JSON, and so the wrong type for a boolean', async () => {
    expect(await refusalsOf(minimal({ files: { bind_owner: 'yes' } }))).to.deep.equal(['files.bind_owner DC02']);
  });
});

describe('free maps', () => {
  it('are kept as they are written', async () => {
    const config = { a: null, b: [1, { c: 'x' }], '': 'empty', 'with.dot': true, nested: { UPPER: 0 } };
    const document = minimal({
      plugins: [{ name: 'x', config }],
      strategy: { settings: config },
      observability: { exporters: [{ name: 'x', config }] },
    });
    const written = JSON.parse((await validateJson(document, { args: shown })).stdout) as Record<string, any>;
    expect(written['plugins'][0].config).to.deep.equal(config);
    expect(written['strategy'].settings).to.deep.equal(config);
    expect(written['observability'].exporters[0].config).to.deep.equal(config);
  });
});

describe('a configuration without a fault', () => {
  it('is read without a description of the schema, which costs more than the reading', async () => {
    const described = configSchema.describe.bind(configSchema);
    let count = 0;
    configSchema.describe = () => {
      count += 1;
      return described();
    };
    try {
      expect(decodeText(ECHO, 'yaml').problems).to.deep.equal([]);
      expect(count).to.equal(0);
      for (const odd of ['od: 1\nodd: 2\n', 'x: 1\ny: 2\n'])
        expect(decodeText(`${ECHO}${odd}`, 'yaml').problems).to.have.lengthOf(2);
      expect(count, 'once in a process, however many have faults').to.be.at.most(1);
    } finally {
      Reflect.deleteProperty(configSchema, 'describe');
    }
  });
});

describe('the document beside the configuration', () => {
  it('is what was written: in JSON as it is, in YAML as it was meant', () => {
    const sent = {
      targets: [{ virtual_key: 'echo' }],
      strategy: { mode: null },
      aliases: {},
      plugins: [{ name: 'x', config: { a: [null, 1.5] } }],
    };
    expect(decodeText(JSON.stringify(sent), 'json').document).to.deep.equal(sent);
    const { document } = decodeText(
      'targets: [{virtual_key: echo, models: [4.10]}]\nplugins: [{name: x, enabled: yes}]\nrequest_timeout: 5s\n',
      'yaml',
    );
    expect(document).to.deep.equal({
      targets: [{ virtual_key: 'echo', models: ['4.10'] }],
      plugins: [{ name: 'x', enabled: true }],
      request_timeout: '5s',
    });
    expect(decodeText(JSON.stringify(document), 'json').problems, 'it may be sent as JSON').to.deep.equal([]);
  });

  it('of a file says what it means: version and mode', async () => {
    const path = join(await temporaryFolder(), 'config.yaml');
    await writeFile(path, 'targets: [{virtual_key: echo}]\nstrategy: {unpriced_strategy: skip}\n');
    expect((await loadConfigFile(path)).document).to.deep.equal({
      apiVersion: 'v1',
      strategy: { mode: 'single', unpriced_strategy: 'skip' },
      targets: [{ virtual_key: 'echo' }],
    });
  });

  it('may hold keys of another version where it was stored, and nothing else that is wrong', () => {
    expect(decodeStored('{"targets":[{"virtual_key":"echo","new":1}],"newer":{}}').problems).to.deep.equal([]);
    expect(decodeStored('{"targets":5}').problems.map(({ rule }) => rule)).to.deep.equal(['DC02']);
  });
});

describe('members that repeat in JSON', () => {
  const repeated = (text: string): string[] =>
    repeatedMembers(text).map(({ name, way, offset }) => `${[...way, name].join('.')} ${offset}`);

  it('are found at any depth, however they are written, and only in one object', () => {
    expect(repeated('{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}')).to.deep.equal([]);
    expect(repeated('{"a":1,"\\u0061":2}')).to.deep.equal(['a 7']);
    expect(repeated('{"a":"a","b":["a","a",{"x":{"y":1,"z":[],"y":2}}]}')).to.deep.equal(['b.x.y 41']);
    expect(repeated('{"a{,\\"":1, "a{,\\"" : 2}')).to.deep.equal(['a{," 12']);
    expect(repeated('[{"a":1},{"a":1,"a":1}]')).to.deep.equal(['a 16']);
  });
});
