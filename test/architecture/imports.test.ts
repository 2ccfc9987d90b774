import { expect } from 'chai';
import { importProblems, ZONES } from './import-rules.ts';
import { filesIn } from './source.ts';

/** What the rules must refuse: path, source. */
const REFUSED: Readonly<Record<string, readonly [path: string, source: string]>> = {
  'the contract importing the host': ['host/contract/a.ts', "import { createHost } from '../create-host.ts';"],
  'the contract importing a package': ['host/contract/a.ts', "import { pino } from 'pino';"],
  'the contract importing node': ['host/contract/a.ts', "import { join } from 'node:path';"],
  'the host importing a type of a builtin': ['host/a.ts', "import type { X } from '../builtins/cli/serve.ts';"],
  'the host importing a provider': ['host/a.ts', "export * from '../providers/echo/index.ts';"],
  'the host importing the manifest beside main.ts': [
    'host/create-host.ts',
    "import { MODULES } from '../builtins/manifest.ts';",
  ],
  'the host importing its own main.ts': ['host/create-host.ts', "import './main.ts';"],
  'the host importing a package that is only there for development': ['host/a.ts', "import { expect } from 'chai';"],
  'the host importing through the published name': ['host/a.ts', "import { commonChat } from 'gw/common-wire';"],
  'the host importing a name that is computed': ['host/a.ts', 'await import(name);'],
  'one side of a conditional import': [
    'host/a.ts',
    "await import(isNew ? './clock.ts' : '../plugins/word-filter.ts');",
  ],
  'process as a module': ['builtins/cli/a.ts', "import { env } from 'node:process';"],
  'a family importing another family': ['builtins/cli/a.ts', "import { x } from '../auth/authentication.ts';"],
  'a family importing a module': [
    'builtins/routing/a.ts',
    "const { default: echo } = await import('../../providers/echo/index.ts');",
  ],
  'a family importing the manifest': ['builtins/cli/a.ts', "type M = import('../manifest.ts').M;"],
  'a provider importing the host by path': [
    'providers/acme/index.ts',
    "import { bearer } from '../../host/contract/index.ts';",
  ],
  'a provider importing express': ['providers/acme/index.ts', "import express from 'express';"],
  'a provider importing knex': ['providers/acme/index.ts', "const knex = require('knex');"],
  'a provider importing another provider': ['providers/acme/index.ts', "import { respond } from '../echo/respond.ts';"],
  'a provider importing the file system': ['providers/acme/index.ts', "import { readFile } from 'node:fs/promises';"],
  'the common wire importing a provider': ['providers/_common/chat.ts', "import echo from '../echo/index.ts';"],
  'a strategy importing node': ['strategies/a.ts', "import { createHash } from 'node:crypto';"],
  'a strategy importing another strategy': ['strategies/a.ts', "import single from './single.ts';"],
  'a strategy importing a library with I/O': ['strategies/a.ts', "import { request } from 'undici';"],
  'a plugin importing another plugin': ['plugins/a.ts', "import filter from './word-filter.ts';"],
  'a plugin importing provider code': ['plugins/a.ts', "import { commonChat } from 'gw/common-wire';"],
  'a plugin making errors with a status': ['plugins/a.ts', "import { GatewayError } from 'gw/contract';"],
  'an example importing source paths': [
    'examples/a/plugins/b.ts',
    "import { reject } from '../../../host/contract/index.ts';",
  ],
  'an example importing what it does not bring': ['examples/a/b.ts', "import { z } from 'zod';"],
  'a folder that the table does not know': ['tools/a.ts', ''],
};

const ALLOWED: Readonly<Record<string, readonly [path: string, source: string]>> = {
  'main.ts importing the manifest': ['host/main.ts', "import { MODULES } from '../builtins/manifest.ts';"],
  'a builtin importing host and its family': [
    'builtins/cli/a.ts',
    "import { table } from './report.ts'; import type { Host } from '../../host/host.ts';",
  ],
  'a provider importing contract, common wire and own folder': [
    'providers/acme/index.ts',
    "import { bearer } from 'gw/contract'; import { commonChat } from '../_common/chat.ts'; import { models } from './models.ts';",
  ],
  'a plugin reading the type of an error': [
    'plugins/a.ts',
    "import type { GatewayError } from 'gw/contract'; import { type GatewayError as E, reject } from 'gw/contract';",
  ],
  'an example with a server of its own': ['examples/a/upstream.js', "import { createServer } from 'node:http';"],
};

describe('the folder table', () => {
  const files = filesIn('build', 'host', 'builtins', 'providers', 'strategies', 'plugins', 'examples');

  it('has a row for every folder, and a file in every folder', () => {
    const covered = ZONES.map(({ of }) => files.filter((path) => path.startsWith(of)).length);
    expect(covered.every((count) => count > 0)).to.equal(true);
  });

  for (const [what, [path, source]] of Object.entries(REFUSED)) {
    it(`refuses ${what}`, () => {
      expect(importProblems(path, source)).to.have.lengthOf(1);
    });
  }

  for (const [what, [path, source]] of Object.entries(ALLOWED)) {
    it(`allows ${what}`, () => {
      expect(importProblems(path, source)).to.deep.equal([]);
    });
  }
});
