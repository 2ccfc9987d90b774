import { join } from 'node:path';
import { expect } from 'chai';
import { MASTER_KEY, runGw } from '../kit/index.ts';
import { SOURCES, writeTree } from './support.ts';

describe('the report of a module that tells a credential', () => {
  it('does not tell it on, neither from validate nor from a start', async () => {
    const folder = await writeTree({
      'config.yaml': 'strategy: { mode: fallback }\ntargets: [{ virtual_key: echo }]\n',
      'plugins/tells.ts': "throw new Error(`cannot use ${process.env['ACME_API_KEY']}`);\n",
    });
    const variables = {
      ACME_API_KEY: 'a-credential-of-acme',
      GATEWAY_CONFIG: join(folder, 'config.yaml'),
      PORT: '0',
      MASTER_KEY,
    };
    for (const args of [['validate', variables.GATEWAY_CONFIG], ['serve']]) {
      const { stdout, stderr } = await runGw(args, { variables });
      expect(stderr).to.include('plugins/tells.ts: MV10');
      expect(stdout + stderr).not.to.include(variables.ACME_API_KEY);
    }
  });
});

describe('modules of one name in two folders', () => {
  it('are refused, and both places are named', async () => {
    const folder = await writeTree({
      'config.yaml': 'strategy: { mode: fallback }\ntargets: [{ virtual_key: echo }]\nmodules: [gw-own]\n',
      'strategies/own.ts': SOURCES.strategy('own'),
      'node_modules/gw-own/package.json': JSON.stringify({ name: 'gw-own', type: 'module', exports: './index.js' }),
      'node_modules/gw-own/index.js': SOURCES.strategy('own'),
    });
    const { code, stderr } = await runGw(['validate', join(folder, 'config.yaml')]);
    expect(stderr).to.include(
      `modules[0]: MV09: package gw-own: the strategy "own" already exists, from ${join(folder, 'strategies/own.ts')}`,
    );
    expect(code).to.equal(1);
  });
});
